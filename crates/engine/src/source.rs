//! A data source, and how a name in a query is resolved to its table.

use std::sync::Arc;

use prospector_connect::Connector;
use prospector_connect::table::Table;
use sqlparser::ast::{Ident, ObjectName};

use crate::{Dialect, Failure, FailureCode};

/// How to list the tables.
pub(crate) const LIST_TABLES: &str = "`SHOW TABLES` lists all tables";

/// A database, with the tables that queries may read.
#[derive(Clone)]
pub struct Source {
    /// The name of the database, which qualifies table names in queries.
    pub name: String,
    /// The tables that queries may read.
    pub tables: Vec<Table>,
    /// Functions that queries may call in addition to the allow-list, as `name` or `schema.name`.
    pub functions: Vec<String>,
    /// The connector that reads the database.
    pub connector: Arc<dyn Connector>,
}

impl Source {
    /// Returns the SQL dialect of queries to the source.
    pub fn dialect(&self) -> Dialect {
        self.connector.kind().dialect()
    }

    /// Returns the index of the table of that name, as the dialect compares names.
    pub(crate) fn find_table(&self, dialect: Dialect, parts: &[&Ident]) -> Option<usize> {
        let meant = |part: &&Ident| match dialect {
            Dialect::Postgres | Dialect::Mysql | Dialect::Bigquery => dialect.name_of(part),
            Dialect::Sqlite => part.value.to_ascii_lowercase(),
            // Names in the dialect of joined queries are already in lower case.
            Dialect::Joined => part.value.clone(),
        };
        let folded: Vec<String> = parts.iter().map(meant).collect();
        let own = match dialect {
            Dialect::Postgres => "public",
            Dialect::Sqlite => "main",
            Dialect::Mysql | Dialect::Bigquery | Dialect::Joined => "",
        };
        let is_same = |name: &str, wanted: &str| match dialect {
            Dialect::Postgres | Dialect::Mysql | Dialect::Bigquery => name == wanted,
            Dialect::Sqlite => name.to_ascii_lowercase() == wanted,
            Dialect::Joined => name.to_lowercase() == wanted,
        };
        // A table qualified by its schema, or of the default schema. Either name may contain dots, so the parts are not
        // concatenated.
        let is_exact = |table: &Table| match (&table.path, folded.as_slice()) {
            (Some(path), [schema, name]) => is_same(&path.schema, schema) && is_same(&path.name, name),
            (Some(path), [name]) => table.name == path.name && is_same(&path.name, name),
            _ => false,
        };
        if let Some(exact) = self.tables.iter().position(is_exact) {
            return Some(exact);
        }
        let wanted = match folded.as_slice() {
            [schema, name] if schema == own => name.clone(),
            names => names.join("."),
        };
        let is_whole = |table: &Table| table.path.is_none() || folded.len() == 1;
        self.tables.iter().position(|table| is_whole(table) && is_same(&table.name, &wanted))
    }
}

/// The table that a name in a query refers to.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedTable {
    /// The name as it is written.
    pub(crate) written: ObjectName,
    pub(crate) source: usize,
    pub(crate) table: usize,
    /// Whether the name is qualified by the database.
    pub(crate) is_prefixed: bool,
}

/// Returns the failure for an unknown database, with the nearest names.
pub(crate) fn unknown_database(sources: &[Arc<Source>], name: &str) -> Failure {
    let failure = Failure::new(FailureCode::UnknownDatabase, format!("unknown database `{name}`"));
    let otherwise = match sources.is_empty() {
        true => "there is no database",
        false => "`SHOW DATABASES` lists all databases",
    };
    failure.suggest_nearest(name, sources.iter().map(|source| source.name.as_str()), otherwise)
}
