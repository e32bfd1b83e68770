//! SQLite database files, read-only.

mod describe;
mod functions;
mod guard;
mod memory;
mod outline;
mod pool;
mod rows;
mod session;
mod texts;
mod value;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prospector_core::Problem;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, SqliteConnection};

use crate::filter::FilterCondition;
use crate::rows::{BlockSender, Rows, SampleRequest, Samples, SqlQuery, Statistics, TextRequest, Texts};
use crate::source_kind::SourceKind;
use crate::statement::escape_pattern;
use crate::table::Table;
use crate::{ConnectError, Connector, Source};
use pool::Database;
use value::{integer, text, value};

/// Time limit of a statement.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

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
    database: Database,
}

impl Sqlite {
    fn new(path: &Path) -> Self {
        Sqlite { database: Database::new(path) }
    }

    fn place(&self) -> String {
        self.database.path().display().to_string()
    }

    /// Converts the error of a generated statement about a table.
    fn statement_error(&self, table: &str, error: sqlx::Error) -> ConnectError {
        let reason = pool::reason(&error);
        ConnectError::read(self.place(), table, pool::cause(&error), reason).with_source(error)
    }

    /// Returns the exact names of these columns. They must be looked up: SQLite treats unknown names in double quotes as
    /// strings.
    async fn columns(
        &self,
        connection: &mut SqliteConnection,
        table: &str,
        wanted: &[String],
    ) -> Result<Vec<String>, ConnectError> {
        let rows = sqlx::query("SELECT name FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1 ORDER BY cid")
            .bind(table)
            .fetch_all(connection)
            .await
            .map_err(|error| self.statement_error(table, error))?;
        let names: Vec<String> = rows.iter().map(|row| text(row, 0)).collect();
        if names.is_empty() {
            return Err(ConnectError::unknown_table(self.place(), table));
        }
        if wanted.is_empty() {
            return Ok(names);
        }
        wanted
            .iter()
            .map(|column| {
                let found = names.iter().find(|name| name.eq_ignore_ascii_case(column));
                found.cloned().ok_or_else(|| ConnectError::unknown_column(self.place(), table, column))
            })
            .collect()
    }
}

#[async_trait]
impl Connector for Sqlite {
    fn kind(&self) -> SourceKind {
        SourceKind::Sqlite
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        describe::describe(&self.database).await
    }

    async fn sample(&self, table: &str, column: &str, request: &SampleRequest) -> Result<Samples, ConnectError> {
        let mut connection = self.database.connection(STATEMENT_TIMEOUT).await?;
        let wanted = [column.to_owned()];
        let column = quote(&self.columns(&mut connection, table, &wanted).await?[0]);
        let patterns = request.contains.as_deref().map(patterns).unwrap_or_default();
        let mut filter = String::new();
        if !patterns.is_empty() {
            let likes: Vec<String> =
                (2..patterns.len() + 2).map(|n| format!("{column} LIKE ?{n} ESCAPE '\\'")).collect();
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
        let query = patterns.iter().fold(sqlx::query(AssertSqlSafe(sql)).bind(limit), |query, p| query.bind(p));
        let rows = query
            .persistent(false)
            .fetch_all(&mut *connection)
            .await
            .map_err(|error| self.statement_error(table, error))?;
        let distinct = rows.first().map_or(0, |row| u64::try_from(integer(row, 2)).unwrap_or(0));
        let values: Vec<_> = rows.iter().take(request.limit).map(read_sample).collect();
        let complete = values.len() as u64 == distinct;
        Ok(Samples { values, distinct, complete })
    }

    async fn texts(&self, table: &str, column: &str, request: &TextRequest) -> Result<Texts, ConnectError> {
        self.read_texts(table, column, request).await
    }

    async fn statistics(&self, table: &str, columns: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        let mut connection = self.database.connection(STATEMENT_TIMEOUT).await?;
        let columns = self.columns(&mut connection, table, columns).await?;
        let mut all = Vec::with_capacity(columns.len());
        for part in columns.chunks(COLUMNS_A_QUERY) {
            let measures: Vec<String> = part
                .iter()
                .map(|column| {
                    let c = format!("{} COLLATE BINARY", quote(column));
                    format!("count(DISTINCT {c}), {}, {}, count(*) - count({c})", end("min", &c), end("max", &c))
                })
                .collect();
            let sql = format!("SELECT {} FROM main.{}", measures.join(", "), quote(table));
            let row = sqlx::query(AssertSqlSafe(sql))
                .persistent(false)
                .fetch_one(&mut *connection)
                .await
                .map_err(|error| self.statement_error(table, error))?;
            all.extend(part.iter().enumerate().map(|(index, column)| Statistics {
                column: column.clone(),
                cardinality: u64::try_from(integer(&row, index * 6)).unwrap_or(0),
                min: read_shortened(&row, index * 6 + 1),
                max: read_shortened(&row, index * 6 + 3),
                nulls: u64::try_from(integer(&row, index * 6 + 5)).unwrap_or(0),
                estimated: false,
            }));
        }
        Ok(all)
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

/// Reads a sample; for bytes, the query returns their number.
fn read_sample(row: &SqliteRow) -> serde_json::Value {
    read_shortened(row, 0).unwrap_or_default()
}

/// Reads the value at that position; the next column is 1 if it is the length of bytes.
fn read_shortened(row: &SqliteRow, place: usize) -> Option<serde_json::Value> {
    match integer(row, place + 1) {
        1 => Some(crate::display::blob(usize::try_from(integer(row, place)).unwrap_or(0))),
        _ => value(row, place),
    }
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
