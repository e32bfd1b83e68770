//! The plan of a query: the validated statement, its tables, and the named queries that are read first.

use std::collections::BTreeSet;

use prospector_connect::table::Table;
use sqlparser::ast::{ObjectName, Query, Spanned};

use crate::decimals::Scales;
use crate::guard::CheckedQuery;
use crate::joined::Statement;
use crate::native::NativeQuery;
use crate::source::ResolvedTable;
use crate::view::View;
use crate::{Dialect, named};

/// The plan of a query.
pub(crate) struct Plan {
    pub(crate) view: View,
    pub(crate) checked: CheckedQuery,
    pub(crate) found: Vec<ResolvedTable>,
    /// The source and the statement that it is sent; `None` if the query is run here.
    pub(crate) native: Option<(usize, NativeQuery)>,
    /// The statement, with named queries inlined; the positions in [`Plan::query`] refer to it.
    pub(crate) sql: String,
    /// The named queries whose rows are read before the statement is run.
    pub(crate) reads_first: Vec<NamedRead>,
    /// Whether a named query was inlined.
    pub(crate) has_named: bool,
}

/// A named query whose rows are read before a statement that reads them as a table.
#[derive(Debug, Clone)]
pub(crate) struct NamedRead {
    /// Its index in [`EngineOptions::named`].
    pub(crate) at: usize,
    /// Its name in the statement: a table of the subsets.
    pub(crate) table: String,
    pub(crate) databases: Vec<String>,
    pub(crate) origins: Vec<String>,
}

impl Plan {
    /// Returns the dialect of the statement.
    pub(crate) fn dialect(&self) -> Dialect {
        self.native.as_ref().map_or(Dialect::Joined, |(source, _)| self.view[*source].dialect())
    }

    /// Returns the parsed statement.
    pub(crate) fn query(&self) -> &Query {
        &self.checked.query
    }

    /// Returns the tables that it reads, with their names as written.
    pub(crate) fn reads(&self) -> impl Iterator<Item = (&ObjectName, &Table)> {
        self.found.iter().map(|found| (&found.written, &self.view[found.source].tables[found.table]))
    }

    /// Returns the statement for DataFusion.
    pub(crate) fn statement(&self) -> Statement<'_> {
        Statement { sql: &self.sql, view: &self.view, checked: &self.checked, found: &self.found }
    }

    /// Returns the tables that it reads.
    pub(crate) fn tables(&self) -> Vec<&Table> {
        self.found.iter().map(|found| &self.view[found.source].tables[found.table]).collect()
    }

    /// Returns the names of the tables that it reads.
    pub(crate) fn table_names(&self) -> Vec<&str> {
        self.tables().into_iter().map(|table| table.name.as_str()).collect()
    }

    /// Returns the scales of the decimals that it returns, if its source computes them in binary floating point.
    pub(crate) fn scales(&self) -> Scales {
        match self.dialect() {
            Dialect::Sqlite => Scales::of(self.query(), &self.tables()),
            Dialect::Postgres | Dialect::Mysql | Dialect::Bigquery | Dialect::Joined => Scales::default(),
        }
    }

    /// Returns the tables that it reads, as `database.table`.
    pub(crate) fn origins(&self) -> Vec<String> {
        let of = |found: &ResolvedTable| match self.named_read(found) {
            Some(read) => read.origins.clone(),
            None => vec![self.view.origin(found)],
        };
        sort_names(self.found.iter().flat_map(of))
    }

    /// Returns the databases that it reads.
    pub(crate) fn databases(&self) -> Vec<String> {
        let of = |found: &ResolvedTable| match self.named_read(found) {
            Some(read) => read.databases.clone(),
            None => vec![self.view.database(found)],
        };
        sort_names(self.found.iter().flat_map(of))
    }

    /// Returns the named query of a table whose rows are read first.
    pub(crate) fn named_read(&self, found: &ResolvedTable) -> Option<&NamedRead> {
        let name = self.view.subset(found).map(|held| held.table.name.as_str())?;
        self.reads_first.iter().find(|read| read.table == name)
    }

    /// Returns whether it reads loaded subsets or named queries.
    pub(crate) fn is_scoped(&self) -> bool {
        self.has_named || self.found.iter().any(|found| self.view.subset(found).is_some())
    }

    /// Renders the query as a derived table of another statement.
    pub(crate) fn derive_table(&self) -> String {
        let database_of = |name: &ObjectName| {
            // By position: a query under WITH may have the name of the table that it reads.
            let at = name.span().start;
            let found = self.found.iter().find(|found| found.written.span().start == at && !found.is_prefixed)?;
            Some(self.view[found.source].name.clone())
        };
        named::derive_table(self.dialect(), &self.sql, self.query(), &database_of)
    }
}

fn sort_names(names: impl Iterator<Item = String>) -> Vec<String> {
    let names: BTreeSet<String> = names.collect();
    names.into_iter().collect()
}
