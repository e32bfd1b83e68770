//! The APIs of a catalog: loads their descriptions, and which of them may be called.

mod fetched;
pub(super) mod invoke;
mod reads;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use prospector_api::{Api, ApiDiscovery, ApiKind, ApiSource};
use prospector_core::Problem;
use prospector_core::work::catch_panic;
use prospector_fetch::Rule;

use self::invoke::{HttpCaller, Invoke};
use super::{
    cache::{self, Cache},
    entry::Fields,
    file_schema,
    paths::{PLAIN_API_NAMES, files, names, watch},
    section::{Folders, Opening, Section},
};

/// The APIs section, with the private hosts that may be contacted.
pub(super) struct Apis<'a> {
    pub(super) allow: &'a [Rule],
}

/// An entry of `apis`.
#[derive(Debug, Default)]
pub(super) struct ApiEntry {
    pub(super) line: u64,
    pub(super) name: Option<String>,
    pub(super) kind: Option<ApiKind>,
    /// Empty if the description is fetched.
    pub(super) path: String,
    /// The URL of the description, with values from the environment.
    pub(super) fetched: Option<String>,
    /// As written, with `${NAME}` unexpanded: models see it, and a value from the environment may be a secret.
    pub(super) url: Option<String>,
    pub(super) description: String,
    pub(super) operations: Vec<String>,
    /// Operations sent as POST that change nothing: names or patterns, each with its line.
    pub(super) reads: Vec<(String, u64)>,
    /// How it may be called, if at all.
    pub(super) invoke: Option<Invoke>,
}

/// Checks an entry.
pub(super) fn check(fields: &mut Fields<'_>, written: file_schema::ApiEntry) -> Option<ApiEntry> {
    let (path, fetched) = match (&written.path, &written.url) {
        (None, Some(url)) => (String::new(), Some(fields.address("url", Some(url.clone()))?)),
        (path, _) => (fields.path("the file that describes the API", path.clone())?, None),
    };
    let served = written.url.clone().filter(|_| fetched.is_none());
    let find_kind = |word: &str| ApiKind::ALL.into_iter().find(|kind| kind.as_str() == word);
    Some(ApiEntry {
        line: fields.line(),
        name: fields.name(written.name),
        kind: fields.word("type", written.kind, "API type", &ApiKind::ALL.map(ApiKind::as_str), find_kind),
        invoke: invoke::read(fields, written.invoke, written.headers, served, fetched.as_deref()),
        path,
        fetched,
        url: written.url,
        description: written.description.unwrap_or_default(),
        operations: written.operations.unwrap_or_default(),
        reads: fields.with_lines("reads", written.reads),
    })
}

impl Section for Apis<'_> {
    type Entry = ApiEntry;
    /// The APIs, and the caller of those that may be called.
    type Loaded = (Arc<ApiDiscovery>, Arc<HttpCaller>);

    fn files(entries: &[ApiEntry], folders: &Folders<'_>) -> Option<Vec<PathBuf>> {
        if entries.iter().any(|entry| entry.fetched.is_some()) {
            return None;
        }
        let described = Cache::of_state(folders.state, false);
        let mut watched = Vec::new();
        for entry in entries {
            for path in files(folders.base, "", &entry.path, folders.cancel, &mut Vec::new())? {
                if path.is_file() {
                    watched.extend(references(&described, &path));
                }
                watch(&path, folders.cancel, &mut watched)?;
            }
        }
        Some(watched)
    }

    /// A file is one API; a pattern is one API per file; a folder is one API per description, whose references may point to any file of the
    /// folder.
    async fn load(self, entries: Vec<ApiEntry>, opening: &mut Opening<'_>) -> Self::Loaded {
        let mut loaded = Loaded::default();
        for entry in entries {
            loaded.add(&entry, opening).await;
        }
        (Arc::new(ApiDiscovery::new(loaded.apis)), Arc::new(HttpCaller::new(loaded.callable, self.allow)))
    }
}

/// The APIs loaded so far.
#[derive(Default)]
struct Loaded {
    apis: Vec<Api>,
    /// Names and call settings of the APIs that may be called.
    callable: Vec<(String, Invoke)>,
}

impl Loaded {
    /// Loads the APIs of an entry.
    async fn add(&mut self, entry: &ApiEntry, opening: &mut Opening<'_>) {
        let place = opening.place(entry.line);
        let before = self.apis.len();
        match &entry.fetched {
            Some(url) => self.fetch(entry, url, &place, opening).await,
            None => self.read(entry, &place, opening),
        }
        reads::mark_reads(&mut self.apis[before..], &entry.reads, opening);
    }

    /// Loads an API whose description is on a server.
    async fn fetch(&mut self, entry: &ApiEntry, url: &str, place: &str, opening: &mut Opening<'_>) {
        let name = entry.name.clone().unwrap_or_else(|| fetched::name(url));
        if self.is_taken(&name, place, &mut opening.problems) {
            return;
        }
        let mut invoke = entry.invoke.clone();
        if let Some(invoke) = invoke.as_mut().filter(|_| fetched::is_endpoint(url, entry.kind)) {
            invoke.base = Some(url.to_owned());
        }
        self.callable.extend(invoke.map(|invoke| (name.clone(), invoke)));
        let api = fetched::load(place, url, source(entry, name), opening).await;
        api.iter().for_each(|api| warn_of_calls(api, entry, place, &mut opening.problems));
        self.apis.extend(api);
    }

    /// Loads the APIs whose descriptions are files.
    fn read(&mut self, entry: &ApiEntry, place: &str, opening: &mut Opening<'_>) {
        let found = find(&opening.folders, place, &entry.path, &mut opening.problems);
        let Some((folder, files)) = found else { return };
        let names = match (&entry.name, files.len()) {
            (Some(name), 1) => vec![name.clone()],
            (Some(name), _) => names(&files).into_iter().map(|stem| format!("{name}_{stem}")).collect(),
            (None, _) => names_of(&files, folder.is_some()),
        };
        for (name, file) in names.into_iter().zip(files) {
            if self.is_taken(&name, place, &mut opening.problems) {
                continue;
            }
            self.callable.extend(entry.invoke.clone().map(|invoke| (name.clone(), invoke)));
            let source = ApiSource { path: file, folder: folder.clone(), ..source(entry, name) };
            match catch(place, || load_one(&source, &opening.cache)) {
                Ok((api, problems)) => {
                    warn_of_calls(&api, entry, place, &mut opening.problems);
                    self.apis.push(api);
                    opening.problems.extend(problems);
                }
                Err(problem) => opening.problems.push(problem),
            }
        }
    }

    /// Returns whether the name is already in use, and reports it.
    fn is_taken(&self, name: &str, place: &str, problems: &mut Vec<Problem>) -> bool {
        let Some(known) = self.apis.iter().find(|api| api.name.eq_ignore_ascii_case(name)) else { return false };
        let reason = format!("duplicate API name `{}`; the first is used", known.name);
        problems.push(Problem::warning(place, reason).advise("rename one of them with `name`"));
        true
    }
}

/// Warns if an entry allows calls of an API that is only described.
fn warn_of_calls(api: &Api, entry: &ApiEntry, place: &str, problems: &mut Vec<Problem>) {
    if api.kind == ApiKind::Mcp && entry.invoke.is_some() {
        let reason = format!("`invoke` of `{}` is ignored: a tool list is only described, never called", api.name);
        problems.push(Problem::warning(place, reason).advise("remove `invoke`, or add the server under `mcp`"));
    }
}

/// Returns the loaded description; a panic of the parser becomes a problem and does not affect other APIs.
fn catch<T>(place: &str, load: impl FnOnce() -> Result<T, Problem>) -> Result<T, Problem> {
    catch_panic(load).unwrap_or_else(|reason| {
        Err(Problem::error(place, format!("the API cannot be read: {reason}")).advise("remove it from the catalog"))
    })
}

/// Converts an entry to an API source without a path.
fn source(entry: &ApiEntry, name: String) -> ApiSource {
    ApiSource {
        name,
        kind: entry.kind,
        url: entry.url.clone(),
        description: (!entry.description.is_empty()).then(|| entry.description.clone()),
        allow: entry.operations.clone(),
        ..ApiSource::default()
    }
}

/// Returns the files that an API referred to when it was last read; a change in one of them invalidates the API.
fn references(cache: &Cache, file: &Path) -> Vec<PathBuf> {
    cache.get(&references_key(file), "").unwrap_or_default()
}

fn references_key(file: &Path) -> String {
    format!("files of api {}", file.display())
}

fn load_one(source: &ApiSource, cache: &Cache) -> Result<(Api, Vec<Problem>), Problem> {
    let key = format!("api {}", source.name);
    let settings = format!("{source:?}");
    let stamp = |others: &[PathBuf]| {
        let files: Vec<&Path> = std::iter::once(&source.path).chain(others).map(PathBuf::as_path).collect();
        cache::fingerprint(&files, &settings)
    };
    let before = references(cache, &source.path);
    if let Some(stored) = cache.get(&key, &stamp(&before)) {
        return Ok(stored);
    }
    let loaded = source.load()?;
    let files = &loaded.0.files;
    if *files != before {
        cache.put(&references_key(&source.path), "", files);
    }
    cache.put(&key, &stamp(files), &loaded);
    Ok(loaded)
}

/// Returns the folder, if the path is one, and the files that describe an API. Returns `None` and reports a problem if no file does.
fn find(
    folders: &Folders<'_>,
    place: &str,
    path: &str,
    problems: &mut Vec<Problem>,
) -> Option<(Option<PathBuf>, Vec<PathBuf>)> {
    let files = files(folders.base, place, path, folders.cancel, problems)?;
    match files.as_slice() {
        [folder] if folder.is_dir() => {
            let (found, more) = ApiSource::files_in(folder);
            problems.extend(more);
            if found.is_empty() {
                let reason = format!("no file in {} describes an API", folder.display());
                problems.push(Problem::error(place, reason).advise("specify the file itself or another folder"));
                return None;
            }
            Some((Some(folder.clone()), found))
        }
        _ => Some((None, files)),
    }
}

fn names_of(files: &[PathBuf], in_folder: bool) -> Vec<String> {
    let stems = names(files).into_iter().map(|stem| stem.trim_end_matches(".openapi").to_owned());
    let name = |(stem, file): (String, &PathBuf)| match file.parent().and_then(Path::file_name) {
        Some(folder) if in_folder && PLAIN_API_NAMES.contains(&stem.as_str()) => folder.to_string_lossy().into_owned(),
        _ => stem,
    };
    stems.zip(files).map(name).collect()
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::{super::web::Web, *};

    /// Loads one entry, with the folder as its own state folder: the operations and the problems.
    async fn load(folder: &Path, entry: ApiEntry) -> (Vec<String>, Vec<Problem>) {
        let mut opening = Opening {
            file: Path::new("c.yaml"),
            folders: Folders {
                base: folder,
                state: folder,
                home: None,
                usual_skills: true,
                cancel: &CancellationToken::new(),
            },
            cache: Cache::of_state(folder, false),
            web: Web::new(folder, &Default::default(), false),
            lookup: &|_| None,
            sessions: &Default::default(),
            relist: false,
            progress: &|_, _, _| (),
            problems: Vec::new(),
        };
        let (apis, _) = Apis { allow: &[] }.load(vec![entry], &mut opening).await;
        (apis.operation_ids().map(|id| id.to_string()).collect(), opening.problems)
    }

    /// Checks the operations and the number of problems of a path.
    async fn check(folder: &Path, path: &str, expected: &[&str], problems_expected: usize) {
        let (operations, problems) = load(folder, ApiEntry { path: path.into(), ..ApiEntry::default() }).await;
        assert_eq!(operations, expected);
        assert_eq!(problems.len(), problems_expected, "{problems:?}");
    }

    fn write(folder: &Path, name: &str, text: &str) {
        std::fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.join(name), text).unwrap();
    }

    #[test]
    fn a_panicking_parser_does_not_affect_other_apis() {
        let problem = catch::<()>("c.yaml:3", || panic!("not a boundary")).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "error: c.yaml:3: the API cannot be read: the parser panicked: not a boundary (remove it from the catalog)"
        );
    }

    #[tokio::test]
    async fn finds_apis_and_referenced_files_in_a_folder() {
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
    async fn tool_definitions_are_never_called() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "tracker.json", r#"{"tools": [{"name": "close_issue", "inputSchema": {}}]}"#);
        check(folder.path(), "tracker.json", &["tracker.close_issue"], 0).await;
        let entry = ApiEntry {
            path: "tracker.json".into(),
            kind: Some(ApiKind::Mcp),
            invoke: Some(Invoke::default()),
            ..ApiEntry::default()
        };
        let (operations, problems) = load(folder.path(), entry).await;
        assert_eq!(operations, ["tracker.close_issue"]);
        assert!(problems[0].place == "c.yaml:0" && problems[0].reason.contains("never called"), "{problems:?}");
    }

    #[tokio::test]
    async fn reports_unknown_names_in_reads_with_their_line() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a/shop.yaml", "openapi: 3.0.0\npaths: {/find: {post: {operationId: findOrders}}}");
        write(folder.path(), "a/bank.graphqls", "type Query { rate: Int }");
        let yaml = "apis:\n- path: a\n  reads:\n  - findOrders\n  - findOders\n";
        let (file, problems) = crate::catalog::file::parse(Path::new("c.yaml"), yaml, &|_| None).unwrap();
        assert_eq!(problems, []);
        // Loaded from the description, then from the cache.
        for _ in 0..2 {
            let entry = ApiEntry { path: "a".into(), reads: file.apis[0].reads.clone(), ..ApiEntry::default() };
            let (_, problems) = load(folder.path(), entry).await;
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            let expected = "warning: c.yaml:5: `reads`: unknown operation `findOders` (did you mean findOrders?)";
            assert_eq!(problems, [expected]);
        }
    }

    #[tokio::test]
    async fn detects_changes_in_referenced_files() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "main.yaml", "openapi: 3.0.0\npaths: {/a: {$ref: 'a.yaml'}}");
        write(folder.path(), "a.yaml", "get: {operationId: old}");
        check(folder.path(), "main.yaml", &["main.old"], 0).await;
        check(folder.path(), "main.yaml", &["main.old"], 0).await;
        write(folder.path(), "a.yaml", "get: {operationId: brandNew}");
        check(folder.path(), "main.yaml", &["main.brandNew"], 0).await;
    }
}
