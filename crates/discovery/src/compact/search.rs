//! `search`: over all kinds, or one of them.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use prospector_core::{Answer, BoxFuture, Callable, Resource, ResourceKind, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::things::Things;

pub(super) const NAME: &str = "search";

/// The tool.
pub(super) struct Search {
    things: Arc<Things>,
    spec: ToolSpec,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    query: String,
    /// One alone tells more.
    kinds: Option<Vec<Wanted>>,
    database: Option<String>,
    limit: Option<usize>,
}

// Without a description: a model would be shown it, and the names say enough.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Wanted {
    Table,
    Operation,
    Document,
    Fact,
    Skill,
}

impl Search {
    pub(super) fn new(things: &Arc<Things>) -> Self {
        let tools = [
            ("table", "tables", "search_tables"),
            ("operation", "API operations", "search_operations"),
            ("document", "documents", "search_documents"),
            ("skill", "skills", "search_skills"),
        ];
        let there = tools.iter().filter(|(_, _, tool)| things.has(tool)).map(|(_, name, _)| format!("{name}, "));
        let joins = if things.has("search_tables") { ", with join keys" } else { "" };
        let description = format!("Finds {}facts for a question, best first{joins}.", there.collect::<String>());
        let mut spec = ToolSpec::new::<Args>(NAME, &description);
        // Nobody is offered to look for what the catalog does not have.
        if let Some(Value::Array(kinds)) = spec.input_schema.pointer_mut("/properties/kinds/items/enum") {
            kinds.retain(|kind| tools.iter().all(|(name, _, tool)| kind != name || things.has(tool)));
        }
        if !things.has("search_tables")
            && let Some(Value::Object(properties)) = spec.input_schema.get_mut("properties")
        {
            properties.shift_remove("database");
        }
        Search { things: things.clone(), spec }
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
            _ => "search",
        };
        if own != "search" && self.things.has(own) {
            let fields = json!({"query": query, "limit": limit, "database": database});
            return self.things.call(own, fields, max_tokens).await;
        }
        let fields = json!({"query": query, "kinds": kinds, "limit": limit});
        let found = self.things.call("search", fields, max_tokens).await?;
        self.with_joins(query, found, max_tokens).await
    }

    /// The hits, those that are tables with the keys between them.
    async fn with_joins(&self, query: String, found: Answer, max_tokens: usize) -> Result<Answer, ToolError> {
        let hits = found.value.as_array().into_iter().flatten();
        let tables = hits.filter(|hit| hit["kind"] == "table").count();
        if tables < 2 || !self.things.has("search_tables") {
            return Ok(found);
        }
        let fields = json!({"query": query, "limit": tables});
        let more = self.things.call("search_tables", fields, max_tokens).await?;
        let items = more.value.as_array().or_else(|| more.value["items"].as_array());
        let joins: HashMap<String, &Value> = (items.into_iter().flatten())
            .filter_map(|item| {
                let id = format!("{}.{}", item["database"].as_str()?, item["table"].as_str()?);
                Some((id, item.get("joins")?))
            })
            .collect();
        let mut value = found.value.clone();
        for hit in value.as_array_mut().into_iter().flatten() {
            if hit["kind"] == "table"
                && let Some(joins) = hit["id"].as_str().and_then(|id| joins.get(id))
            {
                hit["joins"] = (*joins).clone();
            }
        }
        if prospector_core::tokens::estimate(&value.to_string()) > max_tokens {
            return Ok(found);
        }
        // The columns of the keys that are shown are known from then on.
        let mut reveals = found.reveals;
        let ends = |database: &str, hit: &Value| -> Vec<String> {
            let joins = hit["joins"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let pairs = joins.flat_map(|join| join.split(" and ")).filter_map(|pair| pair.split_once(" = "));
            pairs.flat_map(|(from, to)| [from, to]).map(|end| format!("{database}.{end}")).collect()
        };
        let shown: HashSet<String> = (value.as_array().into_iter().flatten())
            .filter_map(|hit| Some((self.things.table(hit["id"].as_str()?)?.0, hit)))
            .flat_map(|(database, hit)| ends(&database, hit))
            .collect();
        let is_shown =
            |resource: &&Resource| resource.kind == ResourceKind::Column && shown.contains(resource.id.as_str());
        reveals.extend(more.reveals.iter().filter(is_shown).cloned());
        reveals.sort();
        reveals.dedup();
        Ok(Answer::new(value, reveals))
    }
}

impl Callable for Search {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, args: Value, max_tokens: usize) -> BoxFuture<'_, Result<Answer, ToolError>> {
        Box::pin(async move { self.answer(self.spec.arguments(args)?, max_tokens).await })
    }
}
