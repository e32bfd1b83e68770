//! The registry: every tool of every kind that the catalog has, and the one search over all kinds.

use std::sync::Arc;

use prospector_core::Kind;
use prospector_core::record::{Relevance, Resource, ResourceKind};
use prospector_core::tool::{
    Answer, Effect, Page, Part, Tool, ToolError, ToolErrorCode, ToolOutput, ToolSpec, Toolset,
};
use prospector_engine::Engine;
use prospector_search::{Index, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Catalog, Profile, compact,
    target::{Detail, TargetResolver},
};

/// How a kind of tool gets into the registry, and when.
struct Family {
    configured: fn(&Catalog) -> bool,
    tools: fn(&Catalog) -> Toolset,
}

/// Every family, in one visible list. A tool whose kind is not configured is not listed.
const FAMILIES: [Family; 6] = [
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
        configured: |catalog| !catalog.is_empty(),
        tools: |catalog| Toolset::new().with(SearchAll { index: catalog.index.clone() }),
    },
];

/// The tools of a catalog. The planner's loop, the command line and every server call them through
/// [`DiscoveryTools::call`].
#[derive(Clone)]
pub struct DiscoveryTools {
    tools: Toolset,
    /// The tools of the kinds that the catalog does not have.
    absent: Toolset,
    /// The full set, whatever the profile, by what its tools show.
    targets: Option<Arc<TargetResolver>>,
}

impl DiscoveryTools {
    /// The tools of a profile that this catalog has something for.
    pub fn new(catalog: &Catalog, profile: Profile) -> Self {
        let (present, absent): (Vec<&Family>, Vec<&Family>) =
            FAMILIES.iter().partition(|family| (family.configured)(catalog));
        let merged = |families: Vec<&Family>| {
            families.into_iter().fold(Toolset::new(), |set, family| set.merge((family.tools)(catalog)))
        };
        let (full, calls) = (merged(present), catalog.calls());
        catalog.skills.offer(full.names().chain(calls.names()));
        let targets = Arc::new(TargetResolver::new(catalog, full));
        let (tools, absent) = match profile {
            Profile::Full => (targets.full().clone(), merged(absent)),
            Profile::Compact => compact::toolsets(catalog, &targets),
        };
        // Whatever the profile: what may be called, the catalog says.
        DiscoveryTools { tools: tools.merge(calls), absent, targets: Some(targets) }
    }

    /// Only the one search over all kinds, which needs nothing but the index: see [`Catalog::open_index`].
    pub fn of_index(index: &Index) -> Self {
        let tools = Toolset::new().with(SearchAll { index: index.clone() });
        DiscoveryTools { tools, absent: Toolset::new(), targets: None }
    }

    /// These, and those that run queries in that session of an engine, as [`Catalog::engine`] makes one; they are not
    /// among the tools of a profile. Nothing is added where there is no source with rows.
    pub fn with_engine(mut self, engine: &Arc<Engine>) -> Self {
        let tools = prospector_engine::tools(engine);
        if engine.is_empty() {
            self.absent = self.absent.merge(tools);
        } else {
            self.tools = self.tools.merge(tools);
        }
        self
    }

    /// The specifications, sorted by name.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.specs()
    }

    /// What a call of a tool does besides answering, where there is such a tool.
    pub fn effect(&self, name: &str) -> Option<Effect> {
        self.tools.effect(name)
    }

    /// The JSON Schema of what a tool answers, where there is such a tool: see [`Toolset::output_schema`].
    pub fn output_schema(&self, name: &str) -> Option<Value> {
        self.tools.output_schema(name)
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

    /// Calls a tool.
    ///
    /// # Errors
    /// See [`Toolset::call`].
    pub async fn call(&self, name: &str, args: Value) -> Result<Answer, ToolError> {
        if self.absent.names().any(|absent| absent == name) {
            let message = format!("the catalog has nothing for `{name}`");
            return Err(ToolError::Respond { code: ToolErrorCode::UnknownTool, message, suggestion: None });
        }
        self.tools.call(name, args).await
    }
}

/// `search`: one search over all kinds.
pub(crate) struct SearchAll {
    index: Index,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchArgs {
    /// A question, some words or a name.
    query: String,
    /// Only these kinds.
    kinds: Option<Vec<Kind>>,
    /// At most this many, 8 if not given.
    limit: Option<usize>,
}

#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct SearchHit {
    pub(crate) kind: Kind,
    pub(crate) id: String,
    pub(crate) relevance: Relevance,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
}

impl Tool for SearchAll {
    const NAME: &'static str = "search";
    const DESCRIPTION: &'static str = "Finds tables, operations, documents, facts and skills for a question, best first. The first call when you do not \
         know where to look.";
    const MORE: &'static str = "call again with kinds, or a larger max_tokens";
    const EFFECT: Effect = Effect::Reads;
    type Args = SearchArgs;
    type Output = Page<SearchHit>;

    async fn call(&self, args: SearchArgs) -> Result<Self::Output, ToolError> {
        if args.query.trim().is_empty() {
            return Err(ToolError::invalid("query is empty", Some("say what you look for".into())));
        }
        let query = Query {
            text: args.query,
            kinds: args.kinds.unwrap_or_default(),
            limit: args.limit.unwrap_or(8).clamp(1, 100),
            ..Query::default()
        };
        let found = self.index.find(query).await?;
        if found.hits.is_empty() {
            return Ok(Page::nothing("no good match", found.nearest));
        }
        let hits = found.hits.into_iter().map(|hit| SearchHit {
            kind: hit.kind,
            id: hit.id,
            relevance: hit.relevance,
            description: hit.description,
        });
        Ok(Page::whole(hits.collect()))
    }
}

impl ToolOutput for SearchHit {
    fn reveals(&self) -> Vec<Resource> {
        let (kind, id) = match self.kind {
            Kind::Table => (ResourceKind::Table, self.id.as_str()),
            Kind::Operation => (ResourceKind::Operation, self.id.as_str()),
            Kind::Fact => (ResourceKind::Fact, self.id.as_str()),
            Kind::Skill => (ResourceKind::Skill, self.id.as_str()),
            // Of a section, its document.
            Kind::Document => (ResourceKind::Document, self.id.split('#').next().unwrap_or(&self.id)),
        };
        vec![Resource::new(kind, id)]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("description", Part::Text(&mut self.description))]
    }
}
