//! Data files as one process describes them to another, which reads the same tables.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::source_kind::SourceKind;

/// The formats of data files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataFormat {
    /// Separated values with a header line.
    Csv,
    /// One JSON array of objects, or one object.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// Parquet.
    Parquet,
    /// Arrow IPC files or streams.
    Arrow,
}

impl DataFormat {
    /// The kind of source that files of this format are.
    pub fn kind(self) -> SourceKind {
        match self {
            DataFormat::Csv => SourceKind::Csv,
            DataFormat::Json => SourceKind::Json,
            DataFormat::Jsonl => SourceKind::Jsonl,
            DataFormat::Parquet => SourceKind::Parquet,
            DataFormat::Arrow => SourceKind::Arrow,
        }
    }

    /// The format of a kind of source; `None` where it is not data files.
    pub(crate) fn from_kind(kind: SourceKind) -> Option<DataFormat> {
        let all = [DataFormat::Csv, DataFormat::Json, DataFormat::Jsonl, DataFormat::Parquet, DataFormat::Arrow];
        all.into_iter().find(|format| format.kind() == kind)
    }
}

/// The local data files of one source. It holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataFiles {
    /// What they are.
    pub format: DataFormat,
    /// Each file, in the order that the names of the tables depend on.
    pub files: Vec<DataFile>,
}

/// A data file, and what reading it has shown so far, so that another process does not find it out again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataFile {
    /// Where it lies; an absolute path.
    pub path: PathBuf,
    /// How many ways to read it have failed: the next one is tried first.
    pub readings_failed: usize,
    /// Whether every value was read once, and had its column's type.
    pub is_verified: bool,
}
