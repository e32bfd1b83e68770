//! What every data source looks like, whatever it is.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ColumnType;

/// A table, collection or file with columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Table {
    /// Its name inside the source.
    pub name: String,
    /// The source's own comment on it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How many rows it has; `None` where the source holds no data (DDL) or could not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_count: Option<u64>,
    /// Whether `row_count` is the source's own estimate: counting would have taken too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub row_count_estimated: bool,
    /// The columns, in the source's order.
    pub columns: Vec<Column>,
    /// The keys to other tables of the same source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKey>,
}

impl Table {
    /// The column of that name, whatever its case.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}

/// A column of a [`Table`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The source's own word for the type, `VARCHAR(40)`; for files the Arrow type, `Int64`. People are shown it; what the
    /// values are is `column_type`.
    #[serde(rename = "type")]
    pub data_type: String,
    /// What the values are.
    pub column_type: ColumnType,
    /// Whether it may be null.
    pub nullable: bool,
    /// Whether it is part of the primary key.
    pub primary_key: bool,
    /// The source's own comment on it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// A reference from columns of one table to columns of another.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ForeignKey {
    /// The referring columns.
    pub columns: Vec<String>,
    /// The table referred to, in the same source.
    pub table: String,
    /// The columns referred to, as many as `columns`.
    pub references: Vec<String>,
}

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
