//! Differences between two runs, as data.

use std::collections::BTreeMap;

use prospector_core::named_enum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The differences from an earlier run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// The earlier run.
    pub with: String,
    /// Each step of either run.
    pub steps: Vec<StepComparison>,
}

/// The differences of a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepComparison {
    /// The number of the step.
    pub number: u32,
    /// How the step changed.
    pub change: Change,
    /// Number of rows before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_before: Option<usize>,
    /// Number of rows now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_now: Option<usize>,
    /// The first rows that differ: their group keys or index, with the values before and now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

named_enum! {
    /// How a step changed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Change {
        /// The same columns and rows.
        #[default]
        Same = "same",
        /// Different columns or rows.
        Changed = "changed",
        /// Only this run has it.
        Added = "added",
        /// Only the earlier run has it.
        Removed = "removed",
    }
}

/// A row that differs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Difference {
    /// The group keys of the row, or its index.
    pub row: Vec<Value>,
    /// Its values in the earlier run; `None` if the row did not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<BTreeMap<String, Value>>,
    /// Its values now; `None` if the row no longer exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<BTreeMap<String, Value>>,
}
