//! Shared behaviour of server connectors: time limits, failures of statements, and decoding of results.

use std::time::Duration;

use serde_json::Value;

use super::{Connections, ReadOnlySession, is_timeout};
use crate::rows::{Rows, Samples, Statistics};
use crate::statement::{TypedColumn, column};
use crate::{ConnectError, display};

/// Time limit of a statement.
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// After this time, values are sampled from the first rows only.
pub(crate) const SAMPLE_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of those first rows.
pub(crate) const SAMPLE_ROWS: u32 = 100_000;

/// Why a statement failed.
pub(crate) enum StatementFailure {
    TooLong(ConnectError),
    Otherwise(ConnectError),
}

impl From<ConnectError> for StatementFailure {
    fn from(error: ConnectError) -> Self {
        StatementFailure::Otherwise(error)
    }
}

impl From<StatementFailure> for ConnectError {
    fn from(failed: StatementFailure) -> Self {
        match failed {
            StatementFailure::TooLong(error) | StatementFailure::Otherwise(error) => error,
        }
    }
}

impl<C: ReadOnlySession + 'static> Connections<C> {
    /// Returns why the statement `sql` about a table failed.
    pub(crate) fn failure(&self, table: &str, error: sqlx::Error, sql: &str) -> StatementFailure {
        let is_timeout = is_timeout(&error);
        let error = self.statement_error(table, error, Some(sql));
        if is_timeout { StatementFailure::TooLong(error) } else { StatementFailure::Otherwise(error) }
    }

    /// Finds the column of that name.
    pub(crate) fn find_column<'a>(
        &self,
        columns: &'a [TypedColumn],
        table: &str,
        name: &str,
    ) -> Result<&'a TypedColumn, ConnectError> {
        column(columns, name).ok_or_else(|| ConnectError::unknown_column(self.place(), table, name))
    }
}

/// Truncates a value of which only a prefix was sent; of bytes, only their number was sent.
fn cut(is_bytes: bool, value: Value) -> Value {
    match value {
        Value::Number(bytes) if is_bytes => display::blob(bytes.as_u64().unwrap_or(0) as usize),
        Value::String(text) => display::text(&text),
        other => other,
    }
}

/// Converts rows of a value and the number of distinct values to samples.
pub(crate) fn samples(rows: Rows, limit: usize, whole: bool, is_bytes: bool) -> Samples {
    let distinct = rows.rows.first().and_then(|row| row.get(1)?.as_u64()).unwrap_or(0);
    let first = rows.rows.into_iter().filter_map(|row| row.into_iter().next());
    let values: Vec<Value> = first.map(|value| cut(is_bytes, value)).take(limit).collect();
    let complete = whole && values.len() as u64 == distinct;
    Samples { values, distinct, complete }
}

/// Converts one row to the statistics of columns, each given with whether it contains bytes. The row has four values per
/// column: the number of distinct values, the minimum, the maximum, and the number of nulls.
pub(crate) fn statistics<'a>(columns: impl Iterator<Item = (&'a TypedColumn, bool)>, rows: Rows) -> Vec<Statistics> {
    let mut row = rows.rows.into_iter().next().unwrap_or_default().into_iter();
    columns
        .map(|(column, is_bytes)| {
            let mut next = || row.next().unwrap_or_default();
            let (distinct, min, max, nulls) = (next(), next(), next(), next());
            let end = |value: Value| Some(cut(is_bytes, value)).filter(|value| !value.is_null());
            Statistics {
                column: column.name.clone(),
                cardinality: distinct.as_u64().unwrap_or(0),
                min: end(min),
                max: end(max),
                nulls: nulls.as_u64().unwrap_or(0),
                estimated: false,
            }
        })
        .collect()
}
