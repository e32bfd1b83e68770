//! APIs: from the entries of the catalog to loaded descriptions.

mod fetched;

use std::path::{Path, PathBuf};

use prospector_api::{Api, ApiDiscovery, ApiError, ApiKind, ApiSource};
use prospector_core::{Problem, catch_panic};

use super::{
    cache::{self, Cache},
    calls::Invoke,
    expand,
    file::ApiEntry,
    files,
    web::Web,
};

/// Names of files that say nothing of the API; it is named after the folder then.
const PLAIN_NAMES: [&str; 6] = ["api", "index", "main", "openapi", "schema", "swagger"];

/// Loads what the entries name, and which of it may be called. A file is one API; of a pattern each file; of a folder each file that describes an API,
/// and its references may lead to any other file of the folder.
pub(super) async fn load(
    catalog: &Path,
    base: &Path,
    entries: Vec<ApiEntry>,
    cache: &Cache,
    web: &Web,
    problems: &mut Vec<Problem>,
) -> (ApiDiscovery, Vec<(String, Invoke)>) {
    let mut apis: Vec<Api> = Vec::new();
    let mut callable: Vec<(String, Invoke)> = Vec::new();
    for entry in entries {
        let place = format!("{}:{}", catalog.display(), entry.line);
        let kind =
            match entry.kind.as_deref().map(|name| (name, ApiKind::ALL.into_iter().find(|kind| kind.as_str() == name)))
            {
                Some((name, None)) => {
                    let reason = format!("there is no API type `{name}`");
                    let names = ApiKind::ALL.map(ApiKind::as_str).join(", ");
                    problems.push(Problem::error(place, reason).advise(format!("the types are {names}")));
                    continue;
                }
                Some((_, kind)) => kind,
                None => None,
            };
        if let Some(url) = &entry.fetched {
            let name = entry.name.clone().unwrap_or_else(|| fetched::name(url));
            if is_taken(&apis, &name, &place, problems) {
                continue;
            }
            let mut invoke = entry.invoke.clone();
            if let Some(invoke) = invoke.as_mut().filter(|_| fetched::is_endpoint(url, kind)) {
                invoke.base = Some(url.clone());
            }
            callable.extend(invoke.map(|invoke| (name.clone(), invoke)));
            let source = source(&entry, name, kind);
            let api = fetched::load(&place, &entry, source, web, cache, problems).await;
            api.iter().for_each(|api| warn_of_calls(api, &entry, &place, problems));
            apis.extend(api);
            continue;
        }
        let Some((folder, files)) = found(base, &place, &entry.path, problems) else { continue };
        let names = match (&entry.name, files.len()) {
            (Some(name), 1) => vec![name.clone()],
            (Some(name), _) => expand::names(&files).into_iter().map(|stem| format!("{name}_{stem}")).collect(),
            (None, _) => named(&files, folder.is_some()),
        };
        for (name, file) in names.into_iter().zip(files) {
            if is_taken(&apis, &name, &place, problems) {
                continue;
            }
            callable.extend(entry.invoke.clone().map(|invoke| (name.clone(), invoke)));
            let source = ApiSource { path: file, folder: folder.clone(), ..source(&entry, name, kind) };
            match loaded(&place, || load_one(&source, cache)) {
                Ok((api, more)) => {
                    warn_of_calls(&api, &entry, &place, problems);
                    apis.push(api);
                    problems.extend(more);
                }
                Err(problem) => problems.push(problem),
            }
        }
    }
    (ApiDiscovery::new(apis), callable)
}

/// Says that the tools of an API are never called, where the entry allows it.
fn warn_of_calls(api: &Api, entry: &ApiEntry, place: &str, problems: &mut Vec<Problem>) {
    if api.kind == ApiKind::Mcp && entry.invoke.is_some() {
        let reason = format!("`invoke` of `{}` is ignored: MCP tools are described and not called", api.name);
        problems.push(Problem::warning(place, reason).advise("take `invoke` out"));
    }
}

/// What came of the description of an API; a problem too where reading it panicked, so that the others are loaded.
fn loaded<T>(place: &str, load: impl FnOnce() -> Result<T, ApiError>) -> Result<T, Problem> {
    match catch_panic(load) {
        Ok(loaded) => loaded.map_err(Problem::from),
        Err(reason) => {
            Err(Problem::error(place, format!("the API cannot be read: {reason}")).advise("take it out of the catalog"))
        }
    }
}

/// What an entry says of an API, but for where its description is.
fn source(entry: &ApiEntry, name: String, kind: Option<ApiKind>) -> ApiSource {
    ApiSource {
        name,
        kind,
        url: entry.url.clone(),
        description: (!entry.description.is_empty()).then(|| entry.description.clone()),
        allow: entry.operations.clone(),
        ..ApiSource::default()
    }
}

/// Whether there is an API of that name already, which is noted.
fn is_taken(apis: &[Api], name: &str, place: &str, problems: &mut Vec<Problem>) -> bool {
    let Some(known) = apis.iter().find(|api| api.name.eq_ignore_ascii_case(name)) else { return false };
    let reason = format!("there are two APIs `{}`; the first is used", known.name);
    problems.push(Problem::warning(place, reason).advise("give one of them another `name`"));
    true
}

/// The files that an API referred to when it was last read: a change in one of them is a change of the API.
pub(super) fn referred(cache: &Cache, file: &Path) -> Vec<PathBuf> {
    cache.get(&key_of_referred(file), "").unwrap_or_default()
}

fn key_of_referred(file: &Path) -> String {
    format!("files of api {}", file.display())
}

fn load_one(source: &ApiSource, cache: &Cache) -> Result<(Api, Vec<Problem>), ApiError> {
    let key = format!("api {}", source.name);
    let settings = format!("{source:?}");
    let stamp = |others: &[PathBuf]| {
        let files: Vec<&Path> = std::iter::once(&source.path).chain(others).map(PathBuf::as_path).collect();
        cache::fingerprint(&files, &settings)
    };
    let before = referred(cache, &source.path);
    if let Some(stored) = cache.get(&key, &stamp(&before)) {
        return Ok(stored);
    }
    let loaded = source.load()?;
    let files = &loaded.0.files;
    if *files != before {
        cache.put(&key_of_referred(&source.path), "", files);
    }
    cache.put(&key, &stamp(files), &loaded);
    Ok(loaded)
}

/// The folder, if the path is one, and the files that describe an API; `None`, with the problem noted, where there are
/// none.
fn found(base: &Path, place: &str, path: &str, problems: &mut Vec<Problem>) -> Option<(Option<PathBuf>, Vec<PathBuf>)> {
    let files = files(base, place, path, problems)?;
    match files.as_slice() {
        [folder] if folder.is_dir() => {
            let (found, more) = ApiSource::files_in(folder);
            problems.extend(more);
            if found.is_empty() {
                let reason = format!("no file in {} describes an API", folder.display());
                problems.push(Problem::error(place, reason).advise("name the file itself, or another folder"));
                return None;
            }
            Some((Some(folder.clone()), found))
        }
        _ => Some((None, files)),
    }
}

fn named(files: &[PathBuf], in_folder: bool) -> Vec<String> {
    let stems = expand::names(files).into_iter().map(|stem| stem.trim_end_matches(".openapi").to_owned());
    let name = |(stem, file): (String, &PathBuf)| match file.parent().and_then(Path::file_name) {
        Some(folder) if in_folder && PLAIN_NAMES.contains(&stem.as_str()) => folder.to_string_lossy().into_owned(),
        _ => stem,
    };
    stems.zip(files).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with an API in two files, loaded through a cache in the folder `state`.
    async fn check(folder: &Path, path: &str, expected: &[&str], problems_expected: usize) {
        let entry = ApiEntry { path: path.into(), ..ApiEntry::default() };
        let cache = Cache::new(folder.join("state"), false);
        let mut problems = Vec::new();
        let web = Web::new(folder, &Default::default(), false);
        let (apis, callable) = load(Path::new("c.yaml"), folder, vec![entry], &cache, &web, &mut problems).await;
        assert!(callable.is_empty());
        assert_eq!(apis.operation_ids().collect::<Vec<_>>(), expected);
        assert_eq!(problems.len(), problems_expected, "{problems:?}");
    }

    fn write(folder: &Path, name: &str, text: &str) {
        std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.join(name), text).unwrap();
    }

    #[test]
    fn a_description_over_which_a_reader_panics_costs_itself() {
        let problem = loaded::<()>("c.yaml:3", || panic!("not a boundary")).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "error: c.yaml:3: the API cannot be read: the reader failed: not a boundary (take it out of the catalog)"
        );
    }

    #[tokio::test]
    async fn a_folder_holds_apis_and_their_pieces() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "apis/shop/openapi.yaml", "openapi: 3.0.0\npaths: {/a: {$ref: '../shared/a.yaml'}}");
        write(folder.path(), "apis/shared/a.yaml", "get: {operationId: getA}");
        write(folder.path(), "apis/bank.graphqls", "type Query { rate: Int }");
        write(folder.path(), "empty/readme.md", "");
        check(folder.path(), "apis", &["bank.rate", "shop.getA"], 0).await;
        check(folder.path(), "apis/shop/openapi.yaml", &[], 1).await;
        check(folder.path(), "empty", &[], 1).await;
    }

    #[tokio::test]
    async fn definitions_of_tools_are_an_api_that_is_never_called() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "tracker.json", r#"{"tools": [{"name": "close_issue", "inputSchema": {}}]}"#);
        check(folder.path(), "tracker.json", &["tracker.close_issue"], 0).await;
        let entry = ApiEntry {
            path: "tracker.json".into(),
            kind: Some("mcp".into()),
            invoke: Some(Invoke::default()),
            ..ApiEntry::default()
        };
        let cache = Cache::new(folder.path().join("state"), false);
        let mut problems = Vec::new();
        let web = Web::new(folder.path(), &Default::default(), false);
        let (apis, _) = load(Path::new("c.yaml"), folder.path(), vec![entry], &cache, &web, &mut problems).await;
        assert_eq!(apis.operation_ids().collect::<Vec<_>>(), ["tracker.close_issue"]);
        assert!(problems[0].place == "c.yaml:0" && problems[0].reason.contains("not called"), "{problems:?}");
    }

    #[tokio::test]
    async fn a_change_in_a_file_that_is_referred_to_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "main.yaml", "openapi: 3.0.0\npaths: {/a: {$ref: 'a.yaml'}}");
        write(folder.path(), "a.yaml", "get: {operationId: old}");
        check(folder.path(), "main.yaml", &["main.old"], 0).await;
        check(folder.path(), "main.yaml", &["main.old"], 0).await;
        write(folder.path(), "a.yaml", "get: {operationId: brandNew}");
        check(folder.path(), "main.yaml", &["main.brandNew"], 0).await;
    }
}
