//! An API whose description is fetched: a file of a server with the files that it refers to, or a GraphQL endpoint that
//! is asked for its schema.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use prospector_api::{Api, ApiKind, ApiSource, NeighbourError};
use prospector_core::Problem;
use prospector_fetch::{Request, cache::Saved};
use serde_json::json;
use url::Url;

use super::PLAIN_NAMES;
use crate::catalog::{
    cache::{self, Cache},
    file::ApiEntry,
    web::{self, Web},
};

/// How many files one description may refer to.
const MOST_FILES: usize = 100;
/// How often files may refer to files that refer to files.
const MOST_ROUNDS: usize = 20;

/// What a file in the schema language of GraphQL, or a stored answer to an introspection, is called.
const SCHEMA_FILES: [&str; 6] = ["graphql", "graphqls", "gql", "sdl", "json", "txt"];

/// The introspection query of the GraphQL specification, as deep as types are wrapped in practice.
const INTROSPECTION: &str = "query IntrospectionQuery { __schema { description queryType { name } mutationType { name } \
    subscriptionType { name } types { kind name description fields(includeDeprecated: true) { name description \
    args { ...Input } type { ...Type } isDeprecated deprecationReason } inputFields { ...Input } interfaces { name } \
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes { name } } } } \
    fragment Input on __InputValue { name description type { ...Type } defaultValue } \
    fragment Type on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name \
    ofType { kind name ofType { kind name ofType { kind name } } } } } } } }";

/// The name of an API at a URL: that of the file, or of the host where the file is called like any other.
pub(super) fn name(url: &str) -> String {
    let Ok(url) = Url::parse(url) else { return "api".to_owned() };
    let last = url.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty())).unwrap_or_default();
    let stem = last.split('.').next().unwrap_or_default();
    let plain = stem.is_empty() || stem == "graphql" || PLAIN_NAMES.contains(&stem.to_lowercase().as_str());
    if plain {
        url.host_str().unwrap_or("api").replace(['.', ':'], "_").replace(['[', ']'], "")
    } else {
        stem.to_owned()
    }
}

/// Whether a URL is that of a GraphQL endpoint, and not of a file.
pub(super) fn is_endpoint(url: &str, kind: Option<ApiKind>) -> bool {
    let path = Url::parse(url).map(|url| url.path().to_owned()).unwrap_or_default();
    kind == Some(ApiKind::GraphQl) && !SCHEMA_FILES.iter().any(|end| path.ends_with(&format!(".{end}")))
}

/// Fetches and reads one. `source` has all but its path.
pub(super) async fn load(
    place: &str,
    entry: &ApiEntry,
    mut source: ApiSource,
    web: &Web,
    cache: &Cache,
    problems: &mut Vec<Problem>,
) -> Option<Api> {
    let url = entry.fetched.as_deref()?;
    let origin = match Url::parse(url) {
        Ok(url) => url,
        Err(error) => {
            problems.push(Problem::error(place, format!("`url`: {error}")).advise("correct it"));
            return None;
        }
    };
    let endpoint = is_endpoint(url, source.kind);
    let mut request = Request::get(url).accepting(web::API_TYPES);
    if endpoint {
        request.json = Some(json!({"query": INTROSPECTION, "operationName": "IntrospectionQuery"}));
    } else {
        // The URL is that of the description; where the API is served stands in it.
        source.url = None;
    }
    let saved = web.copy(place, &request, problems).await?;
    source.path = PathBuf::from(&saved.url);

    let own = origin.path().trim_start_matches('/').to_owned();
    let mut found = Neighbours { origin: &origin, texts: BTreeMap::new(), copies: Vec::new() };
    let known: Vec<String> = cache.get(&key_of_referred(&saved.url), "").unwrap_or_default();
    found.fetch(web, known.into_iter().collect()).await;
    let settings = format!("{source:?}");
    let stamp = |copies: &[PathBuf]| {
        let files: Vec<&Path> = std::iter::once(&saved.path).chain(copies).map(PathBuf::as_path).collect();
        cache::fingerprint(&files, &settings)
    };
    let key = format!("api {} {}", source.name, saved.url);
    if let Some((api, more)) = cache.get::<(Api, Vec<Problem>)>(&key, &stamp(&found.copies)) {
        problems.extend(more);
        return Some(api);
    }
    let text = match text(&saved) {
        Ok(text) => text,
        Err(reason) => {
            problems.push(Problem::error(place, format!("`{}` cannot be read: {reason}", saved.url)));
            return None;
        }
    };
    for _ in 0..MOST_ROUNDS {
        let missing = RefCell::new(BTreeSet::new());
        let neighbour = |path: &str| match found.texts.get(path) {
            Some(text) => text.clone().map_err(NeighbourError::new),
            None => {
                missing.borrow_mut().insert(path.to_owned());
                Err(NeighbourError::new("it was not fetched"))
            }
        };
        let read = super::loaded(place, || source.read_with(&text, &own, &neighbour));
        let missing = missing.into_inner();
        if !missing.is_empty() && found.texts.len() < MOST_FILES {
            found.fetch(web, missing).await;
            continue;
        }
        return match read {
            Ok((mut api, more)) => {
                api.url = api.url.map(|served| served_at(&origin, served));
                api.files.clear();
                cache.put(&key_of_referred(&saved.url), "", &found.texts.keys().collect::<Vec<_>>());
                let loaded = (api, more);
                cache.put(&key, &stamp(&found.copies), &loaded);
                problems.extend(loaded.1);
                Some(loaded.0)
            }
            Err(problem) => {
                problems.push(problem);
                None
            }
        };
    }
    let reason = format!("the files of `{}` refer to others without end", saved.url);
    problems.push(Problem::error(place, reason).advise("save a copy with everything in one file, and name its path"));
    None
}

/// Files beside a description, on the same server.
struct Neighbours<'u> {
    origin: &'u Url,
    /// By path; or why there is none.
    texts: BTreeMap<String, Result<String, String>>,
    copies: Vec<PathBuf>,
}

impl Neighbours<'_> {
    async fn fetch(&mut self, web: &Web, paths: BTreeSet<String>) {
        let room = MOST_FILES.saturating_sub(self.texts.len());
        let paths: Vec<String> = paths.into_iter().take(room).collect();
        let request = |path: &String| {
            let mut url = self.origin.clone();
            url.set_path(path);
            url.set_query(None);
            Request::get(url).accepting(web::API_TYPES)
        };
        let mut copies = web.copies(paths.iter().map(request).collect()).await;
        for (at, path) in paths.into_iter().enumerate() {
            let read = match copies.remove(&at) {
                Some(Ok(saved)) => {
                    self.copies.push(saved.path.clone());
                    text(&saved)
                }
                Some(Err(error)) => Err(error.to_string()),
                None => Err("it was not fetched".to_owned()),
            };
            self.texts.insert(path, read);
        }
    }
}

fn key_of_referred(url: &str) -> String {
    format!("files of api {url}")
}

fn text(saved: &Saved) -> Result<String, String> {
    let bytes = std::fs::read(&saved.path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

/// A server that is written relative to the description (OpenAPI 3).
fn served_at(origin: &Url, served: String) -> String {
    if served.starts_with('/') || served.starts_with('.') {
        return origin.join(&served).map_or(served, |url| url.to_string().trim_end_matches('/').to_owned());
    }
    served
}
