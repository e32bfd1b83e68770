//! Unrestricted tools, for a planner that sees everything.
//!
//! The built-in planner reads no prompt: it decides by relevance. Seeing everything therefore means receiving the
//! relevance of every record, including those below the threshold, without truncation, and choosing by the same
//! thresholds. A search ranks at most 1,000 records of a kind; larger catalogs are limited to the best ones.

use prospector_agent::agent_loop::Tools;
use prospector_core::Kind;
use prospector_core::record::Hit;
use prospector_core::tool::{Answer, ToolError, ToolSpec};
use prospector_discovery::{Catalog, DiscoveryTools};
use prospector_search::Query;
use serde_json::{Value, json};

/// A limit beyond every catalog and result.
const UNLIMITED: usize = 1_000_000_000;

/// The tools of a catalog without their limits.
pub(crate) struct OracleTools<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) tools: &'a DiscoveryTools,
}

impl Tools for OracleTools<'_> {
    fn specs(&self) -> Vec<ToolSpec> {
        self.tools.specs()
    }

    async fn call(&self, name: &str, mut arguments: Value) -> Result<Answer, ToolError> {
        arguments["max_tokens"] = json!(UNLIMITED);
        let Some((_, kind)) = SEARCHES.iter().find(|(search, _)| *search == name) else {
            return self.tools.call(name, arguments).await;
        };
        let text = arguments["query"].as_str().unwrap_or_default().to_owned();
        // The maximum of the tool, with keys and bridge tables; then everything else.
        arguments["limit"] = json!(50);
        let answer = self.tools.call(name, arguments).await?;
        let given = answer.json().as_array().or_else(|| answer.json()["items"].as_array());
        let mut items: Vec<Value> = given.cloned().unwrap_or_default();
        let query = Query { text, kinds: vec![*kind], limit: UNLIMITED, ..Query::default() };
        for hit in self.catalog.index.rank(&query).map_err(ToolError::fatal)? {
            let item = item(&hit);
            if !items.iter().any(|known| shows_same(known, &item)) {
                items.push(item);
            }
        }
        // All names are already revealed by the prompt.
        Ok(Answer::new(Value::Array(items), Vec::new()))
    }
}

/// The tools that search one kind.
const SEARCHES: [(&str, Kind); 4] = [
    ("search_tables", Kind::Table),
    ("search_operations", Kind::Operation),
    ("search_documents", Kind::Document),
    ("search_skills", Kind::Skill),
];

/// The fields that identify the entry of an item.
const NAMES: [&str; 7] = ["database", "table", "api", "operation", "document", "section", "name"];

/// Renders a hit like the tool of its kind.
fn item(hit: &Hit) -> Value {
    match hit.kind {
        Kind::Table => json!({"database": hit.parent, "table": hit.name, "relevance": hit.relevance}),
        Kind::Operation => {
            json!({"api": hit.parent, "operation": hit.name, "relevance": hit.relevance, "description": hit.description})
        }
        Kind::Document => {
            let section = hit.id.split_once('#').map_or(hit.name.as_str(), |(_, section)| section);
            json!({"document": hit.parent, "section": section, "relevance": hit.relevance})
        }
        Kind::Skill | Kind::Fact | Kind::Metric | Kind::Query => {
            json!({"name": hit.name, "relevance": hit.relevance, "description": hit.description})
        }
    }
}

fn shows_same(one: &Value, other: &Value) -> bool {
    NAMES.iter().all(|name| one[*name] == other[*name])
}
