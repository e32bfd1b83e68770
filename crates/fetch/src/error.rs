//! Fetch errors and their remedies.

use prospector_core::Problem;
use url::Url;

/// A failed fetch. URLs are shown without user, password, query and fragment, which may contain secrets.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The URL is not supported.
    #[error("cannot fetch `{url}`: {reason}")]
    Url {
        /// The requested URL.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The text is not a valid host rule.
    #[error("`{text}` is not a host or host:port")]
    Rule {
        /// The text.
        text: String,
    },
    /// The host is not allowed by the policy.
    #[error("cannot fetch `{url}`: the host {host} is not allowed")]
    Host {
        /// The requested URL.
        url: String,
        /// The host, with its port if specified.
        host: String,
    },
    /// The host has an address that is not allowed.
    #[error("cannot fetch `{url}`: {host} resolves to a {kind} address")]
    Address {
        /// The requested URL.
        url: String,
        /// The host, with its port if specified.
        host: String,
        /// The kind of address.
        kind: &'static str,
    },
    /// A redirect was rejected.
    #[error("cannot fetch `{url}`: {reason}")]
    Redirect {
        /// The URL that redirects.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The host name cannot be resolved.
    #[error("cannot resolve the host of `{url}`: {reason}")]
    Resolve {
        /// The requested URL.
        url: String,
        /// The error of the resolver.
        reason: String,
    },
    /// A time limit was exceeded.
    #[error("timeout of `{url}`: {what} after {seconds} s")]
    Timeout {
        /// The requested URL.
        url: String,
        /// What did not happen in time.
        what: &'static str,
        /// The limit in seconds.
        seconds: f32,
    },
    /// The connection failed.
    #[error("cannot reach `{url}`: {reason}")]
    Transport {
        /// The requested URL.
        url: String,
        /// The cause.
        reason: String,
    },
    /// The server returned an error status.
    #[error("`{url}` returned status {status}")]
    Status {
        /// The requested URL.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// The content type is not accepted.
    #[error("`{url}` has the unsupported content type `{found}`")]
    ContentType {
        /// The requested URL.
        url: String,
        /// The content type sent by the server.
        found: String,
    },
    /// The body is too large, as transferred or decompressed.
    #[error("`{url}` has more than {limit} bytes")]
    TooLarge {
        /// The requested URL.
        url: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// The body cannot be decompressed.
    #[error("cannot decompress `{url}`: {reason}")]
    Unpack {
        /// The requested URL.
        url: String,
        /// A human-readable reason.
        reason: String,
    },
    /// The copy cannot be stored.
    #[error("cannot store a copy of `{url}` in {place}: {source}")]
    Keep {
        /// The fetched URL.
        url: String,
        /// The folder or file.
        place: String,
        /// The cause.
        source: std::io::Error,
    },
}

impl FetchError {
    /// Returns how to fix it.
    pub fn advice(&self) -> String {
        match self {
            FetchError::Url { .. } => "use an http or https URL without a user".into(),
            FetchError::Rule { .. } => "use a host, or a host with its port".into(),
            FetchError::Host { host, .. } | FetchError::Address { host, .. } => {
                format!("to allow it, add `fetch: {{allow: ['{host}']}}` to the catalog")
            }
            FetchError::Redirect { .. } => "use the target URL of the redirect".into(),
            FetchError::Resolve { .. } => "check the host name and the network".into(),
            FetchError::Timeout { .. } | FetchError::Transport { .. } => {
                "check that the server is reachable, and try again".into()
            }
            FetchError::Status { status: 401 | 403, .. } => "save a copy, and use its path".into(),
            FetchError::Status { .. } => "check the URL".into(),
            FetchError::ContentType { .. } => "use a page, a text or a document".into(),
            FetchError::TooLarge { .. } | FetchError::Unpack { .. } => "save a copy, and use its path".into(),
            FetchError::Keep { .. } => "make sure that the state folder is writable".into(),
        }
    }

    /// Returns it as a problem that caused the input at `place` to be skipped.
    pub fn at(&self, place: impl Into<String>) -> Problem {
        Problem::error(place, self.to_string()).advise(self.advice())
    }
}

/// Returns a URL without secrets.
pub(crate) fn redact(url: &Url) -> String {
    let mut url = url.clone();
    let had_query = url.query().is_some();
    url.set_query(None);
    url.set_fragment(None);
    // Both fail only for URLs without a host, which have neither.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    if url.cannot_be_a_base() {
        return format!("{}:…", url.scheme());
    }
    if had_query { format!("{url}?…") } else { url.to_string() }
}

/// Returns a text, which may not be a valid URL, without secrets.
pub(crate) fn redact_text(text: &str) -> String {
    match Url::parse(text.trim()) {
        Ok(url) => redact(&url),
        Err(_) => {
            let end = text.find(['?', '#']).unwrap_or(text.len());
            let start = text[..end].rfind('@').map_or(0, |at| at + 1);
            text[start..end].chars().take(200).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: &str) {
        assert_eq!(redact_text(url), expected);
    }

    #[test]
    fn redacts_secrets_of_urls() {
        check("https://ada:pw@example.com:8443/a?key=secret#part", "https://example.com:8443/a?…");
        check("https://example.com/a", "https://example.com/a");
        check("data:text/plain,secret", "data:…");
        check("//ada:pw@exa mple/x?key=secret", "exa mple/x");
    }
}
