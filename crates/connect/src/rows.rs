//! What a connector is asked for, and what it answers with: samples, statistics and rows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::budget::{MAX_ANSWER_BYTES, MAX_CELL_BYTES, MAX_ROWS_BYTES};

/// What one column holds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Statistics {
    /// The column.
    pub column: String,
    /// How many distinct values there are, nulls apart.
    pub cardinality: u64,
    /// The smallest value; `None` where all are null.
    pub min: Option<Value>,
    /// The largest value.
    pub max: Option<Value>,
    /// How many rows have no value.
    pub nulls: u64,
    /// Whether it is so of a part of the rows only, or about: asking all of them would have taken too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

/// Which values of a column are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampleRequest {
    /// Only values that contain this text, whatever its case.
    pub contains: Option<String>,
    /// At most this many.
    pub limit: usize,
}

/// Distinct values of a column, the most frequent first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Samples {
    /// The values; null is not among them.
    pub values: Vec<Value>,
    /// How many distinct values match the request.
    pub distinct: u64,
    /// Whether `values` is all of them.
    pub complete: bool,
}

/// A query in the source's own SQL.
#[derive(Debug, Clone, Copy)]
pub struct SqlQuery<'a> {
    /// The query: one statement, without parameters.
    pub sql: &'a str,
    /// The tables that it may read, as [`crate::Connector::describe`] names them. A source that can hold its sessions to
    /// it, as SQLite can, refuses every other table.
    pub tables: &'a [&'a str],
}

/// Rows of a source, whole: no text is cut, and no number loses a digit.
///
/// Integers and floating point numbers are JSON numbers. A decimal is a number while it has at most 15 digits, else a
/// text. Bytes are texts of the form `\x00ff`. Whatever else JSON has no form for is a text as the source writes it:
/// dates, UUIDs, intervals, ranges, arrays of PostgreSQL.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Rows {
    /// The names of the columns. Two may be the same.
    pub columns: Vec<String>,
    /// The rows, with one value for each column.
    pub rows: Vec<Vec<Value>>,
    /// Whether there are more rows than were asked for.
    pub has_more: bool,
}
