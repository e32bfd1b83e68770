//! The small queries that test a suspicion. Methods that return values of an expression return `None` for personal data.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use sqlparser::ast::Expr;
use tokio::time::{Instant, timeout_at};

use super::select::TableUse;
use crate::Engine;

/// The maximum number of queries for all warnings about one query.
const MAX_PROBES: usize = 40;

/// The time limit of all of them together.
const MAX_TIME: Duration = Duration::from_secs(3);

/// The maximum number of values of a column that are read.
pub(super) const MAX_VALUES: usize = 2_000;

/// The number of sampled rows.
pub(super) const MAX_SAMPLE: usize = 500;

/// Runs small queries within the limits.
pub(super) struct Probe<'a> {
    engine: &'a Engine,
    database: Option<&'a str>,
    until: Instant,
    asked: AtomicUsize,
}

impl<'a> Probe<'a> {
    /// Creates a probe; names are resolved as in the query of the caller, in this database if it names one.
    pub(super) fn new(engine: &'a Engine, database: Option<&'a str>) -> Self {
        Probe { engine, database, until: Instant::now() + MAX_TIME, asked: AtomicUsize::new(0) }
    }

    /// Returns the rows of a query; `None` if it fails, or the limits are exhausted.
    pub(super) async fn rows(&self, sql: &str, cap: usize) -> Option<Vec<Vec<Value>>> {
        if self.asked.fetch_add(1, Ordering::Relaxed) >= MAX_PROBES {
            return None;
        }
        let answer = timeout_at(self.until, self.engine.run(sql, self.database, cap)).await;
        Some(answer.ok()?.ok()?.rows.rows)
    }

    /// Returns whether a row matches the condition.
    pub(super) async fn any(&self, tables: &str, condition: &str) -> Option<bool> {
        let rows = self.rows(&format!("SELECT 1 FROM {tables} WHERE {condition} LIMIT 1"), 1).await?;
        Some(!rows.is_empty())
    }

    /// Returns the number of rows.
    pub(super) async fn count(&self, tables: &str, condition: Option<&str>) -> Option<u64> {
        let filter = condition.map(|condition| format!(" WHERE {condition}")).unwrap_or_default();
        let rows = self.rows(&format!("SELECT COUNT(*) FROM {tables}{filter}"), 1).await?;
        rows.first()?.first()?.as_u64()
    }

    /// Returns distinct values of an expression over one table as texts, and whether they are complete.
    pub(super) async fn values(&self, table: &TableUse<'_>, expression: &Expr) -> Option<(Vec<String>, bool)> {
        if table.is_personal(expression) {
            return None;
        }
        let limit = MAX_VALUES + 1;
        let from = &table.written;
        let sql = format!("SELECT DISTINCT {expression} FROM {from} WHERE {expression} IS NOT NULL LIMIT {limit}");
        let rows = self.rows(&sql, limit).await?;
        let is_complete = rows.len() < limit;
        let mut values: Vec<String> = rows.iter().filter_map(|row| row.first()).map(text).collect();
        values.truncate(MAX_VALUES);
        values.sort_unstable();
        Some((values, is_complete))
    }

    /// Returns the smallest and the largest value of an expression over one table.
    pub(super) async fn range(&self, table: &TableUse<'_>, expression: &Expr) -> Option<(Value, Value)> {
        if table.is_personal(expression) {
            return None;
        }
        let sql = format!("SELECT MIN({expression}), MAX({expression}) FROM {}", table.written);
        let mut cells = self.rows(&sql, 1).await?.into_iter().next()?.into_iter();
        Some((cells.next()?, cells.next()?))
    }

    /// Returns values of an expression in some rows, each with the value of another expression.
    pub(super) async fn sample(
        &self,
        table: &TableUse<'_>,
        expression: &Expr,
        other: &str,
    ) -> Option<Vec<(String, Value)>> {
        self.sample_if(table, expression, other, std::iter::empty()).await
    }

    /// Like [`Probe::sample`], in rows that match the conditions.
    pub(super) async fn sample_if(
        &self,
        table: &TableUse<'_>,
        expression: &Expr,
        other: &str,
        conditions: impl Iterator<Item = &str>,
    ) -> Option<Vec<(String, Value)>> {
        if table.is_personal(expression) {
            return None;
        }
        let mut filter = format!("{expression} IS NOT NULL");
        conditions.for_each(|condition| filter.push_str(&format!(" AND {condition}")));
        let sql = format!("SELECT {expression}, {other} FROM {} WHERE {filter} LIMIT {MAX_SAMPLE}", table.written);
        let rows = self.rows(&sql, MAX_SAMPLE).await?;
        let pair = |row: Vec<Value>| {
            let mut cells = row.into_iter();
            Some((text(&cells.next()?), cells.next()?))
        };
        Some(rows.into_iter().filter_map(pair).collect())
    }
}

/// Returns the text of a value for comparison.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
