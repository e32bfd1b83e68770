//! `search`: over all kinds of entries, or one of them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use prospector_connect::sql::Dialect;
use prospector_core::Kind;
use prospector_core::record::Resource;
use prospector_core::tool::{Answer, Budget, Cut, Page, Part, Text, Tool, ToolError, ToolOutput, ToolSpec, compact};
use prospector_queries::VerifiedQueries;
use prospector_schema::{TableHit, TableHits, joins::KeyJoin};
use prospector_semantics::SemanticModel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::CompactTool;
use crate::search_all::{SearchAll, SearchHit};
use crate::target::TargetResolver;

/// The tool.
pub(super) struct Search(pub(super) Arc<TargetResolver>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    query: String,
    /// A single kind returns more detail.
    kinds: Option<Vec<Wanted>>,
    database: Option<String>,
    limit: Option<usize>,
}

// No doc comment, since it would appear in the tool description; the names are sufficient.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Wanted {
    Table,
    Operation,
    Document,
    Fact,
    Skill,
    Metric,
    Query,
}

impl CompactTool for Search {
    const NAME: &'static str = "search";
    type Args = Args;

    fn describe(&self) -> ToolSpec {
        let targets = &self.0;
        let tools = [
            ("table", "database tables", "search_tables"),
            ("operation", "API operations", "search_operations"),
            ("document", "documents", "search_documents"),
            ("skill", "skills", "search_skills"),
            ("metric", "metrics", SemanticModel::LIST_TOOL),
            ("query", "verified queries", VerifiedQueries::LIST_TOOL),
        ];
        let there = tools.iter().filter(|(_, _, tool)| targets.has(tool)).map(|(_, name, _)| format!("{name}, "));
        let joins = if targets.has("search_tables") { ", with join keys" } else { "" };
        let description = format!(
            "Searches the data catalog: finds {}facts for a question, best first{joins}.",
            there.collect::<String>()
        );
        let mut spec = ToolSpec::new::<Args>(Self::NAME, &description);
        // Kinds without entries in the catalog are not offered.
        if let Some(Value::Array(kinds)) = spec.input_schema.pointer_mut("/properties/kinds/items/enum") {
            kinds.retain(|kind| tools.iter().all(|(name, _, tool)| kind != name || targets.has(tool)));
        }
        if !targets.has("search_tables")
            && let Some(Value::Object(properties)) = spec.input_schema.get_mut("properties")
        {
            properties.shift_remove("database");
        }
        spec
    }

    async fn answer(&self, args: Args, max_tokens: usize) -> Result<Answer, ToolError> {
        let Args { query, kinds, database, limit } = args;
        let database = database.filter(|name| !name.is_empty());
        let kinds = kinds.filter(|kinds| !kinds.is_empty());
        let only = match (&kinds, &database) {
            (_, Some(_)) => Some(Wanted::Table),
            (Some(kinds), None) if kinds.iter().all(|kind| *kind == kinds[0]) => Some(kinds[0]),
            _ => None,
        };
        let own = match only {
            Some(Wanted::Table) => "search_tables",
            Some(Wanted::Operation) => "search_operations",
            Some(Wanted::Document) => "search_documents",
            Some(Wanted::Skill) => "search_skills",
            Some(Wanted::Fact | Wanted::Metric | Wanted::Query) | None => "search",
        };
        if own != "search" && self.0.has(own) {
            let fields = json!({"query": query, "limit": limit, "database": database});
            return self.0.call(own, fields, max_tokens).await;
        }
        let fields = json!({"query": query, "kinds": kinds, "limit": limit});
        let found = self.0.call("search", fields, max_tokens).await?;
        self.with_joins(query, found, max_tokens).await
    }
}

impl Search {
    /// Adds join keys to the hits that are tables.
    async fn with_joins(&self, query: String, found: Answer, max_tokens: usize) -> Result<Answer, ToolError> {
        let Some(hits) = found.whole::<Page<SearchHit>>() else { return Ok(found) };
        let tables = hits.items.iter().filter(|hit| hit.kind == Kind::Table).count();
        if tables == 0 || !self.0.has("search_tables") {
            return Ok(found);
        }
        let fields = json!({"query": query, "limit": tables});
        let more = self.0.call("search_tables", fields, max_tokens).await?;
        let Some(TableHits(shown)) = more.output() else { return Ok(found) };
        let joined: HashMap<String, &TableHit> =
            shown.items.iter().map(|table| (format!("{}.{}", table.database, table.table), table)).collect();
        let with_keys = hits.items.iter().map(|hit| {
            let table = joined.get(&hit.id).filter(|_| hit.kind == Kind::Table);
            let described = table.filter(|table| !table.columns.is_empty()).map(|table| table.describe());
            let description = described.unwrap_or_else(|| hit.description.clone());
            JoinedHit::new(SearchHit { description, ..hit.clone() }, table.copied())
        });
        let bridges = shown.items.iter().filter(|table| is_bridge(table, &hits.items));
        let bridges = bridges.map(|table| JoinedHit::new(SearchHit::of_table(table), Some(table)));
        let with_keys = with_keys.chain(bridges);
        let hits = JoinedHits { page: hits.replace_items(with_keys.collect()), has_joins: true };
        Ok(Answer::of(hits, SearchAll::MORE).fit(max_tokens))
    }
}

/// A hit, with its join keys if it is a table.
#[derive(Clone, Serialize)]
struct JoinedHit {
    #[serde(flatten)]
    hit: SearchHit,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    joins: Vec<KeyJoin>,
    /// For a table, the SQL dialect of its queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    sql: Option<&'static str>,
    /// Whether it is a view.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    view: bool,
    /// Whether it only joins other hits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    via: bool,
    /// The table as returned by a search for tables.
    #[serde(skip)]
    table: Option<TableHit>,
}

impl JoinedHit {
    fn new(hit: SearchHit, table: Option<&TableHit>) -> Self {
        JoinedHit {
            hit,
            joins: table.map_or_else(Vec::new, |table| table.joins.clone()),
            sql: table.and_then(|table| table.sql).map(Dialect::id),
            view: table.is_some_and(|table| table.view),
            via: table.is_some_and(|table| table.via),
            table: table.cloned(),
        }
    }
}

/// Returns whether a bridge table is not among the hits, and joins at least two of them.
fn is_bridge(table: &TableHit, hits: &[SearchHit]) -> bool {
    let id_of = |name: &str| format!("{}.{name}", table.database);
    let joined = table.joins.iter().flat_map(KeyJoin::ends).map(|end| id_of(&end.table)).collect();
    table.via && connects(&id_of(&table.table), &joined, hits)
}

/// Returns whether a table with these joined tables connects hits that are tables, and is not one of them.
fn connects(id: &str, joined: &BTreeSet<String>, hits: &[SearchHit]) -> bool {
    let is_hit = |id: &str| hits.iter().any(|hit| hit.kind == Kind::Table && hit.id == id);
    !is_hit(id) && joined.iter().filter(|other| is_hit(other)).count() > 1
}

/// Hits with their join keys, which are dropped first if there is not enough room.
#[derive(Clone, Serialize)]
#[serde(transparent)]
struct JoinedHits {
    page: Page<JoinedHit>,
    #[serde(skip)]
    has_joins: bool,
}

impl ToolOutput for JoinedHit {
    fn reveals(&self) -> Vec<Resource> {
        self.hit.reveals().into_iter().chain(self.table.iter().flat_map(ToolOutput::reveals)).collect()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        self.hit.parts()
    }
}

impl ToolOutput for JoinedHits {
    fn reveals(&self) -> Vec<Resource> {
        let mut reveals = self.page.reveals();
        if self.has_joins {
            reveals.sort();
            reveals.dedup();
        }
        reveals
    }

    /// Join keys are dropped first.
    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        self.has_joins = false;
        for hit in &mut self.page.items {
            hit.joins.clear();
            hit.table.iter_mut().for_each(|table| table.joins.clear());
        }
        if self.fits(budget.tokens) { Cut::default() } else { self.page.fit(budget) }
    }

    /// Renders the hits, followed by each join key once and the dialects of the databases.
    fn render(&self, _: &Cut) -> Text {
        let whole = Cut::default();
        let row = |hit: &JoinedHit| {
            let mut row = self.page.first_cut().unwrap_or(&whole).json(&hit.hit);
            if let Some(table) = &hit.table {
                row["id"] = table.spell_id().into();
                for (mark, is_set) in [("via", table.via), ("view", table.view)] {
                    if is_set {
                        row[mark] = true.into();
                    }
                }
                if row.get("matched_values").is_some() {
                    row["matched_values"] = json!(table.spell_values());
                }
            }
            row
        };
        let rows: Vec<Value> = self.page.items.iter().map(row).collect();
        let tables = self.page.items.iter().filter_map(|hit| Some((hit.table.as_ref()?, hit.joins.as_slice())));
        let mut rest = TableHit::describe_databases(tables);
        rest.extend(self.page.beside());
        let rest = if rest.is_empty() { String::new() } else { compact::render(&rest.into()) };
        Text { parts: vec![compact::render(&rows.into())], rest }
    }
}

#[cfg(test)]
mod tests {
    use prospector_core::record::Relevance;

    use super::*;

    #[test]
    fn bridges_connect_hits_and_are_none_themselves() {
        let hit = |kind: Kind, id: &str| SearchHit {
            kind,
            id: id.into(),
            relevance: Relevance::new(0.9),
            description: String::new(),
            method: None,
            access: None,
            matched_values: Vec::new(),
            named: Vec::new(),
        };
        let joined = ["shop.film", "shop.inventory", "shop.rental"].map(str::to_owned);
        let check = |hits: &[SearchHit]| connects("shop.inventory", &joined.clone().into(), hits);
        let (film, rental) = (hit(Kind::Table, "shop.film"), hit(Kind::Table, "shop.rental"));
        assert!(check(&[film.clone(), rental.clone()]));
        assert!(!check(&[film.clone(), hit(Kind::Document, "shop.rental")]));
        assert!(!check(&[film, rental, hit(Kind::Table, "shop.inventory")]));
    }
}
