//! The catalog entries in a fixed order, for MCP resources and for the page.

use prospector_core::record::ResourceKind;
use prospector_discovery::Catalog;
use serde::Serialize;

/// The listed kinds, in order. Columns are listed with their tables.
pub(crate) const KINDS: [ResourceKind; 9] = [
    ResourceKind::Database,
    ResourceKind::Table,
    ResourceKind::Api,
    ResourceKind::Operation,
    ResourceKind::Document,
    ResourceKind::Skill,
    ResourceKind::Metric,
    ResourceKind::Query,
    ResourceKind::Fact,
];

/// A catalog entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Entry {
    pub(crate) kind: ResourceKind,
    /// The id that plans use.
    pub(crate) id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
}

/// Returns every entry except facts, in catalog order.
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
    for metric in catalog.metrics.metrics() {
        let about = match metric.description.as_str() {
            "" => catalog.metrics.define(metric),
            description => description.to_owned(),
        };
        add(ResourceKind::Metric, metric.name.clone(), &about);
    }
    for skill in catalog.skills.skills() {
        add(ResourceKind::Skill, skill.name.clone(), &skill.description);
    }
    for query in catalog.verified.queries() {
        add(ResourceKind::Query, query.name.clone(), &query.question);
    }
    entries
}

/// Returns the first line of a text, truncated if long.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(200) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line.to_owned(),
    }
}

/// A page of a list, and the length of the whole list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Part {
    pub(crate) items: Vec<Entry>,
    pub(crate) total: usize,
    /// Offset of the next page, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<usize>,
}
