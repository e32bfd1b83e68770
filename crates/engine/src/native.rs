//! The text that a source is sent: the query as it was written anew, with the names that the source has for its tables.

use std::collections::HashSet;

use prospector_core::name::nearest;
use sqlparser::ast::{Ident, ObjectName};

use crate::guard::{CheckedQuery, examine};
use crate::rewrite::{Piece, RewrittenQuery};
use crate::source::{ResolvedTable, Source};
use crate::{Dialect, Failure, FailureCode};

/// Columns that every table of PostgreSQL has and nobody describes.
const SYSTEM_COLUMNS: [&str; 6] = ["cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"];

/// The statement in the names of the source.
///
/// # Errors
/// Where a column that is named with its table is none of it, in PostgreSQL; where the text would not be read as it is
/// meant.
pub(crate) fn text(checked: &CheckedQuery, found: &[ResolvedTable], source: &Source) -> Result<String, Failure> {
    let dialect = source.dialect();
    let rewritten = &checked.rewritten;
    if dialect == Dialect::Postgres {
        check_attributes(rewritten, found, source)?;
    }
    let table = |at: usize| found.get(at).map(|found| write_table(dialect, &source.tables[found.table].name));
    let column = |parts: &[Ident]| {
        let names_source = parts[0].value.eq_ignore_ascii_case(&source.name);
        let follows = |found: &ResolvedTable| {
            let last = found.written.0.iter().rev().filter_map(|part| part.as_ident()).next();
            found.is_prefixed && last.is_some_and(|last| last.value.eq_ignore_ascii_case(&parts[parts.len() - 2].value))
        };
        let rest = if names_source && found.iter().any(follows) { &parts[1..] } else { parts };
        match (dialect, rest) {
            (Dialect::Mysql, [.., schema, table, _]) => {
                let wanted = format!("{}.{}", schema.value, table.value);
                let is_read = |found: &ResolvedTable| source.tables[found.table].name == wanted;
                if !found.iter().any(is_read) {
                    return Err(Failure::new(
                        FailureCode::UnknownColumn,
                        format!("there is no column `{}`", written_as(rest)),
                    )
                    .advise("name a column by the table's alias, or by its name without a database"));
                }
                // MariaDB 10.11 ends when a column that USING joins is named with its database.
                Ok(qualify(dialect, &rest[rest.len() - 2..]))
            }
            (Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Bigquery | Dialect::Joined, _) => {
                Ok(qualify(dialect, rest))
            }
        }
    };
    let text = assemble(rewritten, table, column)?;
    check_round_trip(dialect, &source.functions, rewritten)?;
    Ok(text)
}

/// The pieces in one, with what stands for tables and columns.
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

/// Whether the text that is sent is read as the tree that was judged: read again, it must be written as the same text.
fn check_round_trip(dialect: Dialect, functions: &[String], rewritten: &RewrittenQuery) -> Result<(), Failure> {
    let plain = |rewritten: &RewrittenQuery| {
        let name =
            |name: &ObjectName| -> Vec<Ident> { name.0.iter().filter_map(|part| part.as_ident()).cloned().collect() };
        let table = |at: usize| rewritten.reads.get(at).map(|read| qualify(dialect, &name(read)));
        assemble(rewritten, table, |parts| Ok(qualify(dialect, parts)))
    };
    let once = plain(rewritten)?;
    let again = examine(dialect, functions, &once).and_then(|checked| plain(&checked.rewritten));
    match again {
        Ok(twice) if twice == once => Ok(()),
        _ => Err(Failure::refuse(format!(
            "the statement cannot be written so that {} is sure to read it alike",
            dialect.as_str()
        ))
        .advise("write it in a plainer form, one expression at a time")),
    }
}

/// Whether each name behind a point is a column. In PostgreSQL `row.name` calls the function `name` where there is no such
/// column.
fn check_attributes(rewritten: &RewrittenQuery, found: &[ResolvedTable], source: &Source) -> Result<(), Failure> {
    let dialect = Dialect::Postgres;
    let last = |name: &ObjectName| name.0.iter().rev().filter_map(|part| part.as_ident()).next().cloned();
    let columns = |found: &ResolvedTable| source.tables[found.table].columns.iter().map(|column| column.name.as_str());
    let all: HashSet<&str> = found.iter().flat_map(columns).collect();
    for (qualifier, attribute) in &rewritten.attributes {
        let name = dialect.name_of(attribute);
        if SYSTEM_COLUMNS.contains(&name.as_str()) {
            continue;
        }
        // What a table is called in the query: its alias, or its own name.
        let owners: Vec<&ResolvedTable> = qualifier.as_ref().map_or_else(Vec::new, |qualifier| {
            let wanted = dialect.name_of(qualifier);
            let tables = rewritten.pieces.iter().filter_map(|piece| match piece {
                Piece::Table { at, alias } => Some((*at, alias)),
                Piece::Text(_) | Piece::Column(_) => None,
            });
            tables
                .filter(|(at, alias)| match alias {
                    Some(alias) => *alias == dialect.quote(&wanted),
                    None => {
                        rewritten.reads.get(*at).and_then(last).is_some_and(|last| dialect.name_of(&last) == wanted)
                    }
                })
                .filter_map(|(at, _)| found.get(at))
                .collect()
        });
        let is_known = match owners.as_slice() {
            [] => all.contains(name.as_str()) || rewritten.made.contains(&name),
            // Columns can be named anew behind an alias.
            owners => {
                owners.iter().any(|owner| columns(owner).any(|column| column == name))
                    || rewritten.renamed.contains(&name)
            }
        };
        if !is_known {
            let failure =
                Failure::new(FailureCode::UnknownColumn, format!("there is no column `{}`", name.escape_debug()));
            let near = nearest(&name, all.iter().copied(), 3);
            return Err(match near.as_slice() {
                [] => failure.advise("look the columns up with get_table_schema"),
                near => failure.advise(format!(
                    "did you mean {}? names with capitals may need quotes",
                    near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
                )),
            });
        }
    }
    Ok(())
}

/// A name of several parts, of which the last may be all columns.
fn qualify(dialect: Dialect, parts: &[Ident]) -> String {
    let part = |part: &Ident| match (part.quote_style, part.value.as_str()) {
        (None, "*") => "*".to_owned(),
        _ => dialect.quote(&dialect.name_of(part)),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(".")
}

/// A name as the statement has it.
fn written_as(parts: &[Ident]) -> String {
    parts.iter().map(|part| part.value.escape_debug().to_string()).collect::<Vec<_>>().join(".")
}

/// A name as an identifier.
pub(crate) fn quote(dialect: Dialect, name: &str) -> String {
    match dialect {
        // A column inside a record is a path.
        Dialect::Bigquery => name.split('.').map(|part| dialect.quote(part)).collect::<Vec<_>>().join("."),
        Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Joined => dialect.quote(name),
    }
}

/// The name of a table as the source has it, such that nothing else can be meant.
pub(crate) fn write_table(dialect: Dialect, name: &str) -> String {
    let quote = |name: &str| quote(dialect, name);
    let in_schema = |(schema, table): (&str, &str)| format!("{}.{}", quote(schema), quote(table));
    match dialect {
        // PostgreSQL looks in other schemas first unless told.
        Dialect::Postgres => name.split_once('.').map_or_else(|| format!("public.{}", quote(name)), in_schema),
        Dialect::Mysql => name.split_once('.').map_or_else(|| quote(name), in_schema),
        Dialect::Sqlite => format!("main.{}", quote(name)),
        Dialect::Bigquery | Dialect::Joined => quote(name),
    }
}
