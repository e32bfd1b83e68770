//! Read-only transactions with fixed parsing modes, and fetching the result of one statement.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use futures::TryStreamExt;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{AssertSqlSafe, Column, ConnectOptions, Executor, MySql, Row, SqlSafeStr, Statement as _};

use super::value::{size, text, value};
use crate::budget::Budget;
use crate::rows::{BlockSender, Rows};
use crate::server::ReadOnlySession;
use crate::sql_server::FetchedRows;
use crate::statement::{BoundValue, Statement};

/// Modes that affect the validity and computation of values: the server's settings are kept, so that a query has the same
/// meaning as for other clients. All other modes affect parsing (`NO_BACKSLASH_ESCAPES`, `ANSI_QUOTES`,
/// `PIPES_AS_CONCAT`, `HIGH_NOT_PRECEDENCE`, `IGNORE_SPACE`, `EMPTY_STRING_IS_NULL`, `REAL_AS_FLOAT`, `ORACLE`, `MSSQL`,
/// ...) and are removed, including unknown ones.
const KEPT_MODES: [&str; 14] = [
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_DIR_IN_CREATE",
    "NO_ENGINE_SUBSTITUTION",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_ZERO_DATE",
    "NO_ZERO_IN_DATE",
    "ONLY_FULL_GROUP_BY",
    "PAD_CHAR_TO_FULL_LENGTH",
    "STRICT_ALL_TABLES",
    "STRICT_TRANS_TABLES",
    "TIME_ROUND_FRACTIONAL",
    "TIME_TRUNCATE_FRACTIONAL",
];

/// Variables that limit the resources of a statement, in bytes; a smaller value of the server is kept. Some exist only in
/// MariaDB, the last from 11.5 on.
const BOUNDED: [(&str, u64); 9] = [
    ("tmp_table_size", 64 << 20),
    ("max_heap_table_size", 64 << 20),
    ("sort_buffer_size", 8 << 20),
    ("join_buffer_size", 8 << 20),
    ("read_rnd_buffer_size", 8 << 20),
    ("join_buffer_space_limit", 64 << 20),
    ("group_concat_max_len", crate::budget::MAX_CELL_BYTES as u64),
    ("tmp_disk_table_size", 4 << 30),
    ("max_tmp_session_space_usage", 4 << 30),
];

/// The variables of a new session.
struct About {
    number: String,
    /// The requested variables that the server knows, by lower-case name.
    variables: HashMap<String, String>,
}

impl About {
    async fn of(connection: &mut MySqlConnection) -> Result<About, sqlx::Error> {
        let asked = ["sql_mode", "character_set_client", "character_set_connection", "character_set_results"];
        let asked = asked.into_iter().chain(["max_statement_time", "max_execution_time", "lock_wait_timeout"]);
        let names: Vec<String> =
            asked.chain(BOUNDED.iter().map(|(name, _)| *name)).map(|name| format!("'{name}'")).collect();
        let sql = format!(
            "SELECT 'number', CAST(CONNECTION_ID() AS CHAR); SHOW SESSION VARIABLES WHERE Variable_name IN ({})",
            names.join(", ")
        );
        let rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(connection).await?;
        let mut pairs = rows.iter().map(|row| (text(row, 0).to_lowercase(), text(row, 1)));
        let number = pairs.next().map(|(_, number)| number).unwrap_or_default();
        Ok(About { number, variables: pairs.collect() })
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.variables.get(name)?.parse().ok()
    }

    /// Returns the modes of the server that are kept.
    fn modes(&self) -> String {
        let modes = self.variables.get("sql_mode").map(String::as_str).unwrap_or_default().split(',');
        let kept: Vec<String> = modes.map(str::to_uppercase).filter(|mode| is_kept(mode)).collect();
        kept.join(",")
    }

    /// Returns assignments that lower known variables to at most these values; 0 means unlimited.
    fn lower<'a>(&self, most: impl IntoIterator<Item = (&'a str, f64)>) -> Vec<String> {
        let is_above = |name: &str, most: f64| self.number(name).is_some_and(|now| now <= 0.0 || now > most);
        let above = most.into_iter().filter(|(name, most)| is_above(name, *most));
        above.map(|(name, most)| format!("SESSION {name} = {most}")).collect()
    }
}

fn is_kept(mode: &str) -> bool {
    KEPT_MODES.contains(&mode)
}

#[async_trait]
impl ReadOnlySession for MySqlConnection {
    type Route = MySqlConnectOptions;

    async fn open(route: &MySqlConnectOptions) -> Result<Self, sqlx::Error> {
        route.connect().await
    }

    async fn begin_reading(&mut self, time_limit: Duration) -> Result<u64, sqlx::Error> {
        let about = About::of(self).await?;
        // A limit that the server does not allow to be set is skipped.
        let limits = about.lower(BOUNDED.iter().map(|(name, most)| (*name, *most as f64)));
        if !limits.is_empty() && set(self, &limits.join(", ")).await.is_err() {
            for one in &limits {
                if let Err(error) = set(self, one).await {
                    tracing::debug!(%error, one, "a limit cannot be set");
                }
            }
        }
        let seconds = time_limit.as_secs().max(1) as f64;
        let times = [
            // The first is MariaDB's, the second MySQL's.
            ("max_statement_time", seconds),
            ("max_execution_time", time_limit.as_millis().max(1) as f64),
            ("lock_wait_timeout", seconds),
        ];
        let mut settings = about.lower(times);
        settings.push(format!("SESSION sql_mode = '{}'", about.modes()));
        // Otherwise `IS NULL` on an auto-increment column may match the last inserted row.
        settings.push("SESSION sql_auto_is_null = 0, SESSION sql_select_limit = DEFAULT".to_owned());
        let is_utf8 = |(name, value): (&String, &String)| !name.starts_with("character_set") || value == "utf8mb4";
        let names = if about.variables.iter().all(is_utf8) { "" } else { "SET NAMES utf8mb4; " };
        let begin = format!(
            "{names}SET {}; SET SESSION TRANSACTION READ ONLY; START TRANSACTION READ ONLY; SELECT @@SESSION.sql_mode",
            settings.join(", ")
        );
        let answers = sqlx::raw_sql(AssertSqlSafe(begin)).fetch_all(&mut *self).await?;
        // A proxy may change the setting, so the effective mode is verified.
        let modes = answers.last().map(|row| text(row, 0)).unwrap_or_default();
        if let Some(mode) = modes.split(',').find(|mode| !mode.is_empty() && !is_kept(mode)) {
            return Err(sqlx::Error::Protocol(format!("the server does not disable the SQL mode {mode}")));
        }
        about.number.parse().map_err(|_| sqlx::Error::Protocol("the server returned no connection id".to_owned()))
    }

    /// Sufficient for generated statements. User statements require [`crate::server::Session::close`]: user variables and
    /// locks last as long as the connection, and the driver lacks the protocol command to reset it.
    async fn end(&mut self) -> Result<(), sqlx::Error> {
        sqlx::raw_sql("ROLLBACK").execute(self).await.map(drop)
    }

    async fn stop(&mut self, number: u64) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(AssertSqlSafe(format!("KILL QUERY {number}"))).execute(self).await.map(drop)
    }
}

async fn set(connection: &mut MySqlConnection, settings: &str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(format!("SET {settings}"))).execute(connection).await.map(drop)
}

/// Fetches the result of one statement: at most `cap` rows within the budget. With `blocks`, the rows are sent there in
/// blocks limited by the budget, and none is left in the returned result.
///
/// The statement is prepared, which excludes multiple statements. A row is buffered before its values can be counted:
/// each has at most `max_allowed_packet` bytes, which a session cannot lower.
pub(super) async fn fetch(
    connection: &mut MySqlConnection,
    statement: &Statement,
    mut budget: Budget,
    cap: usize,
    blocks: Option<&BlockSender>,
) -> Result<FetchedRows, sqlx::Error> {
    let sql = AssertSqlSafe(statement.sql.clone()).into_sql_str();
    let mut query = sqlx::query::<MySql>(sql.clone()).persistent(false);
    for bound in &statement.values {
        query = match bound {
            BoundValue::Text(text) => query.bind(text),
            BoundValue::Integer(number) => query.bind(number),
            BoundValue::Float(number) => query.bind(number),
        };
    }
    let mut names: Option<Vec<String>> = None;
    let mut answer = FetchedRows { rows: Rows::default(), excess: None, is_left: false };
    let mut count = 0;
    {
        let mut stream = query.fetch(&mut *connection);
        'rows: while let Some(row) = stream.try_next().await? {
            if names.is_none() {
                names = Some(row.columns().iter().map(|column| column.name().to_owned()).collect());
            }
            if count == cap {
                // The first excess row may be the last row.
                answer.is_left = std::mem::replace(&mut answer.rows.has_more, true);
                match answer.is_left {
                    true => break,
                    false => continue,
                }
            }
            let mut values = Vec::with_capacity(row.len());
            for at in 0..row.len() {
                if let Err(excess) = budget.take(at, size(&row, at)) {
                    (answer.excess, answer.is_left) = (Some(excess), true);
                    break 'rows;
                }
                values.push(value(&row, at));
            }
            answer.rows.rows.push(values);
            count += 1;
            if let (Some(blocks), Some(names)) = (blocks, &names)
                && budget.is_block()
            {
                let rows = std::mem::take(&mut answer.rows.rows);
                if blocks.send(Rows { columns: names.clone(), rows, has_more: false }).await.is_err() {
                    answer.is_left = true;
                    break;
                }
                budget.renew();
            }
        }
    }
    answer.rows.columns = match names {
        Some(names) => names,
        // Without rows, the column names must be requested.
        None => columns(connection, sql).await?,
    };
    if let Some(blocks) = blocks.filter(|_| answer.excess.is_none()) {
        let next = Rows { columns: answer.rows.columns.clone(), ..Rows::default() };
        // The receiver may be gone.
        let _ = blocks.send(std::mem::replace(&mut answer.rows, next)).await;
    }
    Ok(answer)
}

async fn columns(connection: &mut MySqlConnection, sql: sqlx::SqlStr) -> Result<Vec<String>, sqlx::Error> {
    let prepared = connection.prepare(sql).await?;
    Ok(prepared.columns().iter().map(|column| column.name().to_owned()).collect())
}

/// Whether the server would accept the text as a query: it is prepared, which resolves its names. `EXPLAIN` would execute
/// statements that start with `ANALYZE`, and subqueries in some versions.
pub(super) async fn plan(connection: &mut MySqlConnection, sql: &str) -> Result<bool, sqlx::Error> {
    Ok(!columns(connection, AssertSqlSafe(sql.to_owned()).into_sql_str()).await?.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_modes_that_affect_parsing() {
        let check = |server: &str, expected: &str| {
            let variables = HashMap::from([("sql_mode".to_owned(), server.to_owned())]);
            assert_eq!(About { number: String::new(), variables }.modes(), expected);
        };
        check("STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION", "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION");
        check(
            "PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ORACLE,NO_BACKSLASH_ESCAPES,ONLY_FULL_GROUP_BY",
            "ONLY_FULL_GROUP_BY",
        );
        check("INVENTED_TOMORROW", "");
        check("", "");
    }

    #[test]
    fn limits_are_lowered_and_never_raised() {
        let variables = HashMap::from([("a".to_owned(), "0".to_owned()), ("b".to_owned(), "5".to_owned())]);
        let about = About { number: String::new(), variables };
        assert_eq!(about.lower([("a", 7.0), ("b", 7.0), ("c", 7.0)]), ["SESSION a = 7"]);
        assert_eq!(about.lower([("b", 4.0)]), ["SESSION b = 4"]);
    }
}
