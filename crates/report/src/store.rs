//! Stores the results of the last report in the state folder.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use prospector_agent::ask::Answered;
use prospector_state::checksum::{read_json, write_json};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ReportError;

/// The results of a report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// When it was created.
    pub made: String,
    /// The rows of the last query with rows, by question.
    pub rows: BTreeMap<String, SnapshotRows>,
}

/// The rows of a query.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SnapshotRows {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
}

impl SnapshotRows {
    /// Returns the rows that support an answer: those of its chart, otherwise of the last query with rows.
    pub(crate) fn of(answered: &Answered) -> Option<SnapshotRows> {
        let drawn = answered.chart.as_ref().and_then(|chart| answered.questions.iter().find(|one| one.id == chart.of));
        let last = || answered.questions.iter().rev().find(|one| one.error.is_none() && !one.rows.is_empty());
        let one = drawn.or_else(last)?;
        Some(SnapshotRows { columns: one.columns.clone(), rows: one.rows.clone() })
    }
}

/// The stored results of a report.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
}

impl Store {
    /// Returns the store for reports of these questions in a state folder.
    pub fn new(state: &Path, questions: &Path) -> Store {
        let name = questions.file_stem().map_or_else(|| "report".into(), |stem| stem.to_string_lossy().into_owned());
        let plain: String = name.chars().map(|one| if one.is_alphanumeric() { one } else { '_' }).take(80).collect();
        Store { path: state.join("reports").join(format!("{plain}.json")) }
    }

    /// Returns the results of the last report; `None` if it is missing or damaged.
    pub fn read(&self) -> Option<Snapshot> {
        read_json(&self.path).ok()?
    }

    /// Replaces the stored results.
    ///
    /// # Errors
    /// [`ReportError::Keep`] if they cannot be written.
    pub fn keep(&self, kept: &Snapshot) -> Result<(), ReportError> {
        let failed = |source| ReportError::Keep { path: self.path.clone(), source };
        if let Some(folder) = self.path.parent() {
            prospector_state::create_folder(folder).map_err(failed)?;
        }
        write_json(&self.path, kept).map_err(failed)
    }
}
