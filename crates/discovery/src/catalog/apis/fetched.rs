//! APIs with a fetched description: a file on a server with the files it refers to, or a GraphQL endpoint that is introspected.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

use prospector_api::{Api, ApiKind, ApiSource};
use prospector_core::Problem;
use prospector_fetch::{FetchError, Request, cache::Saved};
use serde_json::json;
use url::Url;

use crate::catalog::{
    cache,
    paths::PLAIN_API_NAMES,
    section::Opening,
    web::{self, Web},
};

/// Maximum number of files that one description may refer to.
const MAX_FILES: usize = 100;
/// Maximum depth of references between files.
const MAX_ROUNDS: usize = 20;

/// The introspection query of the GraphQL specification, to the nesting depth of types in practice.
const INTROSPECTION: &str = "query IntrospectionQuery { __schema { description queryType { name } mutationType { name } \
    subscriptionType { name } types { kind name description fields(includeDeprecated: true) { name description \
    args { ...Input } type { ...Type } isDeprecated deprecationReason } inputFields { ...Input } interfaces { name } \
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes { name } } } } \
    fragment Input on __InputValue { name description type { ...Type } defaultValue } \
    fragment Type on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name \
    ofType { kind name ofType { kind name ofType { kind name } } } } } } } }";

/// Returns the name of an API at a URL: the file stem, or the host if the stem does not identify it.
pub(super) fn name(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return "api".to_owned() };
    let last = url.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty())).unwrap_or_default();
    let stem = last.split('.').next().unwrap_or_default();
    let plain = stem.is_empty() || stem == "graphql" || PLAIN_API_NAMES.contains(&stem.to_lowercase().as_str());
    if plain {
        url.host_str().unwrap_or("api").replace(['.', ':'], "_").replace(['[', ']'], "")
    } else {
        stem.to_owned()
    }
}

/// Returns whether a URL is a GraphQL endpoint rather than a file.
pub(super) fn is_endpoint(url: &str, kind: Option<ApiKind>) -> bool {
    let path = Url::parse(url).map(|url| url.path().to_owned()).unwrap_or_default();
    // Introspection results are stored as JSON or as text.
    let mut ends = ApiSource::SCHEMA_EXTENSIONS.iter().chain(&["json", "txt"]);
    kind == Some(ApiKind::GraphQl) && !ends.any(|end| path.ends_with(&format!(".{end}")))
}

/// Fetches and parses a description. `source` is complete except for its path.
pub(super) async fn load(place: &str, url: &str, mut source: ApiSource, opening: &mut Opening<'_>) -> Option<Api> {
    let origin = match Url::parse(url) {
        Ok(url) => url,
        Err(error) => {
            opening.problems.push(Problem::error(place, format!("`url`: {error}")).advise("correct the URL"));
            return None;
        }
    };
    let mut request = Request::get(url).accepting(web::API_TYPES);
    if is_endpoint(url, source.kind) {
        request.json = Some(json!({"query": INTROSPECTION, "operationName": "IntrospectionQuery"}));
    } else {
        // This URL is that of the description, which contains the URL of the API.
        source.url = None;
    }
    let saved = opening.web.copy(place, &request, &mut opening.problems).await?;
    source.path = PathBuf::from(&saved.url);

    let mut found = Neighbours { origin: &origin, texts: BTreeMap::new(), copies: Vec::new() };
    let known: Vec<String> = opening.cache.get(&references_key(&saved.url), "").unwrap_or_default();
    found.fetch(&opening.web, known.into_iter().collect()).await;
    let settings = format!("{source:?}");
    let stamp = |copies: &[PathBuf]| {
        let files: Vec<&Path> = std::iter::once(&saved.path).chain(copies).map(PathBuf::as_path).collect();
        cache::fingerprint(&files, &settings)
    };
    let key = format!("api {} {}", source.name, saved.url);
    if let Some((api, problems)) = opening.cache.get::<(Api, Vec<Problem>)>(&key, &stamp(&found.copies)) {
        opening.problems.extend(problems);
        return Some(api);
    }
    match read(place, &source, &saved, &mut found, &opening.web).await {
        Ok((mut api, problems)) => {
            api.url = api.url.map(|served| served_at(&origin, served));
            api.files.clear();
            opening.cache.put(&references_key(&saved.url), "", &found.texts.keys().collect::<Vec<_>>());
            let loaded = (api, problems);
            opening.cache.put(&key, &stamp(&found.copies), &loaded);
            opening.problems.extend(loaded.1);
            Some(loaded.0)
        }
        Err(problem) => {
            opening.problems.push(problem);
            None
        }
    }
}

/// Parses a fetched description, and fetches the files it refers to until none is missing.
async fn read(
    place: &str,
    source: &ApiSource,
    saved: &Saved,
    found: &mut Neighbours<'_>,
    web: &Web,
) -> Result<(Api, Vec<Problem>), Problem> {
    let unreadable = |error| Problem::error(place, format!("`{}` cannot be read: {error}", saved.url));
    let text = text(saved).map_err(unreadable)?;
    let own = found.origin.path().trim_start_matches('/').to_owned();
    for _ in 0..MAX_ROUNDS {
        let missing = RefCell::new(BTreeSet::new());
        let neighbour = |path: &str| match found.texts.get(path) {
            Some(text) => text.as_ref().cloned().map_err(|error| io::Error::other(error.to_string())),
            None => {
                missing.borrow_mut().insert(path.to_owned());
                Err(io::Error::other(CopyError::Missing.to_string()))
            }
        };
        let read = super::catch(place, || source.read_with(&text, &own, &neighbour));
        let missing = missing.into_inner();
        if missing.is_empty() || found.texts.len() >= MAX_FILES {
            return read;
        }
        found.fetch(web, missing).await;
    }
    let reason = format!("references between the files of `{}` are nested too deeply", saved.url);
    Err(Problem::error(place, reason).advise("save a bundled copy as one file and specify its `path`"))
}

/// Why a fetched file has no text.
#[derive(Debug, thiserror::Error)]
enum CopyError {
    /// The server did not return it.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// It was not fetched.
    #[error("not fetched")]
    Missing,
    /// The stored copy cannot be read.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// It is not UTF-8.
    #[error("not valid UTF-8")]
    Encoding(#[from] std::string::FromUtf8Error),
}

/// Files on the same server that a description refers to.
struct Neighbours<'u> {
    origin: &'u Url,
    /// By path: the text, or the error.
    texts: BTreeMap<String, Result<String, CopyError>>,
    copies: Vec<PathBuf>,
}

impl Neighbours<'_> {
    async fn fetch(&mut self, web: &Web, paths: BTreeSet<String>) {
        let room = MAX_FILES.saturating_sub(self.texts.len());
        let paths: Vec<String> = paths.into_iter().take(room).collect();
        let request = |path: &String| {
            let mut url = self.origin.clone();
            url.set_path(path);
            url.set_query(None);
            Request::get(url).accepting(web::API_TYPES)
        };
        let copies = web.copies(paths.iter().map(request).collect()).await;
        for (path, copy) in paths.into_iter().zip(copies) {
            let read = match copy {
                Ok(saved) => {
                    self.copies.push(saved.path.clone());
                    text(&saved)
                }
                Err(error) => Err(error.into()),
            };
            self.texts.insert(path, read);
        }
    }
}

fn references_key(url: &str) -> String {
    format!("files of api {url}")
}

fn text(saved: &Saved) -> Result<String, CopyError> {
    Ok(String::from_utf8(std::fs::read(&saved.path)?)?)
}

/// Resolves a server URL relative to the description (OpenAPI 3).
fn served_at(origin: &Url, served: String) -> String {
    if served.starts_with('/') || served.starts_with('.') {
        return origin.join(&served).map_or(served, |url| url.to_string().trim_end_matches('/').to_owned());
    }
    served
}
