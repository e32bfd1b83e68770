//! The catalog: the YAML file, and everything that it names, opened.

mod apis;
mod cache;
mod calls;
mod confluence;
mod current;
mod databases;
mod documents;
mod expand;
mod file;
mod names;
mod node;
mod services;
mod state;
mod web;
pub(crate) mod web_search;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use prospector_api::ApiDiscovery;
use prospector_connect::Connector;
use prospector_core::{Owner, Problem, Record, ResourceKind, Severity, Toolset, conceal, nearest};
use prospector_documents::{DocumentDiscovery, refresh::Refreshed};
use prospector_engine::options::{Cluster, EngineOptions, Workers};
use prospector_engine::{Engine, Source};
use prospector_facts::{Fact, FactDiscovery, Keeping};
use prospector_schema::SchemaDiscovery;
use prospector_search::{Embedder, Index, RefreshReport, SearchError};
use prospector_skills::{SkillDiscovery, SkillFolder};
use prospector_state::create_folder;

use crate::{evidence::CatalogEvidence, piece::PromptCache};
use cache::Cache;
use current::Current;
pub use expand::Environment;
pub use state::{StateReport, check_state, discard_damaged};
use web::Web;

/// The folders of skills that count without being named, beside the catalog and in the home folder.
const SKILL_FOLDERS: [&str; 3] = [".agents/skills", ".claude/skills", ".prospector/skills"];

/// How a catalog is opened.
pub struct CatalogOptions<'a> {
    /// Where the index and the fact store live; `.prospector` beside the catalog file where it is not given.
    pub state: Option<PathBuf>,
    /// Where `${NAME}` takes its values from.
    pub environment: Environment<'a>,
    /// The home folder, whose skills count too.
    pub home: Option<PathBuf>,
    /// What makes vectors; lexical search alone without it.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Describes every source anew, changed or not, and builds the index anew.
    pub fresh: bool,
    /// What computes queries over several databases, or over files, in the place of this process.
    pub cluster: Option<Cluster>,
    /// The processes that plan and compute such queries; this process where there are none. Share one among all catalogs of
    /// a program.
    pub workers: Option<Workers>,
    /// Told what is done of how many: of `sources`, then of `documents`, then of `records`; from several threads.
    pub progress: &'a (dyn Fn(&'static str, usize, usize) + Sync),
}

impl Default for CatalogOptions<'_> {
    fn default() -> Self {
        CatalogOptions {
            state: None,
            environment: &|_| None,
            home: None,
            embedder: None,
            fresh: false,
            cluster: None,
            workers: None,
            progress: &|_, _, _| (),
        }
    }
}

/// A catalog could not be opened at all.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The file could not be read.
    #[error("cannot read the catalog {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not YAML, or not a mapping.
    #[error("{}:{line}: {}", path.display(), conceal(reason))]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// What is wrong there.
        reason: String,
    },
    /// The state folder could not be written.
    #[error("cannot use the state folder {}: {source}", path.display())]
    State {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The index failed.
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// Everything that a catalog names, opened and indexed.
pub struct Catalog {
    /// Databases and files.
    pub schema: Arc<SchemaDiscovery>,
    /// APIs.
    pub apis: Arc<ApiDiscovery>,
    /// Documents.
    pub documents: Arc<DocumentDiscovery>,
    /// Skills.
    pub skills: Arc<SkillDiscovery>,
    /// Facts.
    pub facts: Arc<FactDiscovery>,
    /// One index over all of it.
    pub index: Index,
    /// Tables worth pinning in a prompt: names, or patterns with `*`.
    pub context_preload: Vec<String>,
    /// What opening it changed in the index.
    pub refreshed: RefreshReport,
    /// How many documents changed since it was opened last.
    pub documents_refreshed: Refreshed,
    /// What calls the APIs that may be called.
    caller: Arc<calls::HttpCaller>,
    /// What reads each database of `schema`, in its order.
    connectors: Vec<Option<Arc<dyn Connector>>>,
    /// What its engine may use.
    engine: EngineOptions,
    /// What was measured for its prompts.
    pub(crate) prompts: Arc<PromptCache>,
}

impl Catalog {
    /// Reads the catalog file, opens what it names and brings the index up to date. What could not be read, or not
    /// fully, is among the problems; the rest is there. Where the disk is full or the state folder read-only, the index
    /// as it was before is searched, or one that lives in memory, and a problem says so.
    ///
    /// # Errors
    /// [`CatalogError`] when the file itself cannot be read, or there is no state folder and none can be made.
    pub async fn open(path: &Path, options: CatalogOptions<'_>) -> Result<(Catalog, Vec<Problem>), CatalogError> {
        let Named { file, mut problems, base, state } = read(path, &options)?;
        create_folder(&state).map_err(|source| CatalogError::State { path: state.clone(), source })?;
        state::tighten(&state);
        // Before anything is read: what changes meanwhile is read again next time.
        let files = current::fingerprint(path, &file, &base, &state, &options);
        let cache = Cache::new(state.join("sources"), options.fresh);

        let on_source = |done, total| (options.progress)("sources", done, total);
        let (entries, more) = databases::load(path, &base, file.databases, &cache, &on_source).await;
        problems.extend(more);
        let connectors = entries.iter().map(|entry| entry.connector.clone()).collect();
        let schema = Arc::new(SchemaDiscovery::new(entries));
        let web = Web::new(&state, &file.fetch, options.fresh);
        let (apis, callable) = apis::load(path, &base, file.apis, &cache, &web, &mut problems).await;
        let apis = Arc::new(apis);
        let caller = Arc::new(calls::HttpCaller::new(callable, &file.fetch.allow));
        let on_document = |done, total| (options.progress)("documents", done, total);
        let (documents, documents_refreshed) =
            documents::load(path, &base, file.documents, &cache, &web, &on_document, &mut problems).await;
        let documents = Arc::new(documents);
        let skills = load_skills(path, &base, &file.skills, options.home.as_deref(), &mut problems);
        let skills = Arc::new(skills.with_pages(web.pages()));

        let (index, unreadable) = state::open_index(&state, options.embedder.clone())?;
        let known: Vec<Fact> = file.facts.into_iter().map(catalog_fact).collect();
        let search = file.web_search.map(|entry| web.search(entry));
        let evidence = CatalogEvidence::new(&schema, &documents, &index, search);
        let (facts, more) =
            FactDiscovery::open(Some(state.join("facts.sqlite")), known, Some(Arc::new(evidence))).await;
        problems.extend(more);

        let mut catalog = Catalog {
            engine: EngineOptions {
                scratch: Some(state.join("scratch")),
                cluster: options.cluster.clone(),
                workers: options.workers.clone(),
                ..EngineOptions::default()
            },
            prompts: Arc::default(),
            caller,
            connectors,
            schema,
            apis,
            documents,
            skills,
            facts: Arc::new(facts),
            index,
            context_preload: file.context_preload.iter().map(|entry| entry.pattern.clone()).collect(),
            refreshed: RefreshReport::default(),
            documents_refreshed,
        };
        for entry in file.context_preload.iter().filter(|entry| catalog.tables_like(&entry.pattern).is_empty()) {
            let reason = format!("no table matches `{}` of context_preload", entry.pattern);
            let near = catalog.nearest(ResourceKind::Table, &entry.pattern).into_iter().next();
            let advice = near.map_or("take it out".into(), |name| format!("did you mean `{name}`?"));
            problems.push(Problem::warning(format!("{}:{}", path.display(), entry.line), reason).advise(advice));
        }
        let on_record = |done, total| (options.progress)("records", done, total);
        catalog.refreshed = match unreadable {
            Some(error) => state::search_instead(&catalog, &state, error, &mut problems)?,
            None => match state::bring_up_to_date(&catalog, options.fresh, &on_record) {
                Err(error) => state::search_instead(&catalog, &state, error, &mut problems)?,
                Ok(report) => report,
            },
        };
        if let (Some(files), Some(index), false) = (files, catalog.index.stamp(), has_errors(&problems)) {
            Current::new(files, index).write(&state);
        }
        problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
        Ok((catalog, problems))
    }

    /// The index alone, where it still shows everything that the catalog names: enough for a search, and quick however
    /// large the catalog is. `None` where anything may have changed, or could not be read, since the last
    /// [`Catalog::open`]; nothing is refreshed here.
    ///
    /// # Errors
    /// [`CatalogError`] when the file itself cannot be read.
    pub fn open_index(path: &Path, options: &CatalogOptions<'_>) -> Result<Option<Index>, CatalogError> {
        let Named { file, problems, base, state } = read(path, options)?;
        state::tighten(&state);
        let files = current::fingerprint(path, &file, &base, &state, options);
        let (Some(files), Some(current), false, false) =
            (files, Current::read(&state), has_errors(&problems), options.fresh)
        else {
            return Ok(None);
        };
        let index = Index::open(&state.join("index"), options.embedder.clone())?;
        let shown = index.stamp().is_some_and(|index| current == Current::new(files, index));
        // An index of another version of this program opens as an empty one.
        Ok((shown && !index.is_empty()).then_some(index))
    }

    /// An engine that runs read-only queries over its databases. Nothing of it is among the tools unless the caller adds
    /// them with [`DiscoveryTools::with_engine`].
    pub fn engine(&self) -> Arc<Engine> {
        let (mut sources, mut options) = (Vec::new(), self.engine.clone());
        for (database, connector) in self.schema.databases().zip(&self.connectors) {
            match connector.clone().filter(|connector| connector.has_data()) {
                Some(connector) => sources.push(Source {
                    name: database.name.clone(),
                    tables: database.tables.clone(),
                    functions: database.functions.clone(),
                    connector,
                }),
                None => {
                    let names = database.tables.iter().map(|table| format!("{}.{}", database.name, table.name));
                    options.described.extend(names);
                }
            }
        }
        Engine::with(sources, options)
    }

    /// The same catalog as another owner sees it: all of it but the facts that others said for themselves. What this owner
    /// says is kept as `keeping` tells.
    pub fn seen_by(&self, owner: Owner, keeping: Keeping) -> Catalog {
        Catalog {
            schema: self.schema.clone(),
            apis: self.apis.clone(),
            documents: self.documents.clone(),
            skills: self.skills.clone(),
            facts: Arc::new(self.facts.seen_by(owner, keeping)),
            index: self.index.clone(),
            context_preload: self.context_preload.clone(),
            refreshed: self.refreshed.clone(),
            documents_refreshed: self.documents_refreshed,
            caller: self.caller.clone(),
            connectors: self.connectors.clone(),
            engine: self.engine.clone(),
            prompts: self.prompts.clone(),
        }
    }

    /// The tool that calls operations; nothing where no API may be called.
    pub(crate) fn calls(&self) -> Toolset {
        self.apis.calling(&self.caller.names(), self.caller.clone())
    }

    /// Whether it names nothing at all that could be opened.
    pub fn is_empty(&self) -> bool {
        self.schema.databases().len() == 0
            && self.apis.apis().is_empty()
            && self.documents.documents().is_empty()
            && self.skills.skills().is_empty()
            && self.index.is_empty()
    }

    fn records(&self) -> Vec<Record> {
        let mut records = self.schema.records();
        records.extend(self.apis.records());
        records.extend(self.documents.records());
        records.extend(self.facts.records());
        records.extend(self.skills.records());
        records
    }
}

/// Whether any of the problems cost something.
pub fn has_errors(problems: &[Problem]) -> bool {
    problems.iter().any(|problem| problem.severity == Severity::Error)
}

/// What a catalog file says, and where.
struct Named {
    file: file::CatalogFile,
    problems: Vec<Problem>,
    /// What its paths are relative to.
    base: PathBuf,
    state: PathBuf,
}

fn read(path: &Path, options: &CatalogOptions<'_>) -> Result<Named, CatalogError> {
    let text = std::fs::read_to_string(path).map_err(|source| CatalogError::Read { path: path.to_owned(), source })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let (file, problems) = file::parse(path, text, options.environment)?;
    let base = path.parent().filter(|base| !base.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
    let state = options.state.clone().unwrap_or_else(|| base.join(".prospector"));
    Ok(Named { file, problems, base, state })
}

fn catalog_fact(entry: file::FactEntry) -> Fact {
    let mut fact = Fact::new(entry.term, entry.definition, prospector_facts::Origin::Catalog);
    fact.confidence = entry.confidence;
    fact.source = entry.source.unwrap_or_else(|| "catalog".into());
    fact
}

/// The files of a path or a pattern; `None`, with the problem noted, where there are none.
fn files(base: &Path, place: &str, pattern: &str, problems: &mut Vec<Problem>) -> Option<Vec<PathBuf>> {
    let path = base.join(pattern);
    let (reason, advice) = if expand::is_glob(pattern) {
        match expand::glob(base, pattern) {
            Ok(files) if !files.is_empty() => return Some(files),
            Ok(_) => (format!("no file matches `{pattern}`"), "correct the pattern".to_owned()),
            Err(reason) => (format!("`path: {pattern}`: {reason}"), "correct the path".to_owned()),
        }
    } else if path.exists() {
        return Some(vec![path]);
    } else {
        let near = databases::nearest_file(&path);
        let advice = near.map_or("correct the path".into(), |name| format!("did you mean `{name}`?"));
        (format!("there is no file {}", path.display()), advice)
    };
    problems.push(Problem::error(place, reason).advise(advice));
    None
}

/// Skills of the project, then of the user, then those that the catalog names.
fn load_skills(
    catalog: &Path,
    base: &Path,
    entries: &[file::SkillEntry],
    home: Option<&Path>,
    problems: &mut Vec<Problem>,
) -> SkillDiscovery {
    let mut folders = skill_folders(base, home);
    for entry in entries {
        let path = base.join(&entry.path);
        if path.is_dir() {
            folders.push(SkillFolder { path, required: true });
        } else {
            let place = format!("{}:{}", catalog.display(), entry.line);
            let near = databases::nearest_file(&path);
            let advice = near.map_or("correct the path".into(), |name| format!("did you mean `{name}`?"));
            problems.push(Problem::error(place, format!("there is no folder {}", path.display())).advise(advice));
        }
    }
    let (skills, more) = SkillDiscovery::load(&folders);
    problems.extend(more);
    skills
}

/// The folders of skills that count without being named.
fn skill_folders(base: &Path, home: Option<&Path>) -> Vec<SkillFolder> {
    let of_root = |root: &Path| SKILL_FOLDERS.map(|folder| SkillFolder { path: root.join(folder), required: false });
    [Some(base), home].into_iter().flatten().flat_map(of_root).collect()
}

/// The nearest of `names`, up to three.
pub(crate) fn near<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    nearest(name, names, 3)
}
