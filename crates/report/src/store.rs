//! What the last report of a name found, kept in the state folder.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use prospector_agent::ask::Answered;
use prospector_state::checksum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ReportError;

/// What a report found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// When it was made.
    pub made: String,
    /// The rows of the last query of each question that gave any.
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
    /// Those that an answer rests on: of the query that its chart shows, else of the last that gave any.
    pub(crate) fn of(answered: &Answered) -> Option<SnapshotRows> {
        let drawn = answered.chart.as_ref().and_then(|chart| answered.questions.iter().find(|one| one.id == chart.of));
        let last = || answered.questions.iter().rev().find(|one| one.error.is_none() && !one.rows.is_empty());
        let one = drawn.or_else(last)?;
        Some(SnapshotRows { columns: one.columns.clone(), rows: one.rows.clone() })
    }
}

/// Where reports of a name are kept.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
}

impl Store {
    /// The place for reports of these questions in a state folder.
    pub fn new(state: &Path, questions: &Path) -> Store {
        let name = questions.file_stem().map_or_else(|| "report".into(), |stem| stem.to_string_lossy().into_owned());
        let plain: String = name.chars().map(|one| if one.is_alphanumeric() { one } else { '_' }).take(80).collect();
        Store { path: state.join("reports").join(format!("{plain}.json")) }
    }

    /// What the last report found; none where there was none, or it is damaged.
    pub fn read(&self) -> Option<Snapshot> {
        let bytes = std::fs::read(&self.path).ok()?;
        serde_json::from_slice(checksum::unseal(&bytes).ok()?).ok()
    }

    /// Keeps what a report found in the place of the one before.
    ///
    /// # Errors
    /// [`ReportError::Keep`] when it cannot be written.
    pub fn keep(&self, kept: &Snapshot) -> Result<(), ReportError> {
        let failed = |source| ReportError::Keep { path: self.path.clone(), source };
        if let Some(folder) = self.path.parent() {
            prospector_state::create_folder(folder).map_err(failed)?;
        }
        let bytes = checksum::seal(&serde_json::to_vec(kept).unwrap_or_default());
        prospector_state::replace(&self.path, &bytes).map_err(failed)
    }
}
