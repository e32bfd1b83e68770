//! One state of the catalog, as one owner sees it: what is listed of it, and each thing in full.

use std::sync::{Arc, Mutex};

use prospector_core::record::ResourceKind;
use prospector_core::tool::{Answer, ToolError};
use prospector_discovery::{Catalog, DiscoveryTools};
use serde_json::Value;

use crate::listing::{Entry, KINDS, Part, first_line};

/// One state of the catalog, as one owner sees it.
pub(crate) struct CatalogView {
    pub(crate) catalog: Arc<Catalog>,
    /// The tools of the profile that is served.
    pub(crate) tools: DiscoveryTools,
    /// What there is, facts apart, which may be added at any time.
    pub(crate) entries: Arc<[Entry]>,
    /// Which state this is, from 1.
    pub(crate) generation: u64,
    /// How much of the catalog could not be used.
    pub(crate) problems: usize,
    /// Names and counts, for a model, and which facts it was made with: those change while everything else stays.
    pub(crate) map: Mutex<Option<(u64, Arc<str>)>>,
}

impl CatalogView {
    /// Calls a tool, of whichever profile.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        self.tools.call(name, arguments).await
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
                | ResourceKind::Skill => self.entries.iter().filter(|entry| entry.kind == kind).count(),
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
