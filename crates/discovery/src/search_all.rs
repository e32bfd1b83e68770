//! `search`: a search over all kinds.

use std::sync::Arc;

use prospector_api::{ApiDiscovery, Operation, model::Access};
use prospector_core::Kind;
use prospector_core::record::{MIN_DESCRIBED, Relevance, Resource, ResourceKind, ValueMatch, drop_tail};
use prospector_core::tool::{Effect, Page, Part, Tool, ToolError, ToolOutput};
use prospector_schema::{SchemaDiscovery, TableHit};
use prospector_search::{Index, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of metrics, in addition to other hits.
const MAX_METRICS: usize = 3;

/// `search`: a search over all kinds.
pub(crate) struct SearchAll {
    pub(crate) index: Index,
    /// Details of tables in the results.
    pub(crate) schemas: Arc<SchemaDiscovery>,
    /// Details of operations in the results.
    pub(crate) apis: Arc<ApiDiscovery>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchArgs {
    /// A question, keywords or a name.
    query: String,
    /// Only these kinds.
    kinds: Option<Vec<Kind>>,
    /// Maximum number of results (default 8).
    limit: Option<usize>,
}

#[derive(Clone, Serialize)]
pub(crate) struct SearchHit {
    pub(crate) kind: Kind,
    pub(crate) id: String,
    pub(crate) relevance: Relevance,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    /// For an operation, its method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<String>,
    /// For an operation, its access, if its method determines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) access: Option<Access>,
    /// For a table, the values of its columns that the query contains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) matched_values: Vec<ValueMatch>,
    /// For a table, the columns named in its description.
    #[serde(skip)]
    pub(crate) named: Vec<String>,
}

impl SearchHit {
    /// Creates the hit of a table that a search for tables returned.
    pub(crate) fn of_table(table: &TableHit) -> Self {
        SearchHit {
            kind: Kind::Table,
            id: format!("{}.{}", table.database, table.table),
            relevance: table.relevance,
            description: table.describe(),
            method: None,
            access: None,
            matched_values: table.matched_values.clone(),
            named: Vec::new(),
        }
    }
}

impl Tool for SearchAll {
    const NAME: &'static str = "search";
    const DESCRIPTION: &'static str = "Finds tables, operations, documents, facts and skills for a question, best first. Call it first when \
         you do not know where to look.";
    const MORE: &'static str = "call again with kinds, or a larger max_tokens";
    const EFFECT: Effect = Effect::Reads;
    type Args = SearchArgs;
    type Output = Page<SearchHit>;

    async fn call(&self, args: SearchArgs) -> Result<Self::Output, ToolError> {
        if args.query.trim().is_empty() {
            return Err(ToolError::invalid("query is empty", Some("pass a question, keywords or a name".into())));
        }
        let limit = args.limit.unwrap_or(8).clamp(1, 100);
        let kinds = args.kinds.unwrap_or_default();
        // Metrics are returned in addition to other hits and do not displace them.
        let beside = if kinds.is_empty() { MAX_METRICS } else { 0 };
        let asked = self.schemas.widen_search(limit + beside);
        let fill = args.limit.is_some();
        let query = Query { text: args.query.clone(), kinds, limit: asked, fill, ..Query::default() };
        let mut found = self.index.find(query).await?;
        self.schemas.prefer_tables(&mut found.hits);
        let (mut metrics, mut others) = (0, 0);
        found.hits.retain(|hit| {
            let is_beside = beside > 0 && hit.kind == Kind::Metric;
            let (count, most) = if is_beside { (&mut metrics, beside) } else { (&mut others, limit) };
            *count += 1;
            *count <= most
        });
        if !fill {
            drop_tail(&mut found.hits, |hit| hit.relevance);
        }
        let hits = found.hits.into_iter().enumerate().map(|(number, hit)| {
            let operation =
                self.apis.find_operation(&hit.id).filter(|_| hit.kind == Kind::Operation).map(|(_, found)| found);
            let is_described = hit.relevance.get() >= MIN_DESCRIBED || number == 0;
            let table = (is_described && hit.kind == Kind::Table)
                .then(|| self.schemas.brief(&hit.parent, &hit.name, &args.query));
            let (description, named) = match table.flatten() {
                Some(brief) => (brief.text, brief.columns),
                None if is_described => (hit.description, Vec::new()),
                None => (String::new(), Vec::new()),
            };
            SearchHit {
                kind: hit.kind,
                id: hit.id,
                relevance: hit.relevance,
                named,
                description,
                method: operation.map(|operation| operation.method.clone()),
                access: operation.and_then(Operation::access),
                matched_values: hit.values,
            }
        });
        let missing = found.missing.iter().map(ToString::to_string);
        Ok(Page::of_search(hits.collect(), found.is_weak, found.nearest).remark(missing))
    }
}

impl ToolOutput for SearchHit {
    fn reveals(&self) -> Vec<Resource> {
        // The document of a section.
        let document = self.id.split('#').next().filter(|_| self.kind == Kind::Document);
        let own = Resource::new(self.kind.into(), document.unwrap_or(&self.id));
        let named = self.matched_values.iter().map(|found| &found.column).chain(&self.named);
        let named = named.map(|name| Resource::new(ResourceKind::Column, format!("{}.{name}", self.id)));
        std::iter::once(own).chain(named).collect()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![
            ("description", Part::Text(&mut self.description)),
            ("matched_values", Part::entries(&mut self.matched_values)),
        ]
    }
}
