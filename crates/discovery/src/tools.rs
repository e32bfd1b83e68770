//! The registry: every tool of every kind that the catalog has, and the one search over all kinds.

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
    query_tools::{QueryTools, keep_compact},
    search_all::SearchAll,
    target::{Detail, TargetResolver},
};

/// How a kind of tool gets into the registry, and when.
struct Family {
    configured: fn(&Catalog) -> bool,
    tools: fn(&Catalog) -> Toolset,
}

/// Every family, in one visible list. A tool whose kind is not configured is not listed.
const FAMILIES: [Family; 8] = [
    Family {
        configured: |catalog| catalog.schema.databases().len() > 0,
        tools: |catalog| catalog.schema.tools(&catalog.index),
    },
    Family {
        configured: |catalog| !catalog.apis.apis().is_empty(),
        tools: |catalog| catalog.apis.tools(&catalog.index),
    },
    Family {
        configured: |catalog| !catalog.documents.documents().is_empty(),
        tools: |catalog| catalog.documents.tools(&catalog.index),
    },
    Family { configured: |catalog| !catalog.is_empty(), tools: |catalog| catalog.facts.tools() },
    Family {
        configured: |catalog| !catalog.skills.skills().is_empty(),
        tools: |catalog| catalog.skills.tools(&catalog.index),
    },
    Family {
        configured: |catalog| !catalog.metrics.metrics().is_empty() || !catalog.metrics.segments().is_empty(),
        tools: |catalog| catalog.metrics.tools((!catalog.metrics.metrics().is_empty()).then(|| catalog.engine())),
    },
    Family { configured: |catalog| !catalog.verified.queries().is_empty(), tools: |catalog| catalog.verified.tools() },
    Family {
        configured: |catalog| !catalog.is_empty(),
        tools: |catalog| {
            Toolset::new().with(SearchAll {
                index: catalog.index.clone(),
                schemas: catalog.schema.clone(),
                apis: catalog.apis.clone(),
            })
        },
    },
];

/// The tools of a catalog. The planner's loop, the command line and every server call them through
/// [`DiscoveryTools::call`].
#[derive(Clone)]
pub struct DiscoveryTools {
    profile: Profile,
    tools: Toolset,
    /// Those of the other profile, which can be called and are not listed.
    unlisted: Toolset,
    /// The tools of the kinds that the catalog does not have.
    absent: Toolset,
    /// What is run where there is an engine.
    queries: Option<QueryTools>,
    /// The full set, whatever the profile, by what its tools show.
    targets: Option<Arc<TargetResolver>>,
}

impl DiscoveryTools {
    /// The name of the tool that runs queries, where [`DiscoveryTools::with_engine`] added it: each is an entry of its
    /// argument `queries`, with `question`, `sql` and perhaps `database`.
    pub const QUERY_TOOL: &'static str = Engine::QUERY_TOOL;

    /// The name of the tool that shows results of queries again, where [`DiscoveryTools::with_engine`] added it.
    pub const RESULTS_TOOL: &'static str = Engine::RESULTS_TOOL;

    /// The name of the tool that lists metrics, and of the one that shows a metric, where the catalog has some.
    pub const LIST_METRICS: &'static str = SemanticModel::LIST_TOOL;
    /// See [`DiscoveryTools::LIST_METRICS`].
    pub const SHOW_METRIC: &'static str = SemanticModel::SHOW_TOOL;

    /// The name of the tool that computes metrics and questions in words, where [`DiscoveryTools::with_engine`] added it. It is not
    /// listed where no metric is declared.
    pub const METRICS_TOOL: &'static str = SemanticModel::QUERY_TOOL;

    /// The name of the tool that calls operations, where the catalog allows it: its arguments are `api`, `operation` and
    /// `arguments`, its answer has `answer`.
    pub const INVOKE_TOOL: &'static str = ApiDiscovery::INVOKE_TOOL;

    /// The name of the tool that finds the verified query for a `question`, where [`DiscoveryTools::with_engine`] added it: an
    /// item of its answer with `answers` has the `name` and the `parameters` for [`DiscoveryTools::RUN_VERIFIED_TOOL`].
    pub const FIND_VERIFIED_TOOL: &'static str = VerifiedQueries::FIND_TOOL;

    /// The name of the tool that runs a verified query by `name` with `parameters`, where [`DiscoveryTools::with_engine`] added
    /// it.
    pub const RUN_VERIFIED_TOOL: &'static str = VerifiedQueries::RUN_TOOL;

    /// The tools of a profile that this catalog has something for.
    pub fn new(catalog: &Catalog, profile: Profile) -> Self {
        let (present, absent): (Vec<&Family>, Vec<&Family>) =
            FAMILIES.iter().partition(|family| (family.configured)(catalog));
        let merged = |families: Vec<&Family>| {
            families.into_iter().fold(Toolset::new(), |set, family| set.merge((family.tools)(catalog)))
        };
        let redacted = |tools: Toolset| tools.with_redactor(catalog.redactor());
        let (full, calls) = (redacted(merged(present)), catalog.calls());
        catalog.skills.offer(full.names().chain(calls.names()));
        let targets = Arc::new(TargetResolver::new(catalog, full));
        let (compact, absent_of_compact) = compact::toolsets(catalog, &targets);
        let (full, absent) = (targets.full().clone(), merged(absent).merge(absent_of_compact));
        let (tools, unlisted) = match profile {
            Profile::Full => (full, compact),
            Profile::Compact => (compact, full),
        };
        let (tools, unlisted) = (redacted(tools), redacted(unlisted));
        // Whatever the profile: what may be called, the catalog says.
        let (tools, queries) = (tools.merge(calls), Some(QueryTools::of(catalog)));
        let tools = DiscoveryTools { profile, tools, unlisted, absent, queries, targets: Some(targets) };
        // Nobody is offered to look up terms where nothing says what one means, or values where there are none.
        let of_use = [(compact::RESOLVE_FACT, catalog.has_terms()), (compact::SAMPLE, catalog.schema.has_data())];
        let idle = of_use.into_iter().filter(|(_, is_of_use)| !is_of_use);
        tools.unlist(&idle.map(|(tool, _)| tool).collect::<Vec<_>>())
    }

    /// These, for a run in which nobody is there to say what a term means: what keeps that is not listed.
    pub fn without_user(self) -> Self {
        self.unlist(&[compact::ADD_FACT])
    }

    /// These, and those that say what a question in words computes and which verified query answers it: for a planner that does not
    /// read the question itself.
    pub fn with_reading(mut self, engine: &Arc<Engine>) -> Self {
        if let Some(queries) = &self.queries {
            self.tools = self.tools.merge(queries.reading(engine));
        }
        self
    }

    /// These, for a language model: what only a program asks for, or what another tool says too, is not listed.
    pub fn for_language_model(self) -> Self {
        let [validate, sources] = Engine::NEEDLESS_TOOLS;
        self.unlist(&[validate, sources, VerifiedQueries::FIND_TOOL])
    }

    /// Lists all but these, which can be called as before.
    fn unlist(mut self, names: &[&str]) -> Self {
        let hidden = self.tools.clone().only(names);
        self.tools = self.tools.without(&hidden);
        self.unlisted = self.unlisted.merge(hidden);
        self
    }

    /// Whether the tool that says what a term means is listed.
    pub(crate) fn resolves_terms(&self) -> bool {
        self.tools.has(compact::RESOLVE_FACT)
    }

    /// Only the one search over all kinds, which needs nothing but the index: see [`Catalog::open_index`].
    pub fn of_index(index: &Index) -> Self {
        let tools =
            Toolset::new().with(SearchAll { index: index.clone(), schemas: Arc::default(), apis: Arc::default() });
        let (unlisted, absent) = (Toolset::new(), Toolset::new());
        DiscoveryTools { profile: Profile::Full, tools, unlisted, absent, queries: None, targets: None }
    }

    /// These, and those that run queries in that session of an engine, as [`Catalog::engine`] makes one; they are not
    /// among the tools of a profile. Nothing is added where there is no source with rows.
    pub fn with_engine(mut self, engine: &Arc<Engine>) -> Self {
        if let Some(queries) = &self.queries {
            let split = queries.split(engine);
            self.tools = self.tools.merge(split.present);
            (self.unlisted, self.absent) = (self.unlisted.merge(split.unlisted), self.absent.merge(split.absent));
        }
        self
    }

    /// These, and what a question is answered with in that session of an engine. In the compact profile only those are listed
    /// that run queries in SQL: the rest of what [`DiscoveryTools::with_engine`] adds can be called, and what it tells is told
    /// by the tools of the profile.
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

    /// These, and more tools for the session of an engine, wherever there is one.
    pub fn with_session_tools(mut self, tools: impl Fn(&Arc<Engine>) -> Toolset + Send + Sync + 'static) -> Self {
        if let Some(queries) = &mut self.queries {
            queries.more = Some(Arc::new(tools));
        }
        self
    }

    /// The specifications of the tools, sorted by name, as a model is given them.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.specs()
    }

    /// What a call of a tool does besides answering, where there is such a tool.
    pub fn effect(&self, name: &str) -> Option<Effect> {
        self.set_of(name).effect(name)
    }

    /// The set that a tool is called in: the listed ones, where it is in neither.
    fn set_of(&self, name: &str) -> &Toolset {
        if !self.tools.has(name) && self.unlisted.has(name) { &self.unlisted } else { &self.tools }
    }

    /// A thing of the catalog in full, as the tool of its kind in the full profile shows it.
    ///
    /// # Errors
    /// `not_found` with the nearest names, `invalid_arguments` for a column, and what that tool answers.
    pub async fn show(
        &self,
        catalog: &Catalog,
        kind: ResourceKind,
        id: &str,
        max_tokens: usize,
    ) -> Result<Answer, ToolError> {
        let (Some(name), Some(targets)) = (catalog.resolve(kind, id), &self.targets) else {
            let near = catalog.nearest(kind, id);
            return Err(ToolError::not_found(kind.as_str(), id, near.iter().map(String::as_str)));
        };
        targets.show(&targets.of_kind(kind, name)?, Detail::default(), max_tokens).await
    }

    /// Searches all kinds, as the tool `search` of the full profile does.
    ///
    /// # Errors
    /// See [`Toolset::call`].
    pub async fn search(&self, args: Value) -> Result<Answer, ToolError> {
        self.targets.as_ref().map_or(&self.tools, |targets| targets.full()).call(SearchAll::NAME, args).await
    }

    /// Calls a tool by name with JSON arguments. Those of the other profile can be called too, and all by their aliases.
    ///
    /// # Errors
    /// See [`Toolset::call`].
    pub async fn call(&self, name: &str, args: Value) -> Result<Answer, ToolError> {
        if self.absent.has(name) {
            let message = format!("the catalog has no {}, so that `{name}` has nothing to return", subject(name));
            let suggestion = Some("`planner guide catalog` shows how a catalog declares them".to_owned());
            return Err(ToolError::Respond { code: ToolErrorCode::UnknownTool, message, suggestion });
        }
        self.set_of(name).call(name, args).await
    }
}

/// What a tool is about, in the plural.
fn subject(tool: &str) -> &'static str {
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
