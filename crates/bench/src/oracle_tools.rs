//! Tools that hold nothing back, for the planner that may see everything.
//!
//! The offline model reads no prompt: it decides by relevance. To see everything means for it to be told the relevance of
//! every record, also of those below the floor, whatever the question, and no answer is cut. It then chooses by the same
//! thresholds. A search ranks at most 1,000 records of a kind; of a larger catalog it sees the best so many.

use prospector_agent::agent_loop::Tools;
use prospector_core::Kind;
use prospector_core::record::Hit;
use prospector_core::tool::{Answer, ToolError, ToolSpec};
use prospector_discovery::{Catalog, DiscoveryTools};
use prospector_search::Query;
use serde_json::{Value, json};

/// A limit that no catalog and no answer reaches.
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
        // The most that the tool gives, with the keys and bridges between it; then everything else.
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
        // The prompt has revealed all names.
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

/// The fields that say which thing an item shows.
const NAMES: [&str; 7] = ["database", "table", "api", "operation", "document", "section", "name"];

/// A hit as the tool of its kind shows it.
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
