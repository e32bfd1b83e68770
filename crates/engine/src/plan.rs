//! What is to be done for a query: the judged statement, its tables, and the named queries that are read first.

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

/// What is to be done for a query.
pub(crate) struct Plan {
    pub(crate) view: View,
    pub(crate) checked: CheckedQuery,
    pub(crate) found: Vec<ResolvedTable>,
    /// The source and what it is sent; none where the query is run here.
    pub(crate) native: Option<(usize, NativeQuery)>,
    /// The statement, with the named queries that became a part of it.
    pub(crate) sql: String,
    /// The named queries whose rows are read before the statement is run.
    pub(crate) reads_first: Vec<NamedRead>,
    /// Whether a named query is a part of it.
    pub(crate) has_named: bool,
}

/// A named query whose rows are read before a statement that reads them as a table.
#[derive(Debug, Clone)]
pub(crate) struct NamedRead {
    /// Its place in [`EngineOptions::named`].
    pub(crate) at: usize,
    /// What the statement calls it: a table of the subsets.
    pub(crate) table: String,
    pub(crate) databases: Vec<String>,
    pub(crate) origins: Vec<String>,
}

impl Plan {
    /// The dialect that the statement is written in.
    pub(crate) fn dialect(&self) -> Dialect {
        self.native.as_ref().map_or(Dialect::Joined, |(source, _)| self.view[*source].dialect())
    }

    /// The statement.
    pub(crate) fn query(&self) -> &Query {
        &self.checked.query
    }

    /// The text of the statement; places in [`Plan::query`] are places in it.
    pub(crate) fn sql(&self) -> &str {
        &self.sql
    }

    /// The tables that it reads, with the names as they are written.
    pub(crate) fn reads(&self) -> impl Iterator<Item = (&ObjectName, &Table)> {
        self.found.iter().map(|found| (&found.written, &self.view[found.source].tables[found.table]))
    }

    /// The statement, to be computed by DataFusion.
    pub(crate) fn statement(&self) -> Statement<'_> {
        Statement { sql: &self.sql, view: &self.view, checked: &self.checked, found: &self.found }
    }

    /// The tables that it reads.
    pub(crate) fn tables(&self) -> Vec<&Table> {
        self.found.iter().map(|found| &self.view[found.source].tables[found.table]).collect()
    }

    /// The same by their names.
    pub(crate) fn table_names(&self) -> Vec<&str> {
        self.tables().into_iter().map(|table| table.name.as_str()).collect()
    }

    /// The digits behind the point of the decimals that it returns, where its source computes them as binary fractions.
    pub(crate) fn scales(&self) -> Scales {
        match self.dialect() {
            Dialect::Sqlite => Scales::of(self.query(), &self.tables()),
            Dialect::Postgres | Dialect::Mysql | Dialect::Bigquery | Dialect::Joined => Scales::default(),
        }
    }

    /// The tables that it reads, as `database.table`.
    pub(crate) fn origins(&self) -> Vec<String> {
        let of = |found: &ResolvedTable| match self.named_read(found) {
            Some(read) => read.origins.clone(),
            None => vec![self.view.origin(found)],
        };
        sort_names(self.found.iter().flat_map(of))
    }

    /// The databases that it reads.
    pub(crate) fn databases(&self) -> Vec<String> {
        let of = |found: &ResolvedTable| match self.named_read(found) {
            Some(read) => read.databases.clone(),
            None => vec![self.view.database(found)],
        };
        sort_names(self.found.iter().flat_map(of))
    }

    /// The named query that a table is, where its rows are read first.
    pub(crate) fn named_read(&self, found: &ResolvedTable) -> Option<&NamedRead> {
        let name = self.view.subset(found).map(|held| held.table.name.as_str())?;
        self.reads_first.iter().find(|read| read.table == name)
    }

    /// Whether it reads what was loaded, or named queries.
    pub(crate) fn is_scoped(&self) -> bool {
        self.has_named || self.found.iter().any(|found| self.view.subset(found).is_some())
    }

    /// The query as a derived table of another statement.
    pub(crate) fn derive_table(&self) -> String {
        let database_of = |name: &ObjectName| {
            // By its place: a query under WITH may be called like the table that it reads.
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
