//! A result as it is given.

use serde_json::Value;

/// A result, and what is known of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Data<'a> {
    /// What was asked; the measure that it names is the one that is drawn.
    pub question: &'a str,
    /// What the rows are, in words and with their filters: the title of the chart. Empty where only the columns tell.
    pub title: &'a str,
    /// The names of the columns.
    pub columns: &'a [String],
    /// The rows, each with a value for each column.
    pub rows: &'a [Vec<Value>],
    /// Whether there are more rows than these.
    pub has_more: bool,
    /// Where they come from, as it is said below the chart.
    pub sources: &'a [String],
    /// The units of columns, by name. Of others the unit is what their name ends with: `revenue_eur`, `duration_ms`.
    pub units: &'a [(String, String)],
}
