//! A state of the catalog as one owner sees it: lists of entries, and each entry in full.

use std::sync::{Arc, Mutex};

use prospector_core::tool::{Answer, Effect, ToolError, ToolSpec};
use prospector_core::{Problem, record::ResourceKind};
use prospector_discovery::{Catalog, DiscoveryTools};
use serde_json::Value;

use crate::{
    listing::{Entry, KINDS, Part, first_line},
    query_sessions::QueryEngine,
};

/// Limit on what is shown of one entry, in tokens.
const MAX_TOKENS: usize = 20_000;

pub(crate) struct CatalogView {
    pub(crate) catalog: Arc<Catalog>,
    /// The tools of the served profile.
    pub(crate) tools: DiscoveryTools,
    /// Runs the queries of clients and workflows.
    pub(crate) queries: Arc<QueryEngine>,
    /// Catalog entries except facts, which may be added at any time.
    pub(crate) entries: Arc<[Entry]>,
    /// Generation of the catalog, from 1.
    pub(crate) generation: u64,
    /// Parts of the catalog that could not be used, or only in part.
    pub(crate) problems: Arc<[Problem]>,
    /// Names and counts for a model, and the version of the facts included: facts change while the rest stays.
    pub(crate) map: Mutex<Option<(u64, Arc<str>)>>,
}

impl CatalogView {
    /// Returns every listed tool, by name.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.tools.specs();
        specs.extend(self.queries.specs());
        specs.sort_by(|one, other| one.name.cmp(&other.name));
        specs
    }

    /// Returns the side effect of a tool, if the tool exists.
    pub(crate) fn effect(&self, name: &str) -> Option<Effect> {
        self.tools.effect(name).or_else(|| self.queries.effect(name))
    }

    /// Whether a tool of that name runs queries, and so needs a session.
    pub(crate) fn runs_queries(&self, name: &str) -> bool {
        self.tools.effect(name).is_none() && self.queries.has(name)
    }

    /// Returns the current facts.
    pub(crate) fn facts(&self) -> Vec<Entry> {
        (self.catalog.facts.records().into_iter())
            .map(|fact| Entry { kind: ResourceKind::Fact, id: fact.name, description: first_line(&fact.description) })
            .collect()
    }

    /// Lists entries of a kind, or of every kind: `limit` entries from `offset`, among those whose id or description contains `text`.
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

    /// Returns the number of entries per kind.
    pub(crate) fn counts(&self) -> Value {
        let mut counts = serde_json::Map::new();
        for kind in KINDS {
            let count = if kind == ResourceKind::Fact {
                self.catalog.facts.records().len()
            } else {
                self.entries.iter().filter(|entry| entry.kind == kind).count()
            };
            counts.insert(kind.as_str().into(), count.into());
        }
        counts.into()
    }

    /// Returns an entry in full, as the tool of its kind shows it.
    pub(crate) async fn show(&self, kind: ResourceKind, id: &str) -> Result<Answer, ToolError> {
        self.tools.show(&self.catalog, kind, id, MAX_TOKENS).await
    }
}
