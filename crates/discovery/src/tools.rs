//! The tool registry: the tools for each kind of entry in the catalog, and the search over all kinds.

use std::sync::Arc;

use prospector_api::ApiDiscovery;
use prospector_core::record::ResourceKind;
use prospector_core::tool::{Answer, Effect, Tool, ToolError, ToolErrorCode, ToolSpec, Toolset};
use prospector_engine::Engine;
use prospector_queries::VerifiedQueries;
use prospector_search::Index;
use prospector_semantics::SemanticModel;
use serde_json::Value;

use crate::{
    Catalog, Profile, compact,
    query_tools::{QueryTools, keep_compact, partition},
    search_all::SearchAll,
    target::{Detail, TargetResolver},
};

/// Returns all tools by kind of entry, each kind with whether the catalog has it. Tools for kinds that it lacks are not listed.
fn families(catalog: &Catalog) -> [(bool, Toolset); 8] {
    let Catalog { schema, apis, documents, facts, skills, metrics, verified, index, .. } = catalog;
    let has_metrics = !metrics.metrics().is_empty();
    let search = SearchAll { index: index.clone(), schemas: schema.clone(), apis: apis.clone() };
    [
        (schema.databases().len() > 0, schema.tools(index)),
        (!apis.apis().is_empty(), apis.tools(index)),
        (!documents.documents().is_empty(), documents.tools(index)),
        (!catalog.is_empty(), facts.tools()),
        (!skills.skills().is_empty(), skills.tools(index)),
        (has_metrics || !metrics.segments().is_empty(), metrics.tools(has_metrics.then(|| catalog.engine()))),
        (!verified.queries().is_empty(), verified.tools()),
        (!catalog.is_empty(), Toolset::new().with(search)),
    ]
}

/// The tools of a catalog. The agent loop, the command line and all servers call them through [`DiscoveryTools::call`].
#[derive(Clone)]
pub struct DiscoveryTools {
    profile: Profile,
    tools: Toolset,
    /// Tools that can be called but are not listed, such as those of the other profile.
    unlisted: Toolset,
    /// Tools for kinds that the catalog lacks.
    absent: Toolset,
    /// The query tools, available with an engine.
    queries: Option<QueryTools>,
    /// Resolves entries to tools of the full set, for every profile.
    targets: Option<Arc<TargetResolver>>,
    /// The note that entries of the catalog are missing, see [`Catalog::describe_errors`].
    errors: Option<String>,
}

impl DiscoveryTools {
    /// The name of the tool that runs queries, added by [`DiscoveryTools::with_engine`]: each is an item of its argument `queries`, with
    /// `question`, `sql` and optionally `database`.
    pub const QUERY_TOOL: &'static str = Engine::QUERY_TOOL;

    /// The name of the tool that returns results of earlier queries, added by [`DiscoveryTools::with_engine`].
    pub const RESULTS_TOOL: &'static str = Engine::RESULTS_TOOL;

    /// The name of the tool that lists metrics, if the catalog has any.
    pub const LIST_METRICS: &'static str = SemanticModel::LIST_TOOL;
    /// The name of the tool that describes a metric, if the catalog has any.
    pub const SHOW_METRIC: &'static str = SemanticModel::SHOW_TOOL;

    /// The name of the tool that computes metrics and questions, added by [`DiscoveryTools::with_engine`]. It is not listed if no metric is
    /// declared. For a question that a verified query answers it returns `verified_query` and `parameters`, for
    /// [`DiscoveryTools::RUN_VERIFIED_TOOL`].
    pub const METRICS_TOOL: &'static str = SemanticModel::QUERY_TOOL;

    /// The name of the tool that calls operations, if the catalog allows it: its arguments are `api`, `operation` and `arguments`; its
    /// result contains `answer`.
    pub const INVOKE_TOOL: &'static str = ApiDiscovery::INVOKE_TOOL;

    /// The name of the tool that runs a verified query by `name` with `parameters`, added by [`DiscoveryTools::with_engine`].
    pub const RUN_VERIFIED_TOOL: &'static str = VerifiedQueries::RUN_TOOL;

    /// Returns the tools of a profile for the kinds of entries in the catalog.
    pub fn new(catalog: &Catalog, profile: Profile) -> Self {
        let (full, absent) = partition(families(catalog));
        let redacted = |tools: Toolset| tools.with_redactor(catalog.redactor());
        let (full, calls) = (redacted(full), catalog.calls());
        catalog.skills.offer(full.names().chain(calls.names()));
        let targets = Arc::new(TargetResolver::new(catalog, full));
        let (compact, absent_of_compact) = compact::toolsets(catalog, &targets);
        let (full, absent) = (targets.full().clone(), absent.merge(absent_of_compact));
        let (tools, unlisted) = match profile {
            Profile::Full => (full, compact),
            Profile::Compact => (compact, full),
        };
        let (tools, unlisted) = (redacted(tools), redacted(unlisted));
        // Independent of the profile: the catalog decides which operations may be called.
        let (tools, queries) = (tools.merge(calls), Some(QueryTools::of(catalog)));
        let (targets, errors) = (Some(targets), catalog.describe_errors());
        let tools = DiscoveryTools { profile, tools, unlisted, absent, queries, targets, errors };
        // Tools for terms or values are not listed if the catalog has none.
        let of_use = [(compact::RESOLVE_FACT, catalog.has_terms()), (compact::SAMPLE, catalog.schema.has_data())];
        let idle = of_use.into_iter().filter(|(_, is_of_use)| !is_of_use);
        tools.unlist(&idle.map(|(tool, _)| tool).collect::<Vec<_>>())
    }

    /// Hides `add_fact` in runs without a user.
    pub fn without_user(self) -> Self {
        self.unlist(&[compact::ADD_FACT])
    }

    /// Adds the tools that parse a question into a computation or find the verified query for it: for a planner that does not parse
    /// questions itself.
    pub fn with_reading(mut self, engine: &Arc<Engine>) -> Self {
        if let Some(queries) = &self.queries {
            self.tools = self.tools.merge(queries.reading(engine));
        }
        self
    }

    /// Hides tools that only programs need or that other tools cover, for language models.
    pub fn for_language_model(self) -> Self {
        self.unlist(&Engine::NEEDLESS_TOOLS)
    }

    /// Hides tools, which can still be called.
    fn unlist(mut self, names: &[&str]) -> Self {
        let hidden = self.tools.clone().only(names);
        self.tools = self.tools.without(&hidden);
        self.unlisted = self.unlisted.merge(hidden);
        self
    }

    /// Returns whether the tool that resolves terms is listed.
    pub(crate) fn resolves_terms(&self) -> bool {
        self.tools.has(compact::RESOLVE_FACT)
    }

    /// Returns only the search over all kinds, which needs nothing but the index: see [`Catalog::open_index`].
    pub fn of_index(index: &Index) -> Self {
        let tools =
            Toolset::new().with(SearchAll { index: index.clone(), schemas: Arc::default(), apis: Arc::default() });
        let (unlisted, absent) = (Toolset::new(), Toolset::new());
        DiscoveryTools { profile: Profile::Full, tools, unlisted, absent, queries: None, targets: None, errors: None }
    }

    /// Adds the tools that run queries in a session of an engine, see [`Catalog::engine`]; they are not part of a profile. Adds nothing
    /// without a source with rows.
    pub fn with_engine(mut self, engine: &Arc<Engine>) -> Self {
        if let Some(queries) = &self.queries {
            let split = queries.split(engine);
            self.tools = self.tools.merge(split.present);
            (self.unlisted, self.absent) = (self.unlisted.merge(split.unlisted), self.absent.merge(split.absent));
        }
        self
    }

    /// Adds the tools that answer questions in a session of an engine. In the compact profile only those for SQL are listed: the others of
    /// [`DiscoveryTools::with_engine`] can be called, but the tools of the profile cover them.
    pub fn with_queries(mut self, engine: &Arc<Engine>) -> Self {
        let Some(queries) = self.queries.as_ref().filter(|_| self.profile == Profile::Compact && !engine.is_empty())
        else {
            return self.with_engine(engine);
        };
        let split = queries.split(engine);
        self.tools = self.tools.merge(keep_compact(split.present.clone(), engine));
        self.unlisted = self.unlisted.merge(split.present).merge(split.unlisted);
        self.absent = self.absent.merge(split.absent);
        self
    }

    /// Adds more tools to sessions of engines.
    pub fn with_session_tools(mut self, tools: impl Fn(&Arc<Engine>) -> Toolset + Send + Sync + 'static) -> Self {
        if let Some(queries) = &mut self.queries {
            queries.more = Some(Arc::new(tools));
        }
        self
    }

    /// Returns the specifications of the listed tools, sorted by name.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.specs()
    }

    /// Returns the side effects of a tool, if it exists.
    pub fn effect(&self, name: &str) -> Option<Effect> {
        self.set_of(name).effect(name)
    }

    /// Returns the set in which a tool is called; the listed tools if it is in neither.
    fn set_of(&self, name: &str) -> &Toolset {
        if !self.tools.has(name) && self.unlisted.has(name) { &self.unlisted } else { &self.tools }
    }

    /// Describes an entry of the catalog in full, with the tool for its kind in the full profile.
    ///
    /// # Errors
    /// `not_found` with the closest names, `invalid_arguments` for a column, and errors of that tool.
    pub async fn show(
        &self,
        catalog: &Catalog,
        kind: ResourceKind,
        id: &str,
        max_tokens: usize,
    ) -> Result<Answer, ToolError> {
        let (Some(name), Some(targets)) = (catalog.resolve(kind, id), &self.targets) else {
            let names = catalog.list_candidates(kind, id);
            return Err(ToolError::not_found(kind.as_str(), id, names.iter().map(String::as_str)));
        };
        targets.show(&targets.of_kind(kind, name)?, Detail::default(), max_tokens).await
    }

    /// Searches all kinds, as the tool `search` of the full profile.
    ///
    /// # Errors
    /// See [`Toolset::call`].
    pub async fn search(&self, args: Value) -> Result<Answer, ToolError> {
        let tools = self.targets.as_ref().map_or(&self.tools, |targets| targets.full());
        Ok(self.note_errors(tools.call(SearchAll::NAME, args).await?))
    }

    /// Calls a tool by name with JSON arguments. Hidden tools and those of the other profile can be called too, and all by their aliases.
    ///
    /// # Errors
    /// See [`Toolset::call`].
    pub async fn call(&self, name: &str, args: Value) -> Result<Answer, ToolError> {
        if self.absent.has(name) {
            let message = format!("the catalog has no {}; `{name}` is not available", subject(name));
            let usual = || "`planner guide catalog` shows how a catalog declares them".to_owned();
            let suggestion = Some(self.errors.clone().unwrap_or_else(usual));
            return Err(ToolError::Respond { code: ToolErrorCode::UnknownTool, message, suggestion });
        }
        let answer = self.set_of(name).call(name, args).await?;
        Ok(if name.starts_with(SearchAll::NAME) { self.note_errors(answer) } else { answer })
    }

    /// Adds the note that entries are missing to the result of a search.
    fn note_errors(&self, answer: Answer) -> Answer {
        answer.with_notes(self.errors.iter().cloned().collect())
    }
}

/// Returns the subject of a tool, in the plural.
fn subject(tool: &str) -> &'static str {
    if [SearchAll::NAME, "describe", "list", "sample"].contains(&tool) {
        return "entries";
    }
    let subjects = [
        ("metric", "metrics"),
        ("verified", "verified queries"),
        ("skill", "skills"),
        ("document", "documents"),
        ("operation", "APIs"),
        ("api", "APIs"),
        ("fact", "facts"),
        ("web", "web search"),
    ];
    subjects.iter().find(|(word, _)| tool.contains(word)).map_or("databases", |(_, subject)| subject)
}
