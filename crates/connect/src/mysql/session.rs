//! Transactions that can only read, and reading the answer to one statement.

use std::time::Duration;

use async_trait::async_trait;
use futures::TryStreamExt;
use sqlx::mysql::MySqlConnection;
use sqlx::{AssertSqlSafe, Column, Executor, MySql, Row, SqlSafeStr, Statement as _};

use super::value::{text, value};
use crate::Rows;
use crate::filter::sql::{Bound, Statement, capped};
use crate::server::Dialogue;

#[async_trait]
impl Dialogue for MySqlConnection {
    async fn begin_reading(&mut self, patience: Duration) -> Result<u64, sqlx::Error> {
        let about = sqlx::raw_sql("SELECT VERSION(), CAST(CONNECTION_ID() AS CHAR)").fetch_one(&mut *self).await?;
        let seconds = patience.as_secs().max(1);
        let limit = match text(&about, 0).contains("MariaDB") {
            true => format!("max_statement_time = {seconds}"),
            false => format!("max_execution_time = {}", patience.as_millis()),
        };
        let begin = format!(
            "SET SESSION {limit}, SESSION lock_wait_timeout = {seconds}; SET SESSION TRANSACTION READ ONLY; \
             START TRANSACTION READ ONLY"
        );
        sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut *self).await?;
        text(&about, 1).parse().map_err(|_| sqlx::Error::Protocol("the connection has no number".to_owned()))
    }

    async fn end(&mut self) -> Result<(), sqlx::Error> {
        sqlx::raw_sql("ROLLBACK").execute(self).await.map(drop)
    }

    async fn stop(&mut self, number: u64) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(AssertSqlSafe(format!("KILL QUERY {number}"))).execute(self).await.map(drop)
    }
}

/// The answer to one statement, at most `cap` rows, and whether the server has more that were not read: then the
/// connection is of no use for anything else.
///
/// It is prepared, which takes one statement and no more.
pub(super) async fn fetch(
    connection: &mut MySqlConnection,
    statement: &Statement,
    cap: usize,
) -> Result<(Rows, bool), sqlx::Error> {
    let sql = AssertSqlSafe(statement.sql.clone()).into_sql_str();
    let mut query = sqlx::query::<MySql>(sql.clone()).persistent(false);
    for bound in &statement.values {
        query = match bound {
            Bound::Text(text) => query.bind(text),
            Bound::Integer(number) => query.bind(number),
            Bound::Float(number) => query.bind(number),
        };
    }
    let mut names: Option<Vec<String>> = None;
    let (mut rows, mut left) = (Vec::new(), false);
    {
        let mut stream = query.fetch(&mut *connection);
        while let Some(row) = stream.try_next().await? {
            if rows.len() > cap {
                left = true;
                break;
            }
            if names.is_none() {
                names = Some(row.columns().iter().map(|column| column.name().to_owned()).collect());
            }
            rows.push((0..row.len()).map(|index| value(&row, index)).collect());
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
    Ok((capped(names, rows, cap), left))
}
