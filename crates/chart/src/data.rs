//! The input of chart selection.

use serde_json::Value;

/// A result with its context.
#[derive(Debug, Clone, Copy, Default)]
pub struct Data<'a> {
    /// The question; a measure that it names is drawn.
    pub question: &'a str,
    /// A description of the rows with their filters, used as chart title. May be empty.
    pub title: &'a str,
    /// The column names.
    pub columns: &'a [String],
    /// The rows, with one value per column.
    pub rows: &'a [Vec<Value>],
    /// Whether the result is truncated.
    pub has_more: bool,
    /// The sources, as shown below the chart.
    pub sources: &'a [String],
    /// The units of columns, by name. Otherwise they are derived from the name: `revenue_eur`, `duration_ms`.
    pub units: &'a [(String, String)],
}
