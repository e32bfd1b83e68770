//! The catalog: the YAML file and the opened sources that it names.

mod apis;
mod cache;
mod current;
mod databases;
mod documents;
pub(crate) mod edit;
mod engines;
mod entry;
mod error;
mod evidence;
mod facts;
mod file;
pub(crate) mod file_schema;
mod fiscal_year;
pub(crate) mod health;
pub(crate) mod included;
mod instructions;
pub(crate) mod mcp;
mod meaning;
mod metrics;
mod names;
mod node;
pub(crate) mod preload;
pub(crate) mod proposed_joins;
mod redaction;
mod section;
mod segments;
mod skills;
mod source;
pub(crate) mod state;
mod time_zone;
mod uses;
mod value;
mod verified;
mod web;
mod web_search;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::Arc,
};

use prospector_api::ApiDiscovery;
use prospector_connect::Connector;
use prospector_core::mark::redact::Redactor;
use prospector_core::problem::Severity;
use prospector_core::record::Record;
use prospector_core::{Owner, Problem};
use prospector_documents::{DocumentDiscovery, refresh::Refreshed};
use prospector_engine::options::{EngineOptions, SubsetMemory, Workers};
use prospector_facts::{FactDiscovery, model::Keeping};
use prospector_fetch::Rule;
use prospector_mcp::ServerSessions;
use prospector_queries::VerifiedQueries;
use prospector_schema::SchemaDiscovery;
use prospector_search::embed::Embedder;
use prospector_search::{Index, RefreshReport};
use prospector_semantics::SemanticModel;
use prospector_skills::SkillDiscovery;
use prospector_state::{create_folder, remove_leftovers};
use tokio_util::sync::CancellationToken;

use self::{
    apis::{ApiEntry, Apis},
    cache::Cache,
    databases::{Databases, refresh_values},
    documents::Documents,
    engines::engine_over,
    evidence::CatalogEvidence,
    facts::Facts,
    mcp::{Mcp, McpEntry, caller::CatalogCaller, offer},
    meaning::Meaning,
    metrics::Metrics,
    preload::Preload,
    section::{Folders, Opening, Section},
    skills::Skills,
    source::CatalogText,
    web::{FetchEntry, Web},
};
pub use self::{error::CatalogError, source::CatalogSource};
use crate::{
    environment::{self, Environment},
    paths,
    piece::PromptCache,
};

/// Options for opening a catalog.
pub struct CatalogOptions<'a> {
    /// The folder of the index and the fact store; by default `.prospector` next to the catalog file.
    pub state: Option<PathBuf>,
    /// The lookup of `${NAME}` values.
    pub environment: Environment<'a>,
    /// The home folder, whose skills are discovered too.
    pub home: Option<PathBuf>,
    /// The embedding model; without it, search is lexical only.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Describes every source again, even if unchanged, and rebuilds the index.
    pub fresh: bool,
    /// Lists the tools of all MCP servers again; otherwise only those of servers never listed before.
    pub relist: bool,
    /// The processes that plan and compute such queries; without any, this process does. Share one pool among all catalogs of a program.
    pub workers: Option<Workers>,
    /// The memory for data loaded by query sessions. Share one among all catalogs of a program.
    pub subsets: SubsetMemory,
    /// The sessions of MCP servers, which a reopened catalog continues. Share them among all catalogs of a program.
    pub sessions: ServerSessions,
    /// Cancels the opening; checked between files. The index then remains as it was.
    pub cancel: CancellationToken,
    /// Receives the stage, such as `sources` or `documents`, the number done and the total; called from several threads.
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
            relist: false,
            workers: None,
            subsets: SubsetMemory::default(),
            sessions: ServerSessions::default(),
            cancel: CancellationToken::new(),
            progress: &|_, _, _| (),
        }
    }
}

impl CatalogOptions<'_> {
    /// Returns the state that the sections of a catalog are loaded with.
    fn begin<'a>(
        &'a self,
        file: &'a Path,
        folders: Folders<'a>,
        fetch: &FetchEntry,
        problems: Vec<Problem>,
    ) -> Opening<'a> {
        Opening {
            file,
            folders,
            cache: Cache::of_state(folders.state, self.fresh),
            web: Web::new(folders.state, fetch, self.fresh),
            lookup: self.environment,
            sessions: &self.sessions,
            relist: self.relist || self.fresh,
            progress: self.progress,
            problems,
        }
    }

    /// Returns the engine options; queries spill to disk in the state folder.
    fn engine(&self, state: &Path) -> EngineOptions {
        EngineOptions {
            scratch: Some(state.join("scratch")),
            workers: self.workers.clone(),
            subsets: self.subsets.clone(),
            ..EngineOptions::default()
        }
    }
}

/// Everything that a catalog names, opened and indexed. A clone shares all of it.
#[derive(Clone)]
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
    /// Metrics, with the entities, joins and dimensions they use.
    pub metrics: Arc<SemanticModel>,
    /// Verified queries.
    pub verified: Arc<VerifiedQueries>,
    /// The folder for approved queries, if the catalog names one.
    pub verified_folder: Option<PathBuf>,
    /// One index over all entries.
    pub index: Index,
    /// The catalog maintainer's instructions for every model; often empty.
    pub instructions: String,
    /// Whether clients of a server may run their own queries.
    pub queries: bool,
    /// Whether web search is used to look up terms.
    searches_web: bool,
    /// Tables worth pinning in a prompt.
    pub(crate) preload: Preload,
    /// Changes made to the index when the catalog was opened.
    pub refreshed: RefreshReport,
    /// Number of errors that were reported when the catalog was opened: what they concern is not loaded.
    errors: usize,
    /// Number of documents changed since the catalog was last opened.
    pub documents_refreshed: Refreshed,
    /// Calls the APIs that the catalog allows to be called.
    caller: Arc<CatalogCaller>,
    /// The connector of each database of `schema`, in the same order.
    connectors: Vec<Option<Arc<dyn Connector>>>,
    /// Options of its engine.
    engine: EngineOptions,
    /// Redacts locations of its sources.
    surroundings: Arc<Redactor>,
    /// The same redactor, after [`Catalog::redact_errors`].
    redactor: Option<Arc<Redactor>>,
    /// Token measurements for its prompts.
    pub(crate) prompts: Arc<PromptCache>,
}

impl Catalog {
    /// Parses the catalog, opens its sources and updates the index. Sources that cannot be read, or only partially, are reported as
    /// problems; the others are available. If the disk is full or the state folder is read-only, the previous index or an in-memory index
    /// is used, with a problem.
    ///
    /// # Errors
    /// If the catalog file cannot be read, a source matches nothing, no source can be opened, the state folder cannot be created, or
    /// opening is cancelled.
    pub async fn open(
        source: impl Into<CatalogSource>,
        options: CatalogOptions<'_>,
    ) -> Result<(Catalog, Vec<Problem>), CatalogError> {
        let contents = read(&source.into(), &options)?;
        let (text, state) = (contents.text, contents.state.clone());
        let cancel = options.cancel.clone();
        let opening = Catalog::open_text(&text, contents.file, contents.problems, &state, options);
        let opened = tokio::select! {
            opened = opening => opened,
            () = cancel.cancelled() => Err(CatalogError::Cancelled),
        };
        let (catalog, mut problems) = opened?;
        text.place(&mut problems);
        if text.made_of.is_some() && catalog.is_empty() && has_errors(&problems) {
            return Err(CatalogError::Nothing { problems });
        }
        Ok((catalog, problems))
    }

    async fn open_text(
        text: &CatalogText,
        file: file::CatalogFile,
        problems: Vec<Problem>,
        state: &Path,
        options: CatalogOptions<'_>,
    ) -> Result<(Catalog, Vec<Problem>), CatalogError> {
        let (path, state) = (text.path.as_path(), state.to_owned());
        let surroundings = Arc::new(redaction::hide_surroundings(&file, text, &state));
        create_folder(&state).map_err(|source| CatalogError::State { path: state.clone(), source })?;
        state::tighten(&state);
        remove_leftovers(&state);
        let folders = text.folders(&state, options.home.as_deref(), &options.cancel);
        // Taken before anything is read, so that files that change meanwhile are read again next time.
        let files = current::fingerprint(path, &file, &folders, options.embedder.as_deref());
        let mut opening = options.begin(path, folders, &file.fetch, problems);

        let (schema, opened) = load(Databases, file.databases, &mut opening).await?;
        let (apis, caller) = load_operations(&file.fetch.allow, file.apis, file.mcp, &mut opening).await?;
        let (documents, documents_refreshed) = load(Documents, file.documents, &mut opening).await?;
        let skills = load(Skills, file.skills, &mut opening).await?;
        let (index, unreadable) = state::open_index(&state, options.embedder.clone())?;
        let web_search = file.web_search.map(|entry| opening.web.search(entry));
        let searches_web = web_search.is_some();
        let evidence = CatalogEvidence::new(&schema, &documents, web_search);
        // Texts of MCP servers define no terms.
        let (documents, skills) = offer::add(documents, skills, &caller.servers);
        let (entities, joins, dimensions, segments) = (file.entities, file.joins, file.dimensions, file.segments);
        let (fiscal_year, time_zone, queries, tables) = (file.fiscal_year, file.time_zone, Vec::new(), schema.clone());
        let metrics =
            Metrics { entities, joins, dimensions, segments, queries, fiscal_year, time_zone, schema: tables };
        let mut engine = options.engine(&state);
        let sources = engine_over(&schema, &opened.connectors, engine.clone());
        let meaning = Meaning::load(metrics, file.metrics, file.verified_queries, &sources, &mut opening).await?;
        let Meaning { metrics, verified, folder: verified_folder, named } = meaning;
        let schema = metrics::declare_keys(schema, &metrics);
        engine.named = named;
        let terms = metrics::define_terms(&metrics);
        let facts = load(Facts { evidence, terms }, file.facts, &mut opening).await?;

        let mut catalog = Catalog {
            engine,
            surroundings,
            redactor: None,
            verified,
            verified_folder,
            prompts: Arc::default(),
            caller,
            connectors: opened.connectors.clone(),
            schema,
            apis,
            documents,
            skills,
            facts,
            metrics,
            index,
            instructions: file.instructions,
            queries: file.queries,
            searches_web,
            preload: file.context_preload.preload.clone(),
            refreshed: RefreshReport::default(),
            errors: 0,
            documents_refreshed,
        };
        let unknown = preload::check(&catalog, &file.context_preload, |line| opening.place(line));
        opening.problems.extend(unknown);
        let records = || catalog.records();
        catalog.refreshed =
            state::bring_up_to_date(&catalog.index, records, unreadable, options.fresh, &state, &mut opening)?;
        refresh_values(&catalog.schema, &opened, &catalog.index, options.fresh, &mut opening).await;
        let mut problems = opening.problems;
        catalog.caller.servers.end_others(&options.sessions, &state);
        if let (Some(files), Some(index), false) = (files, stamp(&catalog.index), has_errors(&problems)) {
            opening.cache.put(current::INDEX, &files, &index);
        }
        catalog.errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
        problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
        Ok((catalog, problems))
    }

    /// Opens only the index if it is current, which is fast for catalogs of any size. Returns `None` if anything may have changed, or was
    /// unreadable, since the last [`Catalog::open`]; refreshes nothing.
    ///
    /// # Errors
    /// If the catalog file cannot be read, or a source matches nothing.
    pub fn open_index(
        source: impl Into<CatalogSource>,
        options: &CatalogOptions<'_>,
    ) -> Result<Option<Index>, CatalogError> {
        let Contents { text, file, problems, state } = read(&source.into(), options)?;
        state::tighten(&state);
        let folders = text.folders(&state, options.home.as_deref(), &options.cancel);
        let files = current::fingerprint(&text.path, &file, &folders, options.embedder.as_deref());
        let known = |files: String| Cache::of_state(&state, options.fresh).get::<String>(current::INDEX, &files);
        let Some(current) = files.filter(|_| !has_errors(&problems)).and_then(known) else { return Ok(None) };
        let index = Index::open(&state.join("index"), options.embedder.clone())?;
        let shown = stamp(&index).is_some_and(|index| index == current);
        // An index written by another version of this program opens empty.
        Ok((shown && !index.is_empty()).then_some(index))
    }

    /// Returns the catalog as another owner sees it: without the private facts of other owners. New facts of this owner are stored
    /// according to `keeping`.
    pub fn seen_by(&self, owner: Owner, keeping: Keeping) -> Catalog {
        Catalog { facts: Arc::new(self.facts.seen_by(owner, keeping)), ..self.clone() }
    }

    /// Redacts files, addresses, hosts and accounts from errors of tools and engine, for a server whose clients are not its operator. The
    /// log contains the full messages.
    pub fn redact_errors(mut self) -> Catalog {
        let redactor = self.surroundings.clone();
        self.schema.redact_errors(redactor.clone());
        self.engine.redactor = Some(redactor.clone());
        self.redactor = Some(redactor);
        self
    }

    /// Returns the redactor for errors of its tools; `None` before [`Catalog::redact_errors`].
    pub fn redactor(&self) -> Option<Arc<Redactor>> {
        self.redactor.clone()
    }

    /// Redacts a message for the clients of a server: see [`Catalog::redact_errors`].
    pub fn redact<'t>(&self, message: &'t str) -> Cow<'t, str> {
        self.redactor.as_ref().map_or(Cow::Borrowed(message), |redactor| redactor.redact(message))
    }

    /// Returns whether no source could be opened and the index is empty.
    pub fn is_empty(&self) -> bool {
        self.schema.databases().len() == 0
            && self.apis.apis().is_empty()
            && self.documents.documents().is_empty()
            && self.skills.skills().is_empty()
            && self.caller.servers.records().is_empty()
            && self.index.is_empty()
    }

    /// Returns whether the catalog may define terms: [`Catalog::defines_terms`], or notes on tables and columns.
    pub(crate) fn has_terms(&self) -> bool {
        self.defines_terms() || self.schema.has_notes()
    }

    /// Returns whether the catalog contains facts, metrics, documents or web search. Notes on tables and columns do not count: they are
    /// shown with their tables.
    pub(crate) fn defines_terms(&self) -> bool {
        self.searches_web
            || !self.metrics.metrics().is_empty()
            || !self.documents.documents().is_empty()
            || !self.facts.records().is_empty()
    }

    /// Returns the records of all entries, as they are indexed.
    pub fn records(&self) -> Vec<Record> {
        let mut records = [
            self.schema.records(),
            self.apis.records(),
            self.documents.records(),
            self.facts.records(),
            self.skills.records(),
            self.metrics.records(),
            self.verified.records(),
        ]
        .concat();
        uses::add_uses(&mut records, &self.metrics, &self.verified);
        records
    }
}

/// Loads all entries of a section.
///
/// # Errors
/// [`CatalogError::Cancelled`], so that nothing incomplete is indexed.
async fn load<S: Section>(
    section: S,
    entries: Vec<S::Entry>,
    opening: &mut Opening<'_>,
) -> Result<S::Loaded, CatalogError> {
    let loaded = section.load(entries, opening).await;
    opening.check_wanted().map(|()| loaded)
}

/// Loads the APIs and the tools of MCP servers, with the caller of both.
async fn load_operations(
    allow: &[Rule],
    apis: Vec<ApiEntry>,
    servers: Vec<McpEntry>,
    opening: &mut Opening<'_>,
) -> Result<(Arc<ApiDiscovery>, Arc<CatalogCaller>), CatalogError> {
    let (apis, http) = load(Apis { allow }, apis, opening).await?;
    let (servers, tools) = load(Mcp { apis: &apis, allow }, servers, opening).await?;
    let mut apis = Arc::unwrap_or_clone(apis);
    apis.extend(tools);
    Ok((Arc::new(apis), Arc::new(CatalogCaller { http, servers })))
}

/// Returns the version of an index and its values.
fn stamp(index: &Index) -> Option<String> {
    Some(format!("{} {}", index.stamp()?, index.values_stamp().unwrap_or_default()))
}

/// Returns whether any problem is an error, i.e. a source could not be used.
fn has_errors(problems: &[Problem]) -> bool {
    problems.iter().any(|problem| problem.severity == Severity::Error)
}

/// A parsed catalog with its text and state folder.
struct Contents {
    text: CatalogText,
    file: file::CatalogFile,
    problems: Vec<Problem>,
    state: PathBuf,
}

fn read(source: &CatalogSource, options: &CatalogOptions<'_>) -> Result<Contents, CatalogError> {
    let text = source.text()?;
    let (file, problems) = file::parse(&text.path, &text.text, options.environment)?;
    let problems = text.problems.iter().cloned().chain(problems).collect();
    let state = state::folder(options.state.as_deref(), &text.base)?;
    Ok(Contents { text, file, problems, state })
}
