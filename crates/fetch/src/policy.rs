//! Access policy: allowed hosts, and access to public addresses.

use std::{net::IpAddr, str::FromStr};

use url::{Host, Url};

use crate::{
    FetchError,
    address::{Reach, reach},
    error::redact,
};

/// Which hosts may be requested.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Hosts that are allowed, even on private networks.
    pub allow: Vec<Rule>,
    /// Whether all other hosts with public addresses are allowed.
    pub public: bool,
}

/// An allowed host, `wiki.local` or `127.0.0.1:8080`; without a port, all ports are allowed. Names are compared exactly: `example.com`
/// does not allow `www.example.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    host: Host<String>,
    port: Option<u16>,
}

impl FromStr for Rule {
    type Err = FetchError;

    /// The error is [`FetchError::Rule`].
    fn from_str(text: &str) -> Result<Self, FetchError> {
        let bare = text.parse::<std::net::Ipv6Addr>().map(|address| format!("[{address}]"));
        let bare = bare.unwrap_or_else(|_| text.to_owned());
        let wrong = || FetchError::Rule { text: text.to_owned() };
        if bare.is_empty() || bare.contains(['/', '@', '?', '#', '\\', '*', ' ', '%']) {
            return Err(wrong());
        }
        // A scheme without a default port preserves the port.
        let url = Url::parse(&format!("ftp://{bare}")).map_err(|_| wrong())?;
        let port = match bare.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && !port.ends_with(']') => Some(port.parse().map_err(|_| wrong())?),
            _ => None,
        };
        let host = url.host().ok_or_else(wrong)?.to_owned();
        Ok(Rule { host: plain(host), port })
    }
}

/// Removes the trailing dot of a fully qualified name.
fn plain(host: Host<String>) -> Host<String> {
    match host {
        Host::Domain(name) => Host::Domain(name.strip_suffix('.').unwrap_or(&name).to_ascii_lowercase()),
        address => address,
    }
}

impl Policy {
    /// Checks whether a URL may be requested, as far as possible without resolution: its scheme, its host, and its literal address.
    pub(crate) fn check(&self, url: &Url) -> Result<(), FetchError> {
        let wrong = |reason: &str| FetchError::Url { url: redact(url), reason: reason.to_owned() };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("only http and https are supported"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("it contains a user or a password"));
        }
        let Some(host) = url.host() else { return Err(wrong("it has no host")) };
        if !self.public && self.rule(url).is_none() {
            return Err(FetchError::Host { url: redact(url), host: with_port(url) });
        }
        match host {
            Host::Domain(_) => Ok(()),
            Host::Ipv4(address) => self.check_address(url, address.into()),
            Host::Ipv6(address) => self.check_address(url, address.into()),
        }
    }

    /// Checks whether this address of the URL's host may be connected to.
    pub(crate) fn check_address(&self, url: &Url, address: IpAddr) -> Result<(), FetchError> {
        let rule = self.rule(url);
        let kind = match reach(address) {
            Reach::Public => return Ok(()),
            Reach::Own(_) if rule.is_some() => return Ok(()),
            // A rule with such a literal address is intentional.
            Reach::Special(_) if rule.is_some_and(|rule| !matches!(rule.host, Host::Domain(_))) => return Ok(()),
            Reach::Own(kind) | Reach::Special(kind) => kind,
        };
        Err(FetchError::Address { url: redact(url), host: with_port(url), kind })
    }

    fn rule(&self, url: &Url) -> Option<&Rule> {
        let host = plain(url.host()?.to_owned());
        let port = url.port_or_known_default();
        self.allow.iter().find(|rule| rule.host == host && (rule.port.is_none() || rule.port == port))
    }
}

fn with_port(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which URLs a policy allows.
    fn check(allow: &[&str], public: bool, url: &str, passes: bool) {
        let policy = Policy { allow: allow.iter().map(|rule| rule.parse().unwrap()).collect(), public };
        let checked = policy.check(&Url::parse(url).unwrap());
        assert_eq!(checked.is_ok(), passes, "{url}: {checked:?}");
    }

    #[test]
    fn allows_only_listed_hosts_without_public_access() {
        check(&["Example.com"], false, "https://example.com/x", true);
        check(&["example.com"], false, "http://EXAMPLE.com.:8080/x", true);
        check(&["example.com"], false, "https://www.example.com/", false);
        check(&["example.com"], false, "https://example.com.evil.net/", false);
        check(&["example.com:8443"], false, "https://example.com/", false);
        check(&["example.com:443"], false, "https://example.com/", true);
        check(&["::1"], false, "http://[::1]:9/", true);
        check(&["[::1]:9"], false, "http://[0::1]:9/", true);
        check(&[], false, "https://example.com/", false);
    }

    #[test]
    fn normalizes_address_notations() {
        for host in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "0177.0x0.1",
            "127.0.0.1.",
            "%31%32%37.0.0.1",
            "１２７.0.0.1",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[::127.0.0.1]",
            "0",
            "0.0.0.0",
            "10.1",
            "192.168.0.1",
            "0xA9FEA9FE",
            "169.254.169.254",
            "2852039166",
            "[fe80::1]",
            "[fd00:ec2::254]",
            "100.64.0.1",
            "224.0.0.1",
            "192.0.2.1",
        ] {
            check(&[], true, &format!("http://{host}/"), false);
        }
        check(&[], true, "http://8.8.8.8/", true);
        check(&["127.0.0.1:80"], true, "http://0x7f.1/", true);
        check(&["127.0.0.1:80"], true, "http://127.0.0.1:81/", false);
        check(&["169.254.169.254"], true, "http://169.254.169.254/", true);
    }

    #[test]
    fn rejects_other_schemes_and_credentials() {
        for url in ["ftp://example.com/", "file:///etc/passwd", "gopher://example.com", "data:,x", "javascript:0"] {
            check(&[], true, url, false);
        }
        check(&[], true, "https://ada@example.com/", false);
        check(&[], true, "https://:secret@example.com/", false);
    }

    #[test]
    fn allows_private_but_not_special_addresses_for_allowed_names() {
        let policy = Policy { allow: vec!["wiki.local".parse().unwrap()], public: true };
        let ok = |url: &str, address: &str| {
            policy.check_address(&Url::parse(url).unwrap(), address.parse().unwrap()).is_ok()
        };
        assert!(ok("http://wiki.local/", "10.0.0.7"));
        assert!(!ok("http://wiki.local/", "169.254.169.254"));
        assert!(!ok("http://other.local/", "10.0.0.7"));
        assert!(ok("http://other.local/", "8.8.8.8"));
    }

    #[test]
    fn rejects_invalid_rules() {
        for text in ["", "https://example.com", "example.com/x", "a b", "*.example.com", "example.com:x", "a@b", ":80"]
        {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
    }
}
