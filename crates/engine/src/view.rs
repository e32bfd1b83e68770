//! The tables that a query may read: the sources of the engine, and the loaded subsets of its session.

use std::ops::Deref;
use std::sync::Arc;

use crate::scope::{Scope, StoredSubset, source_of};
use crate::source::{ResolvedTable, Source};

/// The sources; if there are subsets, the last source contains them.
#[derive(Clone)]
pub(crate) struct View {
    sources: Vec<Arc<Source>>,
    held: Vec<Arc<StoredSubset>>,
}

impl View {
    /// Creates a view; if there are subsets, the last of `sources` must contain them.
    pub(crate) fn of(sources: Vec<Arc<Source>>, held: Vec<Arc<StoredSubset>>) -> Self {
        View { sources, held }
    }

    pub(crate) fn new(sources: &[Arc<Source>], scope: &Scope) -> Self {
        let mut view = View { sources: sources.to_vec(), held: Vec::new() };
        if let Some((source, held)) = scope.snapshot() {
            view.sources.push(source);
            view.held = held;
        }
        view
    }

    /// Returns the view without subsets.
    pub(crate) fn without_subsets(&self) -> Self {
        let count = self.subset_source().unwrap_or(self.sources.len());
        View { sources: self.sources[..count].to_vec(), held: Vec::new() }
    }

    /// Returns the view with additional subsets.
    pub(crate) fn with(&self, more: Vec<Arc<StoredSubset>>) -> Self {
        if more.is_empty() {
            return self.clone();
        }
        let View { mut sources, .. } = self.without_subsets();
        let held: Vec<Arc<StoredSubset>> = self.held.iter().cloned().chain(more).collect();
        sources.push(source_of(&held));
        View { sources, held }
    }

    /// Returns the subset of that name.
    pub(crate) fn find_subset(&self, name: &str) -> Option<&Arc<StoredSubset>> {
        self.held.iter().find(|held| held.table.name == name)
    }

    /// Adds a subset, replacing one of the same name.
    pub(crate) fn replace(&mut self, subset: StoredSubset) {
        let Some(at) = self.held.iter().position(|held| held.table.name == subset.table.name) else { return };
        self.held[at] = Arc::new(subset);
        if let Some(source) = self.sources.last_mut() {
            *source = source_of(&self.held);
        }
    }

    /// Returns the index of the source of the subsets.
    pub(crate) fn subset_source(&self) -> Option<usize> {
        (!self.held.is_empty()).then(|| self.sources.len() - 1)
    }

    /// Returns the subset that a table is, if any.
    pub(crate) fn subset(&self, found: &ResolvedTable) -> Option<&Arc<StoredSubset>> {
        self.held.get(found.table).filter(|_| self.subset_source() == Some(found.source))
    }

    /// Returns the database of origin of a table.
    pub(crate) fn database(&self, found: &ResolvedTable) -> String {
        match self.subset(found) {
            Some(held) => held.database.clone(),
            None => self.sources[found.source].name.clone(),
        }
    }

    /// Returns the table of origin as `database.table`.
    pub(crate) fn origin(&self, found: &ResolvedTable) -> String {
        match self.subset(found) {
            Some(held) => held.origin.clone(),
            None => {
                format!("{}.{}", self.sources[found.source].name, self.sources[found.source].tables[found.table].name)
            }
        }
    }
}

impl Deref for View {
    type Target = [Arc<Source>];

    fn deref(&self) -> &[Arc<Source>] {
        &self.sources
    }
}
