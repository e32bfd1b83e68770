//! SQLite database files, read-only.

mod describe;
mod failure;
mod functions;
mod guard;
mod memory;
mod open;
mod outline;
mod rows;
mod session;
mod texts;
mod value;
mod views;

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prospector_core::Problem;
use rusqlite::params_from_iter;
use rusqlite::types::Value as Bound;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::filter::FilterCondition;
use crate::rows::{BlockSender, Rows, SampleRequest, Samples, SqlQuery, Statistics, TextRequest, Texts};
use crate::source_kind::SourceKind;
use crate::statement::{TypedColumn, columns, escape_pattern};
use crate::table::Table;
use crate::{ConnectError, Connector, Source};
use failure::SessionFailure;
use session::{Purpose, Session, within};
use value::{count, shorten, text};

/// Time limit of a statement.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Time limit of a description; each of its statements has a shorter one.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(3600);

/// Maximum number of concurrent sessions.
const SESSIONS: usize = 4;

/// SQLite allows 2,000 result columns; a measured column needs six.
const COLUMNS_A_QUERY: usize = 100;

/// Returns a connector for a database file.
///
/// # Errors
/// If the source has no file, or several.
pub(crate) fn open(source: &Source) -> Result<Arc<dyn Connector>, ConnectError> {
    match source.require_paths()? {
        [path] => Ok(Arc::new(Sqlite::new(path))),
        paths => {
            let reason = "a database has one path; add a separate source for each file";
            Err(ConnectError::open(SourceKind::Sqlite, &paths[1], reason))
        }
    }
}

/// A SQLite database file.
pub(crate) struct Sqlite {
    path: PathBuf,
    permits: Arc<Semaphore>,
}

impl Sqlite {
    fn new(path: &Path) -> Self {
        // SQLite gives `:memory:` and `file:x` a special meaning.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Sqlite { path, permits: Arc::new(Semaphore::new(SESSIONS)) }
    }

    /// Runs a function for an operation on a table, with a session of its own.
    async fn read<T: Send + 'static>(
        &self,
        table: &str,
        purpose: Purpose,
        time_limit: Duration,
        act: impl FnOnce(&Session) -> Result<T, SessionFailure> + Send + 'static,
    ) -> Result<T, ConnectError> {
        let done = within(self.path.clone(), &self.permits, purpose, time_limit, act).await;
        done.map_err(|failed| failed.error(&self.path, table))
    }
}

/// Returns the columns of a table. They must be looked up: SQLite treats unknown names in double quotes as strings.
fn known_columns(session: &Session, table: &str) -> Result<Vec<TypedColumn>, SessionFailure> {
    let sql = "SELECT name FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1 ORDER BY cid";
    let known = session.ask(sql, [table], |row| TypedColumn { name: text(row, 0), data_type: String::new() })?;
    match known.is_empty() {
        true => Err(ConnectError::unknown_table(&session.place, table).into()),
        false => Ok(known),
    }
}

#[async_trait]
impl Connector for Sqlite {
    fn kind(&self) -> SourceKind {
        SourceKind::Sqlite
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        self.read("the schema", Purpose::Measuring, DESCRIBE_TIMEOUT, describe::describe).await
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        let (name, column, request) = (table.to_owned(), column.to_owned(), request.clone());
        self.read(table, Purpose::Measuring, STATEMENT_TIMEOUT, move |session| sample(session, &name, column, &request))
            .await
    }

    async fn texts(&self, table: &str, column: &str, request: &TextRequest) -> Result<Texts, ConnectError> {
        let (name, column, request) = (table.to_owned(), column.to_owned(), *request);
        self.read(table, Purpose::Measuring, texts::TIME_LIMIT, move |session| {
            texts::read_texts(session, &name, &column, request)
        })
        .await
    }

    async fn statistics(&self, table: &str, columns: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        let (name, columns) = (table.to_owned(), columns.to_vec());
        self.read(table, Purpose::Measuring, STATEMENT_TIMEOUT, move |session| measure(session, &name, &columns)).await
    }

    async fn rows(
        &self,
        table: &str,
        columns: &[String],
        conditions: &[FilterCondition],
        limit: usize,
    ) -> Result<Rows, ConnectError> {
        self.filter_rows(table, columns, conditions, limit).await
    }

    async fn query(&self, query: &SqlQuery<'_>, cap: usize) -> Result<Rows, ConnectError> {
        self.answer_query(query, cap).await
    }

    async fn stream(&self, query: &SqlQuery<'_>, limit: usize, blocks: &BlockSender) -> Result<(), ConnectError> {
        self.stream_query(query, limit, blocks).await
    }

    async fn explain(&self, query: &SqlQuery<'_>) -> Result<(), ConnectError> {
        self.plan_query(query).await
    }
}

fn sample(session: &Session, table: &str, column: String, request: &SampleRequest) -> Result<Samples, SessionFailure> {
    let known = known_columns(session, table)?;
    let column = quote(&columns(&session.place, table, &known, &[column])?[0].name);
    let patterns = request.contains.as_deref().map(patterns).unwrap_or_default();
    let mut filter = String::new();
    if !patterns.is_empty() {
        let likes: Vec<String> = (2..patterns.len() + 2).map(|n| format!("{column} LIKE ?{n} ESCAPE '\\'")).collect();
        filter = format!(" AND typeof({column}) <> 'blob' AND ({})", likes.join(" OR "));
    }
    // The collation of the column may be unknown here, and must not merge different values.
    let sql = format!(
        "SELECT CASE typeof({column}) WHEN 'text' THEN substr({column}, 1, 201) WHEN 'blob' THEN length({column}) \
         ELSE {column} END, typeof({column}) = 'blob', count(*) OVER () \
         FROM main.{table} WHERE {column} IS NOT NULL{filter} \
         GROUP BY {column} COLLATE BINARY ORDER BY count(*) DESC, {column} COLLATE BINARY LIMIT ?1",
        table = quote(table),
    );
    // A limit of zero rows would lose the number of distinct values.
    let limit = i64::try_from(request.limit.max(1)).unwrap_or(i64::MAX);
    let parameters = iter::once(Bound::from(limit)).chain(patterns.into_iter().map(Bound::from));
    let rows = session.ask(&sql, params_from_iter(parameters), |row| (shorten(row, 0), count(row, 2)))?;
    let distinct = rows.first().map_or(0, |(_, distinct)| *distinct);
    let values: Vec<Value> = rows.into_iter().take(request.limit).map(|(value, _)| value).collect();
    let complete = values.len() as u64 == distinct;
    Ok(Samples { values, distinct, complete })
}

fn measure(session: &Session, table: &str, wanted: &[String]) -> Result<Vec<Statistics>, SessionFailure> {
    let known = known_columns(session, table)?;
    let mut all = Vec::new();
    for part in columns(&session.place, table, &known, wanted)?.chunks(COLUMNS_A_QUERY) {
        let measures: Vec<String> = part
            .iter()
            .map(|column| {
                let c = format!("{} COLLATE BINARY", quote(&column.name));
                format!("count(DISTINCT {c}), {}, {}, count(*) - count({c})", end("min", &c), end("max", &c))
            })
            .collect();
        let sql = format!("SELECT {} FROM main.{}", measures.join(", "), quote(table));
        let rows = session.ask(&sql, (), |row| {
            let end = |at: usize| Some(shorten(row, at)).filter(|value| !value.is_null());
            let statistics = |(at, column): (usize, &&TypedColumn)| Statistics {
                column: column.name.clone(),
                cardinality: count(row, at * 6),
                min: end(at * 6 + 1),
                max: end(at * 6 + 3),
                nulls: count(row, at * 6 + 5),
                estimated: false,
            };
            part.iter().enumerate().map(statistics).collect::<Vec<_>>()
        })?;
        all.extend(rows.into_iter().flatten());
    }
    Ok(all)
}

/// Returns the minimum or maximum by its aggregate function (long texts truncated, for bytes their number), and whether
/// it is bytes.
fn end(function: &str, column: &str) -> String {
    let found = format!("{function}({column})");
    format!(
        "CASE typeof({found}) WHEN 'text' THEN substr({found}, 1, 201) WHEN 'blob' THEN length({found}) ELSE {found} END, \
         typeof({found}) = 'blob'"
    )
}

/// Quotes a name as an identifier.
fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the `LIKE` patterns that together find `needle` case-insensitively. SQLite folds only ASCII, so a needle with
/// other letters is searched for as written, in lower and upper case, and capitalized.
fn patterns(needle: &str) -> Vec<String> {
    let mut forms = vec![needle.to_owned()];
    if !needle.is_ascii() {
        let small = needle.to_lowercase();
        let mut letters = small.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        forms.extend([needle.to_uppercase(), first + letters.as_str(), small]);
        forms.sort();
        forms.dedup();
    }
    forms.into_iter().map(|form| format!("%{}%", escape_pattern(&form))).collect()
}

#[cfg(test)]
mod tests;
