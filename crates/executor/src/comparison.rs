//! What differs between two runs, as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What differs from an earlier run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// The earlier run.
    pub with: String,
    /// Each step that either run has.
    pub steps: Vec<StepComparison>,
}

/// What differs between two runs of a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepComparison {
    /// The number of the step.
    pub number: u32,
    /// Whether it was there, and is.
    pub change: Change,
    /// How many rows there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_before: Option<usize>,
    /// How many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_now: Option<usize>,
    /// The first rows that differ: what they are grouped by, or their place; then the values before and now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

/// How a step differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The same columns and rows.
    #[default]
    Same,
    /// Other columns or rows.
    Changed,
    /// Only this run has it.
    Added,
    /// Only the earlier run has it.
    Removed,
}

/// A row that differs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Difference {
    /// The groups of the row, or its place.
    pub row: Vec<Value>,
    /// Its values in the earlier run; none where there was no such row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<BTreeMap<String, Value>>,
    /// Its values now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<BTreeMap<String, Value>>,
}

impl Change {
    /// The word for it in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Change::Same => "same",
            Change::Changed => "changed",
            Change::Added => "added",
            Change::Removed => "removed",
        }
    }
}
