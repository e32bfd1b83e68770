//! Displayed names of MySQL tables, and table lookup.

use serde_json::Value;
use sqlx::mysql::MySqlConnection;

use super::dialect::Dialect;
use super::session::fetch;
use crate::budget::Budget;
use crate::sql_server::Place;
use crate::statement::{BoundValue, Dialect as _, Statement, TypedColumn};

/// The databases to describe, and the one whose tables have unprefixed names.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// The database whose tables have unprefixed names.
    own: Option<String>,
    /// The databases to describe; empty means all but system databases.
    wanted: Vec<String>,
}

impl Scope {
    pub(super) fn new(own: Option<&str>, wanted: &[String]) -> Scope {
        let own = own.map(|name| percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned());
        let wanted = if wanted.is_empty() { own.iter().cloned().collect() } else { wanted.to_vec() };
        Scope { own, wanted }
    }

    /// Returns the databases.
    pub(super) async fn databases(&self, connection: &mut MySqlConnection) -> Result<Vec<String>, sqlx::Error> {
        if !self.wanted.is_empty() {
            return Ok(self.wanted.clone());
        }
        let sql = "SELECT CAST(SCHEMA_NAME AS CHAR) FROM information_schema.SCHEMATA \
             WHERE SCHEMA_NAME NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys') ORDER BY 1";
        Ok(texts(connection, sql, &[]).await?.into_iter().filter_map(|row| row.into_iter().next()).collect())
    }

    /// Returns the displayed name of a table.
    pub(super) fn name(&self, database: &str, table: &str) -> String {
        match self.own.as_deref() {
            Some(own) if own == database => table.to_owned(),
            _ => format!("{database}.{table}"),
        }
    }
}

/// Finds a table by name: an exact match, or else the only case-insensitive one.
pub(super) async fn find(
    connection: &mut MySqlConnection,
    scope: &Scope,
    name: &str,
) -> Result<Option<Place>, sqlx::Error> {
    let databases = scope.databases(connection).await?;
    for database in &databases {
        let prefix = scope.name(database, "");
        if let Some(table) = name.strip_prefix(&prefix)
            && let Some(place) = place(connection, database, table).await?
        {
            return Ok(Some(place));
        }
    }
    let mut found: Vec<(&String, String)> = Vec::new();
    for database in &databases {
        let sql = "SELECT CAST(TABLE_NAME AS CHAR) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?";
        for table in texts(connection, sql, &[database]).await?.into_iter().filter_map(|row| row.into_iter().next()) {
            if scope.name(database, &table).to_lowercase() == name.to_lowercase() {
                found.push((database, table));
            }
        }
    }
    match found.as_slice() {
        [(database, table)] => place(connection, database, table).await,
        _ => Ok(None),
    }
}

async fn place(connection: &mut MySqlConnection, database: &str, table: &str) -> Result<Option<Place>, sqlx::Error> {
    // Servers may compare these names case-insensitively.
    let sql = "SELECT CAST(TABLE_NAME AS CHAR), CAST(COLUMN_NAME AS CHAR), LOWER(CAST(DATA_TYPE AS CHAR)) \
         FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION";
    let rows = texts(connection, sql, &[database, table]).await?;
    let mut columns = Vec::new();
    for row in rows {
        if let [name, column, data_type] = row.as_slice()
            && name == table
        {
            columns.push(TypedColumn { name: column.clone(), data_type: data_type.clone() });
        }
    }
    let from = format!("{}.{}", Dialect.quote(database), Dialect.quote(table));
    Ok((!columns.is_empty()).then_some(Place { from, columns }))
}

/// Returns which of these names the session's database has as stored functions. A name without a database means a built-in
/// function, or else such a stored function. Names are compared as the server does.
pub(super) async fn find_stored(
    connection: &mut MySqlConnection,
    functions: &[String],
) -> Result<Vec<String>, sqlx::Error> {
    let names: Vec<&str> = functions.iter().map(String::as_str).collect();
    let sql = format!(
        "SELECT CAST(ROUTINE_NAME AS CHAR) FROM information_schema.ROUTINES \
         WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_TYPE = 'FUNCTION' AND ROUTINE_NAME IN ({})",
        vec!["?"; names.len()].join(", ")
    );
    Ok(texts(connection, &sql, &names).await?.into_iter().flatten().collect())
}

/// Returns the result of a metadata query as texts; null is an empty text.
pub(super) async fn texts(
    connection: &mut MySqlConnection,
    sql: &str,
    bound: &[&str],
) -> Result<Vec<Vec<String>>, sqlx::Error> {
    let values = bound.iter().map(|text| BoundValue::Text((*text).to_owned())).collect();
    let statement = Statement { sql: sql.to_owned(), values };
    let rows = fetch(connection, &statement, Budget::of_rows(), usize::MAX, None).await?.rows;
    let text = |value: Value| match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    Ok(rows.rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect())
}
