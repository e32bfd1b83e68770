//! The tables that a query may read: the sources of the engine, and the loaded subsets of its session.

use std::ops::Deref;
use std::sync::Arc;

use prospector_core::name::nearest;
use sqlparser::ast::ObjectName;

use crate::failure::quote_names;
use crate::scope::{Scope, StoredSubset, source_of};
use crate::source::{LIST_TABLES, ResolvedTable, Source};
use crate::syntax::idents;
use crate::{Dialect, Failure, FailureCode};

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

    /// Resolves each name to its table; `only` is the source that the query may read, if it is limited to one.
    ///
    /// # Errors
    /// If a name is unknown or ambiguous.
    pub(crate) fn resolve(
        &self,
        only: Option<usize>,
        dialect: Dialect,
        reads: &[ObjectName],
    ) -> Result<Vec<ResolvedTable>, Failure> {
        let one = |written: &ObjectName| {
            let mut found = self.find(only, dialect, written);
            let place = |found: &ResolvedTable| {
                let source = &self.sources[found.source];
                format!("`{}.{}`", source.name, source.tables[found.table].name)
            };
            match found.len() {
                0 => Err(self.explain_unknown(only, dialect, written)),
                1 => Ok(found.remove(0)),
                _ => {
                    let places: Vec<String> = found.iter().map(place).collect();
                    let message = format!("`{written}` may be {}", places.join(" or "));
                    Err(Failure::new(FailureCode::UnknownTable, message).advise("qualify the table by its database"))
                }
            }
        };
        reads.iter().map(one).collect()
    }

    /// Returns whether a name refers to a table, or is ambiguous.
    pub(crate) fn has_table(&self, only: Option<usize>, dialect: Dialect, written: &ObjectName) -> bool {
        !self.find(only, dialect, written).is_empty()
    }

    /// Returns the tables that a name may refer to: the one in the database that qualifies it, a subset, or else those of that
    /// name in any database.
    fn find(&self, only: Option<usize>, dialect: Dialect, written: &ObjectName) -> Vec<ResolvedTable> {
        let parts = idents(written);
        let resolved = |source: usize, table: usize, is_prefixed: bool| {
            let written = written.clone();
            ResolvedTable { written, source, table, is_prefixed }
        };
        let is_named = |source: &Source| parts.len() > 1 && parts[0].value.eq_ignore_ascii_case(&source.name);
        let prefixed = (self.open(only).filter(|(_, source)| is_named(source)))
            .find_map(|(at, source)| Some(resolved(at, source.find_table(dialect, &parts[1..])?, true)));
        let bare = |(at, source): (usize, &Source)| Some(resolved(at, source.find_table(dialect, &parts)?, false));
        let subset = || bare(self.subset_source().filter(|_| only.is_none()).map(|at| (at, &*self.sources[at]))?);
        match prefixed.or_else(subset) {
            Some(found) => vec![found],
            None => self.open(only).filter_map(bare).collect(),
        }
    }

    /// Returns the sources that a query may read.
    fn open(&self, only: Option<usize>) -> impl Iterator<Item = (usize, &Source)> {
        let all = self.sources.iter().map(|source| &**source).enumerate();
        all.filter(move |(at, _)| only.is_none_or(|only| only == *at))
    }

    fn explain_unknown(&self, only: Option<usize>, dialect: Dialect, written: &ObjectName) -> Failure {
        let bare = idents(written).iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
        let names: Vec<String> = (self.open(only))
            .flat_map(|(_, source)| {
                source.tables.iter().map(move |table| match only {
                    Some(_) => table.name.clone(),
                    None => format!("{}.{}", source.name, table.name),
                })
            })
            .collect();
        let failure = Failure::new(FailureCode::UnknownTable, format!("unknown table `{written}`"));
        let same = names.iter().find(|name| {
            let lower = name.to_lowercase();
            lower == bare.to_lowercase() || lower.ends_with(&format!(".{}", bare.to_lowercase()))
        });
        match same {
            // A name that contains a dot is parsed as schema and table.
            Some(name) if *name == bare || name.ends_with(&format!(".{bare}")) => {
                failure.advise(format!("quote the whole name of the table: `{name}`"))
            }
            Some(name) if matches!(dialect, Dialect::Postgres | Dialect::Mysql | Dialect::Bigquery) => {
                failure.advise(format!("names are case-sensitive here: write `{name}`, quoted if it has capitals"))
            }
            _ => match nearest(&bare, names.iter().map(String::as_str), 3).as_slice() {
                [] => failure.advise(LIST_TABLES),
                near => failure.advise(format!("did you mean {}? {LIST_TABLES}", quote_names(near))),
            },
        }
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
