//! HTTP services: address and credentials, displayed without passwords, keys and tokens.

mod bigquery;
mod elasticsearch;
#[cfg(any(feature = "bigquery", feature = "elasticsearch"))]
pub(crate) mod http;

use std::fmt;
use std::path::PathBuf;

use url::Url;

use crate::error::AddressError;
pub use bigquery::BigquerySource;
pub use elasticsearch::ElasticsearchSource;

/// Credentials for a service. The `Debug` form names the method and never shows a secret.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub enum Access {
    /// Without credentials.
    #[default]
    Open,
    /// A bearer token.
    Token(String),
    /// An API key in the encoded form in which Elasticsearch issues it.
    ApiKey(String),
    /// A user name and a password.
    User(String, String),
    /// The key file of a Google service account.
    KeyFile(PathBuf),
}

#[cfg(any(feature = "bigquery", feature = "elasticsearch"))]
impl Access {
    /// Returns the secrets that must never be shown, as written and as sent.
    fn secrets(&self) -> Vec<String> {
        match self {
            Access::Token(secret) | Access::ApiKey(secret) => vec![secret.clone()],
            Access::User(name, secret) => vec![http::basic(name, secret), secret.clone()],
            Access::Open | Access::KeyFile(_) => Vec::new(),
        }
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Access::Open => f.write_str("open"),
            Access::Token(_) => f.write_str("a token"),
            Access::ApiKey(_) => f.write_str("an API key"),
            Access::User(name, _) => write!(f, "user {name}"),
            Access::KeyFile(path) => write!(f, "key file {}", path.display()),
        }
    }
}

/// An address with its credentials.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Endpoint {
    url: Url,
    access: Access,
}

impl Endpoint {
    /// Parses the URL and the credentials, which the URL may contain.
    ///
    /// # Errors
    /// If the URL is invalid; the error does not show it.
    fn new(url: &str, access: Access) -> Result<Endpoint, AddressError> {
        let mut url = Url::parse(url.trim())?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(AddressError::NotHttp);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(AddressError::BehindPath);
        }
        let decoded = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        let access = match access {
            Access::Open if !url.username().is_empty() => {
                Access::User(decoded(url.username()), url.password().map(decoded).unwrap_or_default())
            }
            given => given,
        };
        let _ = url.set_username("");
        let _ = url.set_password(None);
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Ok(Endpoint { url, access })
    }
}

/// Displays the address without secrets.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:?}", self.url, self.access)
    }
}
