//! The text that is sent to a source: the rewritten query with the source's own names of its tables.

use prospector_connect::rows::FieldNames;
use prospector_connect::table::{Table, TablePath};
use sqlparser::ast::Ident;

use crate::attributes;
use crate::guard::{CheckedQuery, examine};
use crate::rewrite::{Piece, RewrittenQuery};
use crate::source::{ResolvedTable, Source};
use crate::syntax::{is_wildcard, last_part};
use crate::{Dialect, Failure, FailureCode};

/// A statement in the names of its source.
#[derive(Debug, Clone)]
pub(crate) struct NativeQuery {
    pub(crate) sql: String,
    /// The names that PostgreSQL is asked about before it runs the statement.
    pub(crate) fields: Option<FieldNames>,
    /// The built-in functions that MySQL is asked about before it runs the statement.
    pub(crate) functions: Vec<String>,
}

/// Renders the statement in the names of the source.
///
/// # Errors
/// - In PostgreSQL, if a qualified name is not certain to be a column.
/// - If the text would be parsed differently than intended.
pub(crate) fn write(checked: &CheckedQuery, found: &[ResolvedTable], source: &Source) -> Result<NativeQuery, Failure> {
    let dialect = source.dialect();
    let tables: Vec<&Table> = found.iter().map(|found| &source.tables[found.table]).collect();
    let column = |parts: &[Ident]| write_column(parts, found, source);
    let table = |at: usize| tables.get(at).map(|table| write_table(dialect, table));
    let sql = assemble(&checked.rewritten, table, column)?;
    let again = read_again(dialect, &source.functions, &sql, &tables)?;
    let fields = match dialect {
        Dialect::Postgres => Some(check_fields(&again, &tables)?),
        Dialect::Mysql | Dialect::Sqlite | Dialect::Bigquery | Dialect::Joined => None,
    };
    let functions = match dialect {
        Dialect::Mysql => again.rewritten.functions.into_iter().collect(),
        Dialect::Postgres | Dialect::Sqlite | Dialect::Bigquery | Dialect::Joined => Vec::new(),
    };
    Ok(NativeQuery { sql, fields, functions })
}

/// Verifies the qualified names in the statement that is sent.
fn check_fields(sent: &CheckedQuery, tables: &[&Table]) -> Result<FieldNames, Failure> {
    let columns_of = |schema: &str, name: &str| {
        let is_meant = |table: &&&Table| list_parts(Dialect::Postgres, table) == [schema, name];
        let table = tables.iter().find(is_meant)?;
        Some(table.columns.iter().map(|column| column.name.clone()).collect())
    };
    let names = attributes::check(&sent.query, &columns_of)?.into_iter().collect();
    let path = |table: &&Table| match list_parts(Dialect::Postgres, table).as_slice() {
        [schema, name] => Some(TablePath { schema: (*schema).to_owned(), name: (*name).to_owned() }),
        _ => None,
    };
    Ok(FieldNames { names, tables: tables.iter().filter_map(path).collect() })
}

/// Renders a column name of three or more parts, of which the first may be the catalog's name of the database.
fn write_column(parts: &[Ident], found: &[ResolvedTable], source: &Source) -> Result<String, Failure> {
    let dialect = source.dialect();
    let names_source = parts[0].value.eq_ignore_ascii_case(&source.name);
    let follows = |found: &ResolvedTable| {
        found.is_prefixed
            && last_part(&found.written)
                .is_some_and(|last| last.value.eq_ignore_ascii_case(&parts[parts.len() - 2].value))
    };
    let rest = if names_source && found.iter().any(follows) { &parts[1..] } else { parts };
    match (dialect, rest) {
        (Dialect::Mysql, [.., schema, table, _]) => {
            let is_read = |found: &ResolvedTable| {
                let path = source.tables[found.table].path.as_ref();
                path.is_some_and(|path| path.schema == schema.value && path.name == table.value)
            };
            if !found.iter().any(is_read) {
                return Err(Failure::new(FailureCode::UnknownColumn, format!("unknown column `{}`", written_as(rest)))
                    .advise("qualify the column by the table's alias, or by the table's name without a database"));
            }
            // MariaDB 10.11 crashes on a USING column that is qualified by its database.
            Ok(qualify(dialect, &rest[rest.len() - 2..]))
        }
        (Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Bigquery | Dialect::Joined, _) => {
            Ok(qualify(dialect, rest))
        }
    }
}

/// Joins the pieces, with the rendered names of tables and columns.
fn assemble(
    rewritten: &RewrittenQuery,
    table: impl Fn(usize) -> Option<String>,
    column: impl Fn(&[Ident]) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let mut text = String::new();
    for piece in &rewritten.pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Column(parts) => text.push_str(&column(parts)?),
            Piece::Table { at, alias } => {
                text.push_str(&table(*at).ok_or_else(|| Failure::refuse("a table of the query was not found"))?);
                if let Some(alias) = alias {
                    text.push_str(" AS ");
                    text.push_str(alias);
                }
            }
        }
    }
    Ok(text)
}

/// Parses the text that is sent as the source will. Rewriting it again must give the same text, over the same tables.
fn read_again(dialect: Dialect, functions: &[String], sql: &str, tables: &[&Table]) -> Result<CheckedQuery, Failure> {
    let again = examine(dialect, functions, sql);
    let is_same = |again: &CheckedQuery| {
        let reads = &again.rewritten.reads;
        let table = |at: usize| {
            let (read, table) = (reads.get(at)?, tables.get(at)?);
            let parts = read.0.iter().filter_map(|part| part.as_ident()).map(|part| dialect.name_of(part));
            parts.eq(list_parts(dialect, table)).then(|| write_table(dialect, table))
        };
        let written = assemble(&again.rewritten, table, |parts| Ok(qualify(dialect, parts)));
        reads.len() == tables.len() && written.is_ok_and(|written| written == sql)
    };
    match again {
        Ok(again) if is_same(&again) => Ok(again),
        _ => Err(Failure::refuse(format!(
            "the statement cannot be rendered so that {} is certain to parse it the same way",
            dialect.as_str()
        ))
        .advise("simplify the query, one expression at a time")),
    }
}

/// Renders a name of several parts, the last of which may be a wildcard.
fn qualify(dialect: Dialect, parts: &[Ident]) -> String {
    let part = |part: &Ident| match is_wildcard(part) {
        true => "*".to_owned(),
        false => dialect.quote(&dialect.name_of(part)),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(".")
}

/// Returns a name as it appears in the statement.
fn written_as(parts: &[Ident]) -> String {
    parts.iter().map(|part| part.value.escape_debug().to_string()).collect::<Vec<_>>().join(".")
}

/// Quotes a name as an identifier.
pub(crate) fn quote(dialect: Dialect, name: &str) -> String {
    match dialect {
        // A column inside a record is a path.
        Dialect::Bigquery => name.split('.').map(|part| dialect.quote(part)).collect::<Vec<_>>().join("."),
        Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Joined => dialect.quote(name),
    }
}

/// Renders the name of a table in the source, unambiguously.
pub(crate) fn write_table(dialect: Dialect, table: &Table) -> String {
    let parts = list_parts(dialect, table);
    let quoted = parts.iter().enumerate().map(|(at, part)| match (dialect, *part) {
        (Dialect::Postgres, "public") | (Dialect::Sqlite, "main") if at == 0 => (*part).to_owned(),
        _ => dialect.quote(part),
    });
    quoted.collect::<Vec<_>>().join(".")
}

/// Returns the identifiers that name a table in a statement.
fn list_parts(dialect: Dialect, table: &Table) -> Vec<&str> {
    match (dialect, &table.path) {
        // PostgreSQL searches other schemas first, unless the schema is named.
        (Dialect::Postgres, Some(path)) => vec![&path.schema, &path.name],
        (Dialect::Postgres, None) => vec!["public", &table.name],
        // A table of the session's own database is named without its schema.
        (Dialect::Mysql, Some(path)) if table.name != path.name => vec![&path.schema, &path.name],
        (Dialect::Sqlite, _) => vec!["main", &table.name],
        (Dialect::Bigquery, _) => table.name.split('.').collect(),
        (Dialect::Mysql | Dialect::Joined, _) => vec![&table.name],
    }
}

#[cfg(test)]
mod tests;
