//! A service that is asked over HTTP: where it is and who asks, without showing what lets one in.

#[cfg(any(feature = "bigquery", feature = "elasticsearch"))]
pub(crate) mod http;

use std::fmt;
use std::path::PathBuf;

use url::Url;

use crate::SourceKind;

/// Where BigQuery is, unless a catalog says otherwise.
const BIGQUERY: &str = "https://bigquery.googleapis.com/";

/// How many bytes one query of BigQuery may read: 10 GiB.
const BYTES_BILLED: u64 = 10 << 30;

/// What lets one in. Shown as what it is, without what it says.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub enum Access {
    /// Whoever asks.
    #[default]
    Open,
    /// A bearer token.
    Token(String),
    /// A key as Elasticsearch issues them, encoded.
    ApiKey(String),
    /// A name and a password.
    User(String, String),
    /// A file with the key of a service account.
    KeyFile(PathBuf),
}

#[cfg(any(feature = "bigquery", feature = "elasticsearch"))]
impl Access {
    /// What must never be shown, as it is written and as it is sent.
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

/// A service and what of it is described.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Service {
    kind: SourceKind,
    url: Url,
    access: Access,
    project: String,
    location: Option<String>,
    parts: Vec<String>,
    bytes_billed: u64,
}

impl Service {
    /// Elasticsearch or OpenSearch at `https://host:9200`. `indices` are the names and patterns of indices and data
    /// streams that are described, all that are not hidden where it is empty.
    ///
    /// # Errors
    /// What is wrong with the URL, without showing it.
    pub fn elasticsearch(url: &str, access: Access, indices: &[String]) -> Result<Service, String> {
        let (url, access) = address(url, access)?;
        if let Some(wrong) = indices.iter().find(|name| !is_plain(name)) {
            return Err(format!("`{wrong}` is no name or pattern of indices"));
        }
        let parts = indices.to_vec();
        let kind = SourceKind::Elasticsearch;
        Ok(Service { kind, url, access, project: String::new(), location: None, parts, bytes_billed: 0 })
    }

    /// The datasets of a project of BigQuery, all where `datasets` is empty.
    ///
    /// # Errors
    /// Which name is none.
    pub fn bigquery(project: &str, datasets: &[String], access: Access) -> Result<Service, String> {
        // What goes into a name between backticks.
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
        };
        if let Some(wrong) = std::iter::once(project).chain(datasets.iter().map(String::as_str)).find(|n| !is_name(n)) {
            return Err(format!("`{wrong}` is no name of a project or dataset"));
        }
        let (url, access) = address(BIGQUERY, access)?;
        Ok(Service {
            kind: SourceKind::Bigquery,
            url,
            access,
            project: project.to_owned(),
            location: None,
            parts: datasets.to_vec(),
            bytes_billed: BYTES_BILLED,
        })
    }

    /// The same at another address: a private endpoint, or a stand-in.
    ///
    /// # Errors
    /// What is wrong with the URL, without showing it.
    pub fn at(self, url: &str) -> Result<Service, String> {
        let (url, access) = address(url, self.access)?;
        Ok(Service { url, access, ..self })
    }

    /// The same with the location of the datasets, `EU`; else BigQuery finds it out.
    pub fn in_location(self, location: Option<String>) -> Service {
        Service { location, ..self }
    }

    /// The same with a limit to the bytes that one query may read: BigQuery refuses more, and bills nothing for it.
    pub fn with_bytes_billed(self, bytes: u64) -> Service {
        Service { bytes_billed: bytes.max(1), ..self }
    }

    /// The kind of source.
    pub fn kind(&self) -> SourceKind {
        self.kind
    }

    /// A name for it where a catalog gives none: the project, or nothing.
    pub fn project(&self) -> Option<&str> {
        Some(self.project.as_str()).filter(|name| !name.is_empty())
    }

    /// The file with the key, where there is one.
    pub fn key_file(&self) -> Option<&std::path::Path> {
        match &self.access {
            Access::KeyFile(path) => Some(path),
            _ => None,
        }
    }
}

#[cfg(any(feature = "bigquery", feature = "elasticsearch"))]
impl Service {
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    /// What of it is described; all where it is empty.
    pub(crate) fn parts(&self) -> &[String] {
        &self.parts
    }

    #[cfg(feature = "bigquery")]
    pub(crate) fn location(&self) -> Option<&str> {
        self.location.as_deref()
    }

    #[cfg(feature = "bigquery")]
    pub(crate) fn bytes_billed(&self) -> u64 {
        self.bytes_billed
    }
}

/// The URL, and who asks: a name and a password may stand in it.
fn address(url: &str, access: Access) -> Result<(Url, Access), String> {
    let mut parsed = Url::parse(url.trim()).map_err(|error| format!("the URL is wrong: {error}"))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none_or(str::is_empty) {
        return Err("the URL must begin with https:// or http:// and name a host".to_owned());
    }
    if parsed.query().is_some() || parsed.fragment().is_some() {
        return Err("the URL must end with its path".to_owned());
    }
    let decoded = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let named = (!parsed.username().is_empty())
        .then(|| Access::User(decoded(parsed.username()), parsed.password().map(decoded).unwrap_or_default()));
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    if !parsed.path().ends_with('/') {
        parsed.set_path(&format!("{}/", parsed.path()));
    }
    let access = match (access, named) {
        (Access::Open, Some(named)) => named,
        (given, _) => given,
    };
    Ok((parsed, access))
}

/// Whether it can stand in a path without meaning something else there.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['_', '-', '+'])
        && !name.contains(['/', '\\', '?', '#', '"', '<', '>', '|', ' ', ',', '%', ':'])
}

/// The service without its secrets.
impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            SourceKind::Bigquery => write!(f, "bigquery:{}", self.project),
            _ => f.write_str(self.url.as_str().trim_end_matches('/')),
        }
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Service { url, access, location, parts, bytes_billed, .. } = self;
        write!(f, "Service({self}, {url}, {access:?}, {location:?}, {parts:?}, {bytes_billed})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(service: Service, shown: &str) {
        assert_eq!(service.to_string(), shown);
        for secret in ["s3cr t", "s3cr%20t"] {
            assert!(!format!("{service:?}").contains(secret), "{service:?}");
        }
    }

    #[test]
    fn a_service_is_shown_without_its_secrets() {
        let elastic = |url, access| Service::elasticsearch(url, access, &["logs-*".into()]).unwrap();
        let user = || Access::User("ada".into(), "s3cr t".into());
        check(elastic("https://es:9200", user()), "https://es:9200");
        check(elastic("https://es/a", Access::Token("s3cr t".into())), "https://es/a");
        check(elastic("https://ada:s3cr%20t@es", Access::Open), "https://es");
        assert_eq!(
            elastic("https://ada:s3cr%20t@es", Access::Open).access,
            Access::User("ada".into(), "s3cr t".into())
        );
        check(Service::bigquery("shop-1", &[], Access::Token("s3cr t".into())).unwrap(), "bigquery:shop-1");
    }

    #[test]
    fn a_wrong_address_is_not_shown() {
        for url in
            ["ftp://ada:s3cret@x", "https//ada:s3cret@x", "https://ada:s3cret@x/?a=s3cret", "https://ada:s3cret@:x/"]
        {
            let reason = Service::elasticsearch(url, Access::Open, &[]).unwrap_err();
            assert!(!reason.contains("s3cret"), "{reason}");
        }
        assert!(Service::elasticsearch("https://x", Access::Open, &["a/_delete".into()]).is_err());
        assert!(Service::bigquery("p` WHERE", &[], Access::Open).is_err());
    }
}
