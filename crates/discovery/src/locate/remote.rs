//! Sources that are URLs, classified by the URL alone.

use std::path::PathBuf;

use prospector_api::ApiSource;
use prospector_connect::source::{Server, SourceKind};
use prospector_core::problem::conceal;
use url::{Host, Url};

use super::{
    error::LocateError,
    finding::{Address, ApiForm, Finding, FindingKind},
    naming,
};

/// Words in the paths of API descriptions.
const API_WORDS: [&str; 4] = ["openapi", "swagger", "graphql", "api-docs"];

/// A parsed source.
pub(super) enum Read {
    /// A URL.
    Found(Finding),
    /// A path.
    File(PathBuf),
}

/// Parses a source.
///
/// # Errors
/// [`LocateError::Url`] if the URL has an unsupported scheme or is invalid.
pub(super) fn read(place: &str) -> Result<Read, LocateError> {
    let is_scheme = |scheme: &&str| {
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    let Some((scheme, rest)) = place.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        return Ok(Read::File(PathBuf::from(place)));
    };
    let scheme = scheme.to_ascii_lowercase();
    match scheme.as_str() {
        "file" | "sqlite" => Ok(Read::File(PathBuf::from(rest))),
        "http" | "https" => page(place).map(Read::Found),
        _ => match SourceKind::from_scheme(&scheme) {
            Some(kind) => server(kind, place).map(Read::Found),
            None => {
                let schemes: Vec<&str> = SourceKind::ALL.iter().flat_map(|kind| kind.schemes()).copied().collect();
                let reason = match scheme.split_once('+').and_then(|(bare, _)| SourceKind::from_scheme(bare)) {
                    Some(kind) => format!("write {kind}:// without the driver after the `+`"),
                    None => {
                        format!("unsupported scheme `{scheme}://`; supported are {}, http, https", schemes.join(", "))
                    }
                };
                Err(wrong(place, reason))
            }
        },
    }
}

fn wrong(place: &str, reason: impl Into<String>) -> LocateError {
    LocateError::Url { place: conceal(place).into_owned(), reason: reason.into() }
}

fn server(kind: SourceKind, url: &str) -> Result<Finding, LocateError> {
    let name = match Server::new(url, &[]) {
        Ok(server) => server.database().map(naming::plain),
        // A variable may replace any part of it.
        Err(_) if url.contains("${") => None,
        Err(error) => return Err(wrong(url, conceal(&error.to_string()).into_owned())),
    };
    Ok(Finding {
        kind: FindingKind::Databases(kind),
        name: Some(name.unwrap_or_else(|| kind.to_string())),
        address: Address::Url(url.to_owned()),
        files: 0,
        source: conceal(url).into_owned(),
    })
}

/// Classifies a URL to fetch as an API description or a document.
fn page(written: &str) -> Result<Finding, LocateError> {
    let url = Url::parse(written).map_err(|error| wrong(written, error.to_string()))?;
    let Some(host) = url.host_str() else { return Err(wrong(written, "the URL has no host")) };
    let path = url.path().trim_end_matches('/').to_lowercase();
    let is_api = API_WORDS.iter().any(|word| path.contains(word))
        || path.rsplit_once('.').is_some_and(|(_, extension)| ApiSource::is_extension(extension));
    let kind = match is_api {
        true if path.ends_with("/graphql") => FindingKind::Apis(ApiForm::GraphqlServer),
        true => FindingKind::Apis(ApiForm::Description),
        false => FindingKind::Documents,
    };
    // `api.shop.example` is named `shop`; an address has no name.
    let name = match url.host() {
        Some(Host::Domain(host)) => host.split('.').find(|part| !matches!(*part, "api" | "www" | "dev")),
        _ => Some("api"),
    };
    Ok(Finding {
        kind,
        name: is_api.then(|| naming::plain(name.unwrap_or(host))),
        address: Address::Url(written.to_owned()),
        files: 0,
        source: conceal(written).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_urls_without_showing_secrets() {
        let check = |source: &str, expected: &str| {
            let shown = match read(source) {
                Ok(Read::Found(found)) => {
                    format!("{} {} {}", found.section(), found.name.unwrap_or_default(), found.address)
                }
                Ok(Read::File(path)) => path.display().to_string(),
                Err(error) => error.to_string(),
            };
            assert!(shown.contains(expected), "{shown}");
            assert!(!shown.contains("s3cret"), "{shown}");
        };
        check("postgres://me:s3cret@db.example/crm", "databases crm postgres://me:***@db.example/crm");
        check("mongodb://db.example", "databases mongodb mongodb://db.example");
        check("postgres://me:${PASSWORD}@db.example/crm", "databases");
        check("https://api.shop.example/v3/openapi.json", "apis shop https://api.shop.example/v3/openapi.json");
        check("https://shop.example/graphql", "apis shop");
        check("http://127.0.0.1:8991/openapi.yaml", "apis api http");
        check("http://[::1]:8991/openapi.yaml", "apis api http");
        check("https://example.com/rules.html?key=s3cret", "documents");
        check("file:///data/orders.csv", "/data/orders.csv");
        check("sqlite:///data/shop.db", "/data/shop.db");
        check("C:/data/orders.csv", "C:/data/orders.csv");
        check("oracle://me:s3cret@db/crm", "unsupported scheme `oracle://`");
        check("postgresql+psycopg2://me:s3cret@db/crm", "without the driver");
    }
}
