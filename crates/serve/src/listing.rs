//! What there is in a catalog, in one order, and each thing of it in full: for the resources of MCP and for the page.

use prospector_core::{Answer, Resource, ResourceKind, ToolError};
use prospector_discovery::Catalog;
use serde::Serialize;
use serde_json::{Value, json};

use crate::estate::Served;

/// The kinds that are listed, in order. Columns are shown in their tables.
pub(crate) const KINDS: [ResourceKind; 7] = [
    ResourceKind::Database,
    ResourceKind::Table,
    ResourceKind::Api,
    ResourceKind::Operation,
    ResourceKind::Document,
    ResourceKind::Skill,
    ResourceKind::Fact,
];

/// One thing of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Entry {
    pub(crate) kind: ResourceKind,
    /// What a plan names.
    pub(crate) id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
}

/// Everything but facts, in the order of the catalog.
pub(crate) fn entries(catalog: &Catalog) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut add = |kind, id: String, description: &str| {
        entries.push(Entry { kind, id, description: first_line(description) });
    };
    for database in catalog.schema.databases() {
        add(ResourceKind::Database, database.name.clone(), &database.description);
    }
    for database in catalog.schema.databases() {
        for table in &database.tables {
            add(ResourceKind::Table, format!("{}.{}", database.name, table.name), &table.description);
        }
    }
    for api in catalog.apis.apis() {
        add(ResourceKind::Api, api.name.clone(), &api.description);
    }
    for api in catalog.apis.apis() {
        for operation in &api.operations {
            add(ResourceKind::Operation, format!("{}.{}", api.name, operation.name), &operation.description);
        }
    }
    for document in catalog.documents.documents() {
        add(ResourceKind::Document, document.name.clone(), &document.description);
    }
    for skill in catalog.skills.skills() {
        add(ResourceKind::Skill, skill.name.clone(), &skill.description);
    }
    entries
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(200) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line.to_owned(),
    }
}

/// A part of a list, and how long the whole is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Part {
    pub(crate) items: Vec<Entry>,
    pub(crate) total: usize,
    /// Where the next part begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<usize>,
}

impl Served {
    /// The facts that are known by now.
    pub(crate) fn facts(&self) -> Vec<Entry> {
        (self.catalog.facts.records().into_iter())
            .map(|fact| Entry { kind: ResourceKind::Fact, id: fact.name, description: first_line(&fact.description) })
            .collect()
    }

    /// What there is of a kind, or of every kind: `limit` things from `offset` on, of those whose id or description
    /// holds `text`.
    pub(crate) fn list(&self, kind: Option<ResourceKind>, text: &str, offset: usize, limit: usize) -> Part {
        let wanted = text.trim().to_lowercase();
        let facts = self.facts();
        let holds = |text: &str| text.to_lowercase().contains(&wanted);
        let fits = |entry: &&Entry| {
            kind.is_none_or(|kind| entry.kind == kind)
                && (wanted.is_empty() || holds(&entry.id) || holds(&entry.description))
        };
        let all: Vec<&Entry> = self.entries.iter().chain(&facts).filter(fits).collect();
        let items: Vec<Entry> = all.iter().skip(offset).take(limit).map(|entry| (*entry).clone()).collect();
        let end = offset.saturating_add(items.len());
        Part { total: all.len(), next: (end < all.len() && !items.is_empty()).then_some(end), items }
    }

    /// How many things there are of each kind.
    pub(crate) fn counts(&self) -> Value {
        let mut counts = serde_json::Map::new();
        for kind in KINDS {
            let count = match kind {
                ResourceKind::Fact => self.catalog.facts.records().len(),
                _ => self.entries.iter().filter(|entry| entry.kind == kind).count(),
            };
            counts.insert(kind.as_str().into(), count.into());
        }
        counts.into()
    }

    /// A thing in full, as the tool of its kind shows it, in at most `max_tokens`.
    pub(crate) async fn show(&self, kind: ResourceKind, id: &str, max_tokens: usize) -> Result<Answer, ToolError> {
        let Some(name) = self.catalog.resolve(kind, id) else {
            let near = self.catalog.nearest(kind, id);
            return Err(ToolError::not_found(kind.as_str(), id, near.iter().map(String::as_str)));
        };
        let (tool, mut arguments) = match kind {
            ResourceKind::Database => ("list_tables", json!({"database": name})),
            ResourceKind::Table => {
                let owners = self.catalog.schema.databases().map(|database| database.name.as_str());
                let (database, table) = divided(&name, owners);
                ("get_table_schema", json!({"database": database, "table": table}))
            }
            ResourceKind::Api => ("list_api_operations", json!({"api": name})),
            ResourceKind::Operation => {
                let owners = self.catalog.apis.apis().iter().map(|api| api.name.as_str());
                let (api, operation) = divided(&name, owners);
                ("get_operation_details", json!({"api": api, "operation": operation}))
            }
            ResourceKind::Document => ("get_document", json!({"name": name})),
            ResourceKind::Skill => ("get_skill", json!({"name": name})),
            ResourceKind::Fact => return self.fact(id, &name, max_tokens).await,
            ResourceKind::Column => {
                let advice = "ask for its table".to_owned();
                return Err(ToolError::invalid("a column is shown in its table", Some(advice)));
            }
        };
        arguments["max_tokens"] = max_tokens.into();
        self.full.call(tool, arguments).await
    }

    /// A fact, by its term. The store may know others whose terms hold it.
    async fn fact(&self, term: &str, name: &str, max_tokens: usize) -> Result<Answer, ToolError> {
        let arguments = json!({"contains": term, "max_tokens": max_tokens});
        let answer = self.full.call("list_known_facts", arguments).await?;
        let items = answer.value.as_array().or_else(|| answer.value["items"].as_array());
        let own: Vec<Value> = (items.into_iter().flatten())
            .filter(|fact| fact["term"].as_str().is_some_and(|known| known.eq_ignore_ascii_case(term)))
            .cloned()
            .collect();
        if own.is_empty() {
            return Ok(answer);
        }
        Ok(Answer::new(own.into(), vec![Resource::new(ResourceKind::Fact, name)]))
    }
}

/// The owner of a thing, and its name there. A name may hold dots, and so may that of its owner.
fn divided<'a>(id: &'a str, owners: impl Iterator<Item = &'a str>) -> (&'a str, &'a str) {
    let mut best = id.split_once('.').unwrap_or((id, ""));
    for owner in owners {
        if let Some(rest) = id.strip_prefix(owner).and_then(|rest| rest.strip_prefix('.'))
            && owner.len() > best.0.len()
        {
            best = (owner, rest);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(id: &str, owners: &[&str], expected: (&str, &str)) {
        assert_eq!(divided(id, owners.iter().copied()), expected);
    }

    #[test]
    fn the_longest_owner_has_the_thing() {
        check("store.invoices", &["store"], ("store", "invoices"));
        check("store.v2.invoices", &["store", "store.v2"], ("store.v2", "invoices"));
        check("store.public.invoices", &["store"], ("store", "public.invoices"));
        check("nothing", &["store"], ("nothing", ""));
    }
}
