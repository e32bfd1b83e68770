//! The answer to a query, and where it was made.

use prospector_connect::rows::Rows;

/// Where a query was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// In the source itself, in its own SQL.
    Native,
    /// Here, over what the sources sent.
    Joined,
    /// On a cluster, over files where they lie and what other sources sent.
    Cluster,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The rows, whole.
    pub rows: Rows,
    /// Where they were made.
    pub way: Way,
    /// The databases that were read; for a subset that was loaded, the one that it is from.
    pub databases: Vec<String>,
    /// The tables that were read, as `database.table`; for a subset, the one that it is from.
    pub tables: Vec<String>,
}
