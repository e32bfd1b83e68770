//! Shared behaviour of server connectors: time limits and decoding of results.

use std::time::Duration;

use serde_json::Value;

use crate::display;
use crate::rows::{Rows, Samples, Statistics};

/// Time limit of a statement.
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// After this time, values are sampled from the first rows only.
pub(crate) const SAMPLE_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of those first rows.
pub(crate) const SAMPLE_ROWS: u32 = 100_000;

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

/// Converts one row to the statistics of columns, each given by name with whether it contains bytes. The row has four
/// values per column: the number of distinct values, the minimum, the maximum, and the number of nulls.
pub(crate) fn statistics<'a>(columns: impl Iterator<Item = (&'a str, bool)>, rows: Rows) -> Vec<Statistics> {
    let mut row = rows.rows.into_iter().next().unwrap_or_default().into_iter();
    columns
        .map(|(column, is_bytes)| {
            let mut next = || row.next().unwrap_or_default();
            let (distinct, min, max, nulls) = (next(), next(), next(), next());
            let end = |value: Value| Some(cut(is_bytes, value)).filter(|value| !value.is_null());
            Statistics {
                column: column.to_owned(),
                cardinality: distinct.as_u64().unwrap_or(0),
                min: end(min),
                max: end(max),
                nulls: nulls.as_u64().unwrap_or(0),
                estimated: false,
            }
        })
        .collect()
}
