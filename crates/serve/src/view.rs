//! One state of the catalog, as one owner sees it: what is listed of it, and each thing in full.

use std::sync::{Arc, Mutex};

use prospector_core::tool::{Answer, Effect, ToolError, ToolSpec};
use prospector_core::{Problem, record::ResourceKind};
use prospector_discovery::{Catalog, DiscoveryTools};
use serde_json::Value;

use crate::{
    listing::{Entry, KINDS, Part, first_line},
    query_sessions::QueryEngine,
};

/// One state of the catalog, as one owner sees it.
pub(crate) struct CatalogView {
    pub(crate) catalog: Arc<Catalog>,
    /// The tools of the profile that is served.
    pub(crate) tools: DiscoveryTools,
    /// What runs the queries of clients, and of workflows.
    pub(crate) queries: Arc<QueryEngine>,
    /// What there is, facts apart, which may be added at any time.
    pub(crate) entries: Arc<[Entry]>,
    /// Which state this is, from 1.
    pub(crate) generation: u64,
    /// What of the catalog could not be used, or only in part.
    pub(crate) problems: Arc<[Problem]>,
    /// Names and counts, for a model, and which facts it was made with: those change while everything else stays.
    pub(crate) map: Mutex<Option<(u64, Arc<str>)>>,
}

impl CatalogView {
    /// Every tool that is listed, by its name.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.tools.specs();
        specs.extend(self.queries.specs());
        specs.sort_by(|one, other| one.name.cmp(&other.name));
        specs
    }

    /// What a call of a tool does besides answering, where there is such a tool.
    pub(crate) fn effect(&self, name: &str) -> Option<Effect> {
        self.tools.effect(name).or_else(|| self.queries.effect(name))
    }

    /// Whether a tool of that name runs queries, and is called in a session.
    pub(crate) fn runs_queries(&self, name: &str) -> bool {
        self.tools.effect(name).is_none() && self.queries.has(name)
    }

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
                ResourceKind::Database
                | ResourceKind::Table
                | ResourceKind::Column
                | ResourceKind::Api
                | ResourceKind::Operation
                | ResourceKind::Document
                | ResourceKind::Skill
                | ResourceKind::Metric
                | ResourceKind::Query => self.entries.iter().filter(|entry| entry.kind == kind).count(),
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
