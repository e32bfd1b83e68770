//! Reading rows: by conditions, or for a query of somebody else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::TryStreamExt;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Column, Executor, Row, SqlSafeStr, SqliteConnection, Statement as _};

use super::guard::guard;
use super::pool::reason;
use super::value::whole;
use super::{PATIENCE, Sqlite, quoted};
use crate::filter::sql::{Bound, Dialect as SqlDialect, Known, Statement, capped, select};
use crate::filter::text;
use crate::{ConnectError, FilterCondition, Rows};

/// The SQL of SQLite.
struct Dialect;

impl SqlDialect for Dialect {
    fn quoted(&self, name: &str) -> String {
        quoted(name)
    }

    fn bound(&self, position: usize, _: &Known, value: &Value) -> Result<(String, Bound), String> {
        // The affinity of the column makes of a bound text what the column holds.
        let bound = match value {
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => Bound::Integer(number),
                (None, Some(number)) => Bound::Float(number),
                (None, None) => Bound::Text(number.to_string()),
            },
            Value::Bool(yes) => Bound::Integer((*yes).into()),
            other => Bound::Text(text(other)),
        };
        let hexadecimal = matches!(&bound, Bound::Text(text) if text.starts_with("\\x"));
        Ok((if hexadecimal { bytes_or_text(position) } else { format!("?{position}") }, bound))
    }

    fn like(&self, column: &str, position: usize) -> String {
        format!("{column} LIKE ?{position} ESCAPE '\\'")
    }
}

/// A text like `\x00ff` is what bytes are shown as; where it is not one after all, it is a text.
fn bytes_or_text(position: usize) -> String {
    format!("ifnull(unhex(substr(?{position}, 3)), ?{position})")
}

impl Sqlite {
    pub(super) async fn filtered(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        let mut connection = self.database.connection(PATIENCE).await?;
        let known: Vec<Known> = self
            .columns(&mut connection, table, &[])
            .await?
            .into_iter()
            .map(|name| Known { name, data_type: String::new() })
            .collect();
        let wanted = crate::filter::sql::columns(&known, columns).map_err(|reason| self.read(table, reason))?;
        let from = format!("main.{}", quoted(table));
        let statement = select(&Dialect, table, &from, &wanted, &known, conditions, limit)?;
        let rows = fetch(&mut connection, statement, limit).await;
        rows.map_err(|error| self.read(table, reason(&error)))
    }

    pub(super) async fn answered(&self, sql: &str, cap: usize) -> Result<Rows, ConnectError> {
        let failed = |error: sqlx::Error| self.read("the answer to a query", reason(&error));
        let mut connection = self.database.connection(PATIENCE).await?;
        // What it is not allowed any more, the others that share it need.
        connection.close_on_drop();
        let gone = Gone(Arc::default());
        guard(&mut connection, PATIENCE, gone.0.clone()).await.map_err(failed)?;
        fetch(&mut connection, Statement { sql: sql.to_owned(), values: Vec::new() }, cap).await.map_err(failed)
    }
}

/// Tells SQLite to stop when nobody waits for the answer any more.
struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn fetch(connection: &mut SqliteConnection, statement: Statement, cap: usize) -> Result<Rows, sqlx::Error> {
    let sql = AssertSqlSafe(statement.sql).into_sql_str();
    let mut query = sqlx::query::<sqlx::Sqlite>(sql.clone()).persistent(false);
    for bound in &statement.values {
        query = match bound {
            Bound::Text(text) => query.bind(text),
            Bound::Integer(number) => query.bind(number),
            Bound::Float(number) => query.bind(number),
        };
    }
    let mut names: Option<Vec<String>> = None;
    let mut rows = Vec::new();
    {
        let mut stream = query.fetch(&mut *connection);
        while rows.len() <= cap
            && let Some(row) = stream.try_next().await?
        {
            if names.is_none() {
                names = Some(row.columns().iter().map(|column| column.name().to_owned()).collect());
            }
            rows.push((0..row.len()).map(|index| whole(&row, index)).collect());
        }
    }
    let names = match names {
        Some(names) => names,
        // No row says what the columns are called.
        None => {
            let prepared = connection.prepare(sql).await?;
            prepared.columns().iter().map(|column| column.name().to_owned()).collect()
        }
    };
    Ok(capped(names, rows, cap))
}
