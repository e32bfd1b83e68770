//! Why something was not fetched, and what to do about it.

use prospector_core::Problem;
use url::Url;

/// A failed fetch. URLs are shown without user, password, query and fragment: they may hold secrets.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The URL is not one that is fetched.
    #[error("`{url}` is not fetched: {reason}")]
    Url {
        /// What was asked for.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The text is no rule that allows a host.
    #[error("`{text}` is not a host or host:port")]
    Rule {
        /// The text.
        text: String,
    },
    /// Nobody allowed that host.
    #[error("`{url}` is not fetched: the host {host} is not allowed")]
    Host {
        /// What was asked for.
        url: String,
        /// The host, with its port where one is written.
        host: String,
    },
    /// The host is not on the internet.
    #[error("`{url}` is not fetched: {host} leads to a {kind} address")]
    Address {
        /// What was asked for.
        url: String,
        /// The host, with its port where one is written.
        host: String,
        /// What kind of address.
        kind: &'static str,
    },
    /// A redirect that is not followed.
    #[error("`{url}` is not fetched: {reason}")]
    Redirect {
        /// What answered with the redirect.
        url: String,
        /// Why it is not followed.
        reason: String,
    },
    /// The name of the host has no address.
    #[error("cannot find the host of `{url}`: {reason}")]
    Resolve {
        /// What was asked for.
        url: String,
        /// What the resolver said.
        reason: String,
    },
    /// It takes too long.
    #[error("`{url}` takes too long: {what} after {seconds} s")]
    Timeout {
        /// What was asked for.
        url: String,
        /// What had not happened.
        what: &'static str,
        /// The limit.
        seconds: f32,
    },
    /// The connection failed.
    #[error("cannot reach `{url}`: {reason}")]
    Transport {
        /// What was asked for.
        url: String,
        /// What failed.
        reason: String,
    },
    /// The server refused.
    #[error("`{url}` answers with status {status}")]
    Status {
        /// What was asked for.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// It is something else than was expected.
    #[error("`{url}` is of type `{found}`, which is not read here")]
    ContentType {
        /// What was asked for.
        url: String,
        /// What the server says it is.
        found: String,
    },
    /// It is too large, as sent or unpacked.
    #[error("`{url}` has more than {limit} bytes")]
    TooLarge {
        /// What was asked for.
        url: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// It cannot be unpacked.
    #[error("`{url}` cannot be unpacked: {reason}")]
    Unpack {
        /// What was asked for.
        url: String,
        /// What went wrong, in words.
        reason: String,
    },
    /// The copy cannot be kept.
    #[error("cannot keep a copy of `{url}` in {place}: {source}")]
    Keep {
        /// What was fetched.
        url: String,
        /// The folder or file.
        place: String,
        /// The cause.
        source: std::io::Error,
    },
}

impl FetchError {
    /// What to do about it.
    pub fn advice(&self) -> String {
        match self {
            FetchError::Url { .. } => "write an http or https URL without a user".into(),
            FetchError::Rule { .. } => "write a host, or a host with its port".into(),
            FetchError::Host { host, .. } | FetchError::Address { host, .. } => {
                format!("to allow it, write `fetch: {{allow: ['{host}']}}` in the catalog")
            }
            FetchError::Redirect { .. } => "write the URL that it leads to".into(),
            FetchError::Resolve { .. } => "check the name of the host, and the network".into(),
            FetchError::Timeout { .. } | FetchError::Transport { .. } => {
                "check whether the server is there, and try again".into()
            }
            FetchError::Status { status: 401 | 403, .. } => "save a copy, and name its path".into(),
            FetchError::Status { .. } => "check the URL".into(),
            FetchError::ContentType { .. } => "name a page, a text or a document".into(),
            FetchError::TooLarge { .. } | FetchError::Unpack { .. } => "save a copy, and name its path".into(),
            FetchError::Keep { .. } => "see to it that the state folder can be written".into(),
        }
    }

    /// As a problem that cost what stands at `place`.
    pub fn at(&self, place: impl Into<String>) -> Problem {
        Problem::error(place, self.to_string()).advise(self.advice())
    }
}

/// A URL as it may be shown.
pub(crate) fn redact(url: &Url) -> String {
    let mut url = url.clone();
    let had_query = url.query().is_some();
    url.set_query(None);
    url.set_fragment(None);
    // Both fail where there is no host, which has neither.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    if url.cannot_be_a_base() {
        return format!("{}:…", url.scheme());
    }
    if had_query { format!("{url}?…") } else { url.to_string() }
}

/// The same for a text that may be no URL at all.
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
    fn secrets_of_a_url_are_not_shown() {
        check("https://ada:pw@example.com:8443/a?key=secret#part", "https://example.com:8443/a?…");
        check("https://example.com/a", "https://example.com/a");
        check("data:text/plain,secret", "data:…");
        check("//ada:pw@exa mple/x?key=secret", "exa mple/x");
    }
}
