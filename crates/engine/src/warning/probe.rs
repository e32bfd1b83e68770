//! The small queries that a suspicion is tested with.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::Engine;

/// At most this many queries for all warnings about one query.
const MAX_PROBES: usize = 40;

/// The time for all of them together.
const MAX_TIME: Duration = Duration::from_secs(3);

/// So many values of a column are read.
pub(super) const MAX_VALUES: usize = 2_000;

/// So many rows are looked at where a few will do.
pub(super) const MAX_SAMPLE: usize = 500;

/// Asks small queries as long as there is time.
pub(super) struct Probe<'a> {
    engine: &'a Engine,
    database: Option<&'a str>,
    until: Instant,
    asked: AtomicUsize,
}

impl<'a> Probe<'a> {
    /// Names are read as in the query of the caller: in this database, if it names one.
    pub(super) fn new(engine: &'a Engine, database: Option<&'a str>) -> Self {
        Probe { engine, database, until: Instant::now() + MAX_TIME, asked: AtomicUsize::new(0) }
    }

    /// The rows of a query; nothing where it fails, or time or number are used up.
    pub(super) async fn rows(&self, sql: &str, cap: usize) -> Option<Vec<Vec<Value>>> {
        if self.asked.fetch_add(1, Ordering::Relaxed) >= MAX_PROBES {
            return None;
        }
        let answer = timeout_at(self.until, self.engine.run(sql, self.database, cap)).await;
        Some(answer.ok()?.ok()?.rows.rows)
    }

    /// Whether there is a row that meets the condition.
    pub(super) async fn any(&self, tables: &str, condition: &str) -> Option<bool> {
        let rows = self.rows(&format!("SELECT 1 FROM {tables} WHERE {condition} LIMIT 1"), 1).await?;
        Some(!rows.is_empty())
    }

    /// The number of rows.
    pub(super) async fn count(&self, tables: &str, condition: Option<&str>) -> Option<u64> {
        let filter = condition.map(|condition| format!(" WHERE {condition}")).unwrap_or_default();
        let rows = self.rows(&format!("SELECT COUNT(*) FROM {tables}{filter}"), 1).await?;
        rows.first()?.first()?.as_u64()
    }

    /// Distinct values of an expression over one table as texts, and whether they are all.
    pub(super) async fn values(&self, table: &str, expression: &str) -> Option<(Vec<String>, bool)> {
        let limit = MAX_VALUES + 1;
        let sql = format!("SELECT DISTINCT {expression} FROM {table} WHERE {expression} IS NOT NULL LIMIT {limit}");
        let rows = self.rows(&sql, limit).await?;
        let is_complete = rows.len() < limit;
        let mut values: Vec<String> = rows.iter().filter_map(|row| row.first()).map(text).collect();
        values.truncate(MAX_VALUES);
        values.sort_unstable();
        Some((values, is_complete))
    }

    /// Values of an expression in some rows, with the values of one more expression.
    pub(super) async fn sample(&self, table: &str, expression: &str, other: &str) -> Option<Vec<(String, Value)>> {
        let sql =
            format!("SELECT {expression}, {other} FROM {table} WHERE {expression} IS NOT NULL LIMIT {MAX_SAMPLE}");
        let rows = self.rows(&sql, MAX_SAMPLE).await?;
        let pair = |row: Vec<Value>| {
            let mut cells = row.into_iter();
            Some((text(&cells.next()?), cells.next()?))
        };
        Some(rows.into_iter().filter_map(pair).collect())
    }
}

/// A value as it is compared with others.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
