//! Read-only transactions with fixed parsing of texts and name resolution, and fetching the result of one statement.

use std::time::Duration;

use async_trait::async_trait;
use futures::TryStreamExt;
use serde_json::Value;
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Column, Executor, Postgres, Row, SqlSafeStr, Statement as _, TypeInfo};

use super::measured::{self, FlaggedRow};
use super::relay::Route;
use super::value::value;
use crate::budget::{Budget, Excess};
use crate::rows::{BlockSender, Rows};
use crate::server::ReadOnlySession;
use crate::sql_server::FetchedRows;
use crate::statement::{BoundValue, Statement};

/// Settings that affect the parsing of texts and the format of values, overriding those of the server. Settings unknown
/// to the server are skipped, because some such as `backslash_quote` may be removed.
const FIXED: [(&str, &str); 10] = [
    ("backslash_quote", "safe_encoding"),
    ("escape_string_warning", "on"),
    ("client_encoding", "UTF8"),
    ("array_nulls", "on"),
    ("transform_null_equals", "off"),
    // Affects the output format only; the order of day and month is kept.
    ("DateStyle", "ISO"),
    ("bytea_output", "hex"),
    ("extra_float_digits", "1"),
    ("cursor_tuple_fraction", "1"),
    // Row policies apply; with the setting off, a query affected by them would fail.
    ("row_security", "on"),
];

/// Settings that limit the resources of a statement; a smaller value of the server is kept. Memory is in kilobytes. Only
/// a superuser can set the limit of temporary files.
const BOUNDED: [(&str, u64); 4] = [
    ("work_mem", 64 << 10),
    ("temp_file_limit", 4 << 20),
    ("max_parallel_workers_per_gather", 2),
    // One sort or hash table may use this multiple of `work_mem`.
    ("hash_mem_multiplier", 2),
];

/// Number of rows of the first fetch; later fetches aim at a size in bytes, with a maximum number of rows.
const FIRST_BLOCK: usize = 16;
const BLOCK_BYTES: usize = 2 << 20;
const MAX_BLOCK: usize = 10_000;

/// The search path: the system schema first, then those schemas of the role's search path in which nobody has created a
/// function or operator with the name of a system one. Such a function may match the argument types better and would be
/// called instead, whatever the order of schemas. Objects of extensions are trusted, because `citext` and similar ones
/// depend on it. Temporary tables come last; by default they would come first.
const PATH: &str = "\
    SELECT set_config('search_path', 'pg_catalog, ' || coalesce((\
        SELECT string_agg(quote_ident(n.nspname) || ', ', '' ORDER BY w.place) \
        FROM unnest(current_setting('prospector.usual_path')::text[]) WITH ORDINALITY AS w (name, place) \
        JOIN pg_namespace n ON n.nspname = w.name \
        WHERE left(n.nspname, 3) <> 'pg_' AND NOT EXISTS (\
            SELECT FROM pg_proc p WHERE p.pronamespace = n.oid \
            AND EXISTS (SELECT FROM pg_proc s WHERE s.proname = p.proname AND s.pronamespace = 'pg_catalog'::regnamespace) \
            AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid \
                AND d.deptype = 'e')) \
        AND NOT EXISTS (\
            SELECT FROM pg_operator o WHERE o.oprnamespace = n.oid \
            AND EXISTS (SELECT FROM pg_operator s WHERE s.oprname = o.oprname \
                AND s.oprnamespace = 'pg_catalog'::regnamespace) \
            AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_operator'::regclass AND d.objid = o.oid \
                AND d.deptype = 'e'))), '') || 'pg_temp', true)";

/// Returns the statements that begin a transaction. The last one returns the id of the backend. Each is parsed after the
/// preceding ones have run, so its names are resolved in the system schema.
fn beginning(time_limit: Duration) -> String {
    let fixed: Vec<String> = FIXED.iter().map(|(name, value)| format!("('{name}', '{value}', NULL)")).collect();
    let millis = time_limit.as_millis().max(1);
    let times = [
        ("statement_timeout", millis),
        ("lock_timeout", millis),
        ("idle_in_transaction_session_timeout", millis * 2),
        // From version 17 on.
        ("transaction_timeout", millis * 4),
    ];
    let bounded = BOUNDED.iter().map(|(name, most)| (*name, u128::from(*most))).chain(times);
    let bounded: Vec<String> = bounded.map(|(name, most)| format!("('{name}', '{most}', {most})")).collect();
    format!(
        "BEGIN TRANSACTION READ ONLY; \
         SET LOCAL standard_conforming_strings = on; \
         SELECT pg_catalog.set_config('prospector.usual_path', pg_catalog.current_schemas(false)::pg_catalog.text, true); \
         SET LOCAL search_path = pg_catalog, pg_temp; \
         SELECT set_config(s.name, CASE WHEN w.most IS NULL THEN w.value \
             WHEN s.setting::numeric BETWEEN 1 AND w.most THEN s.setting ELSE w.value END, true) \
         FROM pg_settings s JOIN (VALUES {fixed}, {bounded}) AS w (name, value, most) ON s.name = w.name \
         WHERE s.context = 'user' OR s.context = 'superuser' AND current_setting('is_superuser') = 'on'; \
         {PATH}; \
         SAVEPOINT begun; \
         SELECT pg_backend_pid()::text",
        fixed = fixed.join(", "),
        bounded = bounded.join(", "),
    )
}

#[async_trait]
impl ReadOnlySession for PgConnection {
    type Route = Route;

    async fn open(route: &Route) -> Result<Self, sqlx::Error> {
        route.connect().await
    }

    async fn begin_reading(&mut self, time_limit: Duration) -> Result<u64, sqlx::Error> {
        // The settings are local to the transaction, so they also apply behind a pooler.
        let answers = sqlx::raw_sql(AssertSqlSafe(beginning(time_limit))).fetch_all(&mut *self).await?;
        let number = answers.last().and_then(|row| row.try_get::<&str, _>(0).ok()?.parse().ok());
        number.ok_or_else(|| sqlx::Error::Protocol("the server returned no backend id".to_owned()))
    }

    async fn end(&mut self) -> Result<(), sqlx::Error> {
        // Session locks and prepared statements outlive the transaction, and behind a pooler the next statement may reach
        // another backend.
        let undo = "ROLLBACK TO SAVEPOINT begun; SELECT pg_catalog.pg_advisory_unlock_all(); DEALLOCATE ALL; ROLLBACK";
        sqlx::raw_sql(undo).execute(&mut *self).await?;
        sqlx::raw_sql("DISCARD ALL").execute(self).await.map(drop)
    }

    async fn stop(&mut self, number: u64) -> Result<(), sqlx::Error> {
        let cancel = format!("SELECT pg_catalog.pg_cancel_backend({number})");
        sqlx::raw_sql(AssertSqlSafe(cancel)).execute(self).await.map(drop)
    }
}

/// Fetches the result of one query: at most `cap` rows within the budget. With `blocks`, the rows are sent there in
/// blocks limited by the budget, and none is left in the returned result.
///
/// The query is opened as a cursor, which excludes multiple statements and anything but a query. Rows are fetched with
/// the simple protocol, where every value is its text form, and in blocks, because the server buffers all rows of one
/// `FETCH`. A row is one message, which is buffered here: the server checks the sizes of its values first, and sends none
/// that is too large.
pub(super) async fn fetch(
    connection: &mut PgConnection,
    statement: &Statement,
    mut budget: Budget,
    cap: usize,
    blocks: Option<&BlockSender>,
) -> Result<FetchedRows, sqlx::Error> {
    let (columns, has_flag) = open(connection, statement).await?;
    let mut answer = FetchedRows { rows: Rows { columns, ..Rows::default() }, excess: None, is_left: false };
    let (mut block, mut count) = (FIRST_BLOCK, 0);
    loop {
        let wanted = (cap - count).saturating_add(1).min(block);
        let forward = format!("FETCH FORWARD {wanted} FROM answer");
        let mut came = 0;
        let mut stream = sqlx::raw_sql(AssertSqlSafe(forward)).fetch(&mut *connection);
        while let Some(row) = stream.try_next().await? {
            came += 1;
            if count == cap {
                answer.rows.has_more = true;
                continue;
            }
            count += 1;
            match read(&row, answer.rows.columns.len(), has_flag, &mut budget) {
                Ok(values) => answer.rows.rows.push(values),
                Err(excess) => {
                    (answer.excess, answer.is_left) = (Some(excess), true);
                    return Ok(answer);
                }
            }
        }
        drop(stream);
        let is_last = came < wanted || answer.rows.has_more;
        let usual = budget.bytes_taken() / answer.rows.rows.len().max(1);
        if let Some(blocks) = blocks
            && (is_last || budget.is_block())
        {
            let next = Rows { columns: answer.rows.columns.clone(), ..Rows::default() };
            if blocks.send(std::mem::replace(&mut answer.rows, next)).await.is_err() {
                return Ok(answer);
            }
            budget.renew();
        }
        if is_last {
            return Ok(answer);
        }
        block = (BLOCK_BYTES / usual.max(1)).clamp(1, MAX_BLOCK);
    }
}

/// Returns the values of a row, if they are within the budget.
fn read(row: &PgRow, width: usize, has_flag: bool, budget: &mut Budget) -> Result<Vec<Value>, Excess> {
    match has_flag.then(|| measured::flag(row, width)) {
        Some(FlaggedRow::Cell(column)) => return Err(Excess::of_cell(column)),
        Some(FlaggedRow::Row) => return Err(budget.excess()),
        Some(FlaggedRow::Fits) | None => {}
    }
    let mut values = Vec::with_capacity(width);
    for at in 0..width {
        budget.take(at, measured::bytes(row, at))?;
        values.push(value(row, at));
    }
    Ok(values)
}

/// Opens the cursor `answer` over the query. Returns the names of its columns, and whether each row has an additional
/// flag for values that are too large.
async fn open(connection: &mut PgConnection, statement: &Statement) -> Result<(Vec<String>, bool), sqlx::Error> {
    let prepared = connection.prepare(AssertSqlSafe(statement.sql.clone()).into_sql_str()).await?;
    let names: Vec<String> = prepared.columns().iter().map(|column| column.name().to_owned()).collect();
    let types: Vec<&str> = prepared.columns().iter().map(|column| column.type_info().name()).collect();
    let wrapped = measured::wrap(&statement.sql, &types);
    let flag = wrapped.is_some();
    let sql = wrapped.unwrap_or_else(|| statement.sql.clone());
    let declare = format!("DECLARE answer NO SCROLL CURSOR WITHOUT HOLD FOR\n{sql}");
    let mut query = sqlx::query::<Postgres>(AssertSqlSafe(declare)).persistent(false);
    for bound in &statement.values {
        query = match bound {
            BoundValue::Text(text) => query.bind(text),
            BoundValue::Integer(number) => query.bind(number),
            BoundValue::Float(number) => query.bind(number),
        };
    }
    query.execute(&mut *connection).await?;
    Ok((names, flag))
}

/// Plans one query without executing it: a cursor executes nothing until rows are fetched.
pub(super) async fn plan(connection: &mut PgConnection, sql: &str) -> Result<(), sqlx::Error> {
    open(connection, &Statement { sql: sql.to_owned(), values: Vec::new() }).await.map(drop)
}

/// Returns the schemas excluded from the search path, with some of the names that shadow system ones.
pub(super) async fn left_out(connection: &mut PgConnection) -> Result<Vec<(String, String)>, sqlx::Error> {
    let sql = "SELECT w.name, (SELECT string_agg(name, ', ') FROM (\
            SELECT DISTINCT p.proname::text AS name FROM pg_proc p \
            WHERE p.pronamespace = w.name::regnamespace AND EXISTS (SELECT FROM pg_proc s \
                WHERE s.proname = p.proname AND s.pronamespace = 'pg_catalog'::regnamespace) \
            AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid \
                AND d.deptype = 'e') ORDER BY 1 LIMIT 5) names) \
        FROM (SELECT quote_ident(name) AS name \
            FROM unnest(current_setting('prospector.usual_path')::text[]) AS usual (name) \
            WHERE left(name, 3) <> 'pg_' AND NOT name = ANY (current_schemas(false)::text[])) w";
    let rows = sqlx::query(sql).persistent(false).fetch_all(connection).await?;
    let text =
        |row: &sqlx::postgres::PgRow, at| row.try_get::<Option<String>, _>(at).ok().flatten().unwrap_or_default();
    Ok(rows.iter().map(|row| (text(row, 0), text(row, 1))).collect())
}
