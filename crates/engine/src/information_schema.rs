//! Descriptions of the databases as tables: `information_schema.schemata`, `.tables` and `.columns`, and the statements that
//! are rewritten to queries over them: `SHOW DATABASES`, `SHOW TABLES`, `DESCRIBE t`. `FROM t` alone is short for `SELECT *
//! FROM t`.
//!
//! No source is asked: the rows are the described tables that may be read.

use prospector_connect::table::{Column, ColumnType, Table};
use serde_json::{Value, json};
use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, Tokenizer};

use crate::joined::write_types;
use crate::named::INFORMATION_SCHEMA;
use crate::scope::{StoredSubset, batch};
use crate::source::{Source, unknown_database};
use crate::syntax::idents;
use crate::view::View;
use crate::{Dialect, Failure, FailureCode};

/// The tables, each with its columns.
const TABLES: [(&str, &[(&str, ColumnType)]); 3] = [
    (
        "schemata",
        &[("schema_name", ColumnType::Text), ("sql_dialect", ColumnType::Text), ("table_count", ColumnType::Integer)],
    ),
    (
        "tables",
        &[
            ("table_schema", ColumnType::Text),
            ("table_name", ColumnType::Text),
            ("table_type", ColumnType::Text),
            ("row_count", ColumnType::Integer),
            ("table_comment", ColumnType::Text),
        ],
    ),
    (
        "columns",
        &[
            ("table_schema", ColumnType::Text),
            ("table_name", ColumnType::Text),
            ("column_name", ColumnType::Text),
            ("ordinal_position", ColumnType::Integer),
            ("data_type", ColumnType::Text),
            ("is_nullable", ColumnType::Text),
            ("column_key", ColumnType::Text),
            ("column_comment", ColumnType::Text),
        ],
    ),
];

/// Returns the rows of an information schema table over these sources, or `None` for a table of another schema.
///
/// # Errors
/// If the schema has no table of that name, with the valid names.
pub(crate) fn find(view: &View, written: &ObjectName) -> Result<Option<StoredSubset>, Failure> {
    let parts = idents(written);
    let [schema, name] = parts.as_slice() else { return Ok(None) };
    if !schema.value.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
        return Ok(None);
    }
    let Some((name, columns)) = TABLES.into_iter().find(|(known, _)| name.value.eq_ignore_ascii_case(known)) else {
        let message = format!("unknown table `{written}`");
        let names = TABLES.map(|(name, _)| format!("`{INFORMATION_SCHEMA}.{name}`")).join(", ");
        return Err(Failure::new(FailureCode::UnknownTable, message).advise(format!("use one of {names}")));
    };
    let tables = || view.iter().flat_map(|source| source.tables.iter().map(move |table| (source, table)));
    let rows: Vec<Vec<Value>> = match name {
        "schemata" => view
            .iter()
            .map(|source| vec![json!(source.name), json!(source.dialect().as_str()), json!(source.tables.len())])
            .collect(),
        "tables" => tables().map(|(source, table)| row_of_table(&source.name, table)).collect(),
        _ => tables().flat_map(|(source, table)| rows_of_columns(source, table)).collect(),
    };
    let columns: Vec<Column> = columns
        .iter()
        .map(|(name, column_type)| Column { name: (*name).to_owned(), column_type: *column_type, ..Column::default() })
        .collect();
    let batch = batch(&columns, &rows).map_err(|error| Failure::new(FailureCode::Failed, error.to_string()))?;
    let id = format!("{INFORMATION_SCHEMA}.{name}");
    let table = Table { name: id.clone(), columns, ..Table::default() };
    Ok(Some(StoredSubset { table, database: INFORMATION_SCHEMA.to_owned(), origin: id, batch, share: None }))
}

fn row_of_table(database: &str, table: &Table) -> Vec<Value> {
    let kind = if table.is_view { "VIEW" } else { "BASE TABLE" };
    vec![json!(database), json!(table.name), json!(kind), json!(table.row_count), comment(&table.description)]
}

fn rows_of_columns<'a>(source: &'a Source, table: &'a Table) -> impl Iterator<Item = Vec<Value>> + 'a {
    table.columns.iter().enumerate().map(move |(at, column)| {
        let is_foreign = table.foreign_keys.iter().any(|key| key.columns.contains(&column.name));
        let key = match column.primary_key {
            true => json!("PRIMARY KEY"),
            false if is_foreign => json!("FOREIGN KEY"),
            false => Value::Null,
        };
        let declared = table.type_of(column);
        // Files have the types of Arrow.
        let data_type = if source.dialect() == Dialect::Joined { write_types(&declared) } else { declared };
        vec![
            json!(source.name),
            json!(table.name),
            json!(column.name),
            json!(at + 1),
            json!(data_type),
            json!(if column.nullable { "YES" } else { "NO" }),
            key,
            comment(&column.description),
        ]
    })
}

fn comment(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { json!(text) }
}

/// Returns the query that a statement is short for; `None` if the statement is used as it is. `only` is the database that it is
/// over.
///
/// # Errors
/// If `DESCRIBE` names an unknown table, with the nearest tables.
pub(crate) fn expand(view: &View, sql: &str, only: Option<usize>) -> Result<Option<String>, Failure> {
    let Ok(tokens) = Tokenizer::new(Dialect::Joined.grammar(), sql).tokenize() else { return Ok(None) };
    let mut tokens: Vec<Token> = tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect();
    while tokens.last() == Some(&Token::SemiColon) {
        tokens.pop();
    }
    let word = |at: usize| match tokens.get(at) {
        Some(Token::Word(word)) if word.quote_style.is_none() => word.value.to_lowercase(),
        _ => String::new(),
    };
    let words = [word(0), word(1), word(2)];
    Ok(match words.each_ref().map(String::as_str) {
        ["show", "databases" | "schemas", _] if tokens.len() == 2 => Some(show_databases()),
        ["show", "tables", ""] if tokens.len() == 2 => Some(show_tables(only.map(|at| view[at].name.as_str()))),
        ["show", "tables", "from" | "in"] if tokens.len() == 4 => match &tokens[3] {
            Token::Word(word) => Some(show_tables(Some(&find_database(view, &word.value)?))),
            _ => None,
        },
        ["describe" | "desc", "table", _] if tokens.len() > 2 => describe(view, &tokens[2..], only)?,
        ["show", "columns", "from" | "in"] if tokens.len() > 3 => describe(view, &tokens[3..], only)?,
        ["describe" | "desc", ..] if tokens.len() > 1 => describe(view, &tokens[1..], only)?,
        ["from", ..] if tokens.len() > 1 && !has_select(&tokens) => Some(format!("SELECT * {sql}")),
        _ => None,
    })
}

fn show_databases() -> String {
    format!(
        "SELECT schema_name AS database, sql_dialect AS dialect, table_count AS tables FROM {INFORMATION_SCHEMA}.schemata ORDER BY 1"
    )
}

fn show_tables(database: Option<&str>) -> String {
    let condition = database.map(|name| format!(" WHERE table_schema = {}", quote(name))).unwrap_or_default();
    format!(
        "SELECT table_schema AS database, table_name AS \"table\", row_count AS \"rows\", table_comment AS comment \
         FROM {INFORMATION_SCHEMA}.tables{condition} ORDER BY 1, 2"
    )
}

fn find_database(view: &View, name: &str) -> Result<String, Failure> {
    let found = view.iter().find(|source| source.name.eq_ignore_ascii_case(name));
    found.map(|source| source.name.clone()).ok_or_else(|| unknown_database(view, name))
}

/// Returns the query for the columns of the table that these tokens name; `None` if they are not a name.
fn describe(view: &View, tokens: &[Token], only: Option<usize>) -> Result<Option<String>, Failure> {
    let mut parts = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            // Names in the dialect of joined queries are in lower case.
            Token::Word(word) if at % 2 == 0 => {
                parts.push(ObjectNamePart::Identifier(Ident::new(word.value.to_lowercase())))
            }
            Token::Period if at % 2 == 1 => {}
            _ => return Ok(None),
        }
    }
    let name = ObjectName(parts);
    if name.0.is_empty() {
        return Ok(None);
    }
    let found = view.resolve(only, Dialect::Joined, &[name])?;
    let Some((source, table)) =
        found.first().map(|found| (&view[found.source], &view[found.source].tables[found.table]))
    else {
        return Ok(None);
    };
    Ok(Some(format!(
        "SELECT column_name AS \"column\", data_type AS \"type\", is_nullable AS nullable, column_key AS \"key\", \
         column_comment AS comment FROM {INFORMATION_SCHEMA}.columns \
         WHERE table_schema = {} AND table_name = {} ORDER BY ordinal_position",
        quote(&source.name),
        quote(&table.name)
    )))
}

/// Returns whether a SELECT follows outside of parentheses: then `FROM t` is not the whole query.
fn has_select(tokens: &[Token]) -> bool {
    let mut depth = 0usize;
    tokens.iter().any(|token| {
        match token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(token, Token::Word(word) if word.keyword == Keyword::SELECT)
    })
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
