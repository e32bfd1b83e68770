//! The input of chart selection.

use serde_json::Value;

/// A result with its context.
#[derive(Debug, Clone, Default)]
pub struct Data<'a> {
    /// A description of the rows, used as chart title; may be empty.
    pub title: &'a str,
    /// The column names.
    pub columns: &'a [String],
    /// The rows, with one value per column.
    pub rows: &'a [Vec<Value>],
    /// Whether the result is truncated.
    pub has_more: bool,
    /// The sources, as shown below the chart.
    pub sources: &'a [String],
    /// The declared units of columns, by name.
    pub units: &'a [(String, String)],
    /// The use of each column, as far as the caller knows it; may be shorter than the columns.
    pub uses: Vec<Option<Use>>,
}

/// The use of a column in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// It distinguishes rows: a key or a column of GROUP BY.
    Dimension,
    /// A count or a sum: its values can be added up.
    Sum,
    /// Another computed number, such as an average: its values cannot be added up.
    Measure,
    /// A stored value; numbers may be measures or keys.
    Stored,
}
