//! A data source, and how a name in a query is resolved to its table.

use std::sync::Arc;

use prospector_connect::Connector;
use prospector_connect::table::Table;
use prospector_core::name::nearest;
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

/// Resolves each name to its table; `only` is the one database that the query may read, and `first` the one whose tables need
/// no qualifier, regardless of other tables of the same name.
pub(crate) fn resolve(
    sources: &[Arc<Source>],
    first: Option<usize>,
    only: Option<usize>,
    dialect: Dialect,
    reads: &[ObjectName],
) -> Result<Vec<ResolvedTable>, Failure> {
    reads.iter().map(|written| one(sources, first, only, dialect, written)).collect()
}

/// Returns whether a name refers to a table, or is ambiguous.
pub(crate) fn has_table(
    sources: &[Arc<Source>],
    first: Option<usize>,
    only: Option<usize>,
    dialect: Dialect,
    written: &ObjectName,
) -> bool {
    let parts: Vec<&Ident> = written.0.iter().filter_map(|part| part.as_ident()).collect();
    let open = sources.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at) || first == Some(*at));
    open.into_iter().any(|(_, source)| {
        let is_prefixed = parts.len() > 1 && parts[0].value.eq_ignore_ascii_case(&source.name);
        table(source, dialect, &parts).is_some() || is_prefixed && table(source, dialect, &parts[1..]).is_some()
    })
}

fn one(
    sources: &[Arc<Source>],
    first: Option<usize>,
    only: Option<usize>,
    dialect: Dialect,
    written: &ObjectName,
) -> Result<ResolvedTable, Failure> {
    let parts: Vec<&Ident> = written.0.iter().filter_map(|part| part.as_ident()).collect();
    let open = || sources.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at));
    let named = |source: &Source| parts.len() > 1 && parts[0].value.eq_ignore_ascii_case(&source.name);
    for (source, known) in open().filter(|(_, source)| named(source)) {
        if let Some(table) = table(known, dialect, &parts[1..]) {
            return Ok(ResolvedTable { written: written.clone(), source, table, is_prefixed: true });
        }
    }
    if let Some(source) = first
        && let Some(table) = table(&sources[source], dialect, &parts)
    {
        return Ok(ResolvedTable { written: written.clone(), source, table, is_prefixed: false });
    }
    let bare: Vec<(usize, usize)> =
        open().filter_map(|(at, source)| Some((at, table(source, dialect, &parts)?))).collect();
    match bare.as_slice() {
        [(source, table)] => {
            Ok(ResolvedTable { written: written.clone(), source: *source, table: *table, is_prefixed: false })
        }
        [] => Err(unknown(sources, only, dialect, written, &parts)),
        several => {
            let places: Vec<String> = several
                .iter()
                .map(|(source, table)| format!("`{}.{}`", sources[*source].name, sources[*source].tables[*table].name))
                .collect();
            let message = format!("`{written}` may be {}", places.join(" or "));
            Err(Failure::new(FailureCode::UnknownTable, message).advise("qualify the table by its database"))
        }
    }
}

/// Returns the table of that name, as the dialect compares names.
fn table(source: &Source, dialect: Dialect, parts: &[&Ident]) -> Option<usize> {
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
    if let Some(exact) = source.tables.iter().position(is_exact) {
        return Some(exact);
    }
    let wanted = match folded.as_slice() {
        [schema, name] if schema == own => name.clone(),
        names => names.join("."),
    };
    let is_whole = |table: &Table| table.path.is_none() || folded.len() == 1;
    source.tables.iter().position(|table| is_whole(table) && is_same(&table.name, &wanted))
}

fn unknown(
    sources: &[Arc<Source>],
    only: Option<usize>,
    dialect: Dialect,
    written: &ObjectName,
    parts: &[&Ident],
) -> Failure {
    let bare = parts.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
    let open =
        || sources.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at)).map(|(_, s)| s.as_ref());
    let names: Vec<String> = open()
        .flat_map(|source| {
            source.tables.iter().map(move |table| match only {
                Some(_) => table.name.clone(),
                None => format!("{}.{}", source.name, table.name),
            })
        })
        .collect();
    let failure = Failure::new(FailureCode::UnknownTable, format!("unknown table `{written}`"));
    let near = nearest(&bare, names.iter().map(String::as_str), 3);
    let same = names.iter().find(|name| {
        let lower = name.to_lowercase();
        lower == bare.to_lowercase() || lower.ends_with(&format!(".{}", bare.to_lowercase()))
    });
    match (same, near.as_slice()) {
        // A name that contains a dot is parsed as schema and table.
        (Some(name), _) if *name == bare || name.ends_with(&format!(".{bare}")) => {
            failure.advise(format!("quote the whole name of the table: `{name}`"))
        }
        (Some(name), _) if matches!(dialect, Dialect::Postgres | Dialect::Mysql | Dialect::Bigquery) => {
            failure.advise(format!("names are case-sensitive here: write `{name}`, quoted if it has capitals"))
        }
        (_, []) => failure.advise(LIST_TABLES),
        (_, near) => {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            failure.advise(format!("did you mean {}? {LIST_TABLES}", near.join(", ")))
        }
    }
}

/// Returns the failure for an unknown database, with the nearest names.
pub(crate) fn unknown_database(sources: &[Arc<Source>], name: &str) -> Failure {
    let failure = Failure::new(FailureCode::UnknownDatabase, format!("unknown database `{name}`"));
    failure.suggest_nearest(name, sources.iter().map(|source| source.name.as_str()), "there is no database")
}
