//! Transactions that can only read, and reading the answer to one statement.

use std::time::Duration;

use async_trait::async_trait;
use futures::TryStreamExt;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Column, Executor, Postgres, Row, Statement as _};

use super::value::value;
use crate::Rows;
use crate::filter::sql::{Bound, Statement, capped};
use crate::server::Dialogue;

#[async_trait]
impl Dialogue for PgConnection {
    async fn begin_reading(&mut self, patience: Duration) -> Result<u64, sqlx::Error> {
        // Settings of the transaction alone, so that they hold behind a pooler too. The values are shown in forms that
        // the server's own settings may not change.
        let begin = format!(
            "BEGIN TRANSACTION READ ONLY; \
             SET LOCAL statement_timeout = {ms}; SET LOCAL lock_timeout = {ms}; \
             SET LOCAL idle_in_transaction_session_timeout = {idle}; \
             SET LOCAL bytea_output = hex; SET LOCAL extra_float_digits = 1; SET LOCAL cursor_tuple_fraction = 1; \
             SET LOCAL standard_conforming_strings = on; SET LOCAL DateStyle = ISO",
            ms = patience.as_millis(),
            idle = patience.as_millis() * 2,
        );
        sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut *self).await?;
        let row = sqlx::raw_sql("SELECT pg_backend_pid()::text").fetch_one(&mut *self).await?;
        row.try_get::<&str, _>(0)?.parse().map_err(|_| sqlx::Error::Protocol("the backend has no number".to_owned()))
    }

    async fn end(&mut self) -> Result<(), sqlx::Error> {
        sqlx::raw_sql("ROLLBACK").execute(self).await.map(drop)
    }

    async fn stop(&mut self, number: u64) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(AssertSqlSafe(format!("SELECT pg_cancel_backend({number})"))).execute(self).await.map(drop)
    }
}

/// The answer to one query, at most `cap` rows.
///
/// The query is opened as a cursor: that takes one statement, which must be a query, and sends no more rows than are
/// fetched. Rows are fetched with the simple protocol, in which every value is the text that PostgreSQL writes for it.
pub(super) async fn fetch(
    connection: &mut PgConnection,
    statement: &Statement,
    cap: usize,
) -> Result<Rows, sqlx::Error> {
    let declare = format!("DECLARE answer NO SCROLL CURSOR WITHOUT HOLD FOR\n{}", statement.sql);
    let mut query = sqlx::query::<Postgres>(AssertSqlSafe(declare)).persistent(false);
    for bound in &statement.values {
        query = match bound {
            Bound::Text(text) => query.bind(text),
            Bound::Integer(number) => query.bind(number),
            Bound::Float(number) => query.bind(number),
        };
    }
    query.execute(&mut *connection).await?;
    let forward = format!("FETCH FORWARD {} FROM answer", cap.saturating_add(1).min(i64::MAX as usize));
    let mut names: Option<Vec<String>> = None;
    let mut rows = Vec::new();
    {
        let mut stream = sqlx::raw_sql(AssertSqlSafe(forward)).fetch(&mut *connection);
        while let Some(row) = stream.try_next().await? {
            if names.is_none() {
                names = Some(named(&row));
            }
            rows.push((0..row.len()).map(|index| value(&row, index)).collect());
        }
    }
    let names = match names {
        Some(names) => names,
        // No row says what the columns are called.
        None => {
            let prepared = connection.prepare(sqlx::SqlStr::from_static("FETCH FORWARD 0 FROM answer")).await?;
            prepared.columns().iter().map(|column| column.name().to_owned()).collect()
        }
    };
    Ok(capped(names, rows, cap))
}

/// Has one query planned, and not executed. It is prepared, which takes one statement and no more.
pub(super) async fn plan(connection: &mut PgConnection, sql: &str) -> Result<(), sqlx::Error> {
    let explain = AssertSqlSafe(format!("EXPLAIN {sql}"));
    sqlx::query::<Postgres>(explain).persistent(false).fetch_all(connection).await.map(drop)
}

fn named(row: &PgRow) -> Vec<String> {
    row.columns().iter().map(|column| column.name().to_owned()).collect()
}
