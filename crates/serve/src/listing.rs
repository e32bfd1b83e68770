//! What there is in a catalog, in one order, and each thing of it in full: for the resources of MCP and for the page.

use prospector_core::record::ResourceKind;
use prospector_core::tool::{Answer, ToolError};
use prospector_discovery::Catalog;
use serde::Serialize;
use serde_json::Value;

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
        self.tools.show(&self.catalog, kind, id, max_tokens).await
    }
}
