//! The answer to a query, and where it was computed.

use prospector_connect::rows::Rows;

/// Where a query was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// In the source itself, in its own SQL.
    Native,
    /// Here, over the rows that the sources sent.
    Joined,
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The rows, with complete values.
    pub rows: Rows,
    /// Where the query was run.
    pub way: Way,
    /// The databases that were read, in alphabetical order. A loaded subset counts as its database of origin.
    pub databases: Vec<String>,
    /// The tables that were read, as `database.table` in alphabetical order. A loaded subset counts as its table of origin.
    pub tables: Vec<String>,
    /// The declared units of columns of the rows, by name: of unchanged columns, and of functions that keep their unit, such as SUM, MAX,
    /// ROUND and COALESCE. Empty if the rows are streamed.
    pub units: Vec<(String, String)>,
}
