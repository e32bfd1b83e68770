//! Requests to connectors and their results: samples, statistics and rows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::table::TablePath;

pub use crate::budget::{MAX_ANSWER_BYTES, MAX_CELL_BYTES, MAX_ROWS_BYTES};

/// Statistics of the values of one column.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Statistics {
    /// The name of the column.
    pub column: String,
    /// The number of distinct values, not counting nulls.
    pub cardinality: u64,
    /// The smallest value; `None` if all values are null or the type has no order.
    pub min: Option<Value>,
    /// The largest value; `None` in the same cases as `min`.
    pub max: Option<Value>,
    /// The number of rows without a value.
    pub nulls: u64,
    /// Whether the statistics are estimates, or cover only a part of the rows, because measuring all of them would take
    /// too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

/// Which values of a column to return.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampleRequest {
    /// Only values that contain this text, case-insensitively.
    pub contains: Option<String>,
    /// The maximum number of values.
    pub limit: usize,
}

/// Distinct values of a column, the most frequent first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Samples {
    /// The values, without null.
    pub values: Vec<Value>,
    /// The number of distinct values that match the request.
    pub distinct: u64,
    /// Whether `values` contains all of them.
    pub complete: bool,
}

/// Which distinct texts of a column to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRequest {
    /// The maximum number of texts.
    pub limit: usize,
    /// The length of the longest text that is returned, in characters, at most 200.
    pub max_chars: usize,
}

/// Distinct texts of a column, the most frequent first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Texts {
    /// The texts, not truncated.
    pub texts: Vec<String>,
    /// Whether the column contains no other text: none that is longer, none beyond the limit, and none in rows that were
    /// not read.
    pub is_complete: bool,
}

impl Texts {
    /// Selects the texts of samples, which are truncated after the 200th character.
    pub(crate) fn of(samples: Samples, request: &TextRequest) -> Texts {
        let mut found = Texts { texts: Vec::new(), is_complete: samples.complete };
        for value in samples.values {
            let Value::String(text) = value else { continue };
            if text.chars().nth(request.max_chars).is_some() {
                found.is_complete = false;
            } else {
                found.texts.push(text);
            }
        }
        found
    }
}

/// A query in the source's own SQL.
#[derive(Debug, Clone, Copy, Default)]
pub struct SqlQuery<'a> {
    /// The query: one statement without parameters.
    pub sql: &'a str,
    /// The tables that the query may read, named as in [`crate::Connector::describe`]. A source that can restrict its
    /// sessions to them, such as SQLite, rejects every other table.
    pub tables: &'a [&'a str],
    /// Names that have to be columns, verified before the query runs. Only PostgreSQL needs them.
    pub fields: Option<&'a FieldNames>,
    /// The built-in functions that the query calls, in lower case. Only MySQL and MariaDB need them: where they lack one, they
    /// would call a stored function of that name in the session's database. A query with such a name is rejected.
    pub functions: &'a [String],
}

/// Names after a dot in a query. PostgreSQL calls the function `name`, or casts to the type `name`, if the row in
/// `row.name` has no such column.
///
/// Its sessions reject a query with a name that a function of one argument or a type has, in any schema, unless one of
/// these tables has such a column at that moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldNames {
    /// The names that the text of the query does not prove to be columns.
    pub names: Vec<String>,
    /// The tables that the query reads.
    pub tables: Vec<TablePath>,
}

/// Receives the rows of a result in blocks, while they are read.
pub type BlockSender = tokio::sync::mpsc::Sender<Rows>;

/// Maximum number of reported privileges of a role.
pub(crate) const MAX_RIGHTS: usize = 20;

/// Returns the texts of the first column.
pub(crate) fn first_column(rows: &Rows) -> Vec<String> {
    rows.rows.iter().filter_map(|row| row.first()?.as_str().map(str::to_owned)).collect()
}

/// Rows of a source. Values are complete: texts are not truncated, and numbers are lossless.
///
/// Integers and floating-point numbers are JSON numbers. A decimal is a number if it has at most 15 digits, otherwise a
/// text. Bytes are texts of the form `\x00ff`. Values without a JSON form are texts as written by the source, such as
/// dates, UUIDs, intervals, and the ranges and arrays of PostgreSQL.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Rows {
    /// The names of the columns. Two columns may have the same name.
    pub columns: Vec<String>,
    /// The rows, each with one value per column.
    pub rows: Vec<Vec<Value>>,
    /// Whether the source has more rows than were requested.
    pub has_more: bool,
}
