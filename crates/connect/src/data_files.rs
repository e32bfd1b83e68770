//! Data files as one process describes them to another, which reads the same tables.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::source_kind::SourceKind;

/// A format of data files that are queried with DataFusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataFormat {
    /// Separated values with a header line. The separator is detected.
    Csv,
    /// One JSON array of objects, or one object.
    Json,
    /// One JSON object per line.
    Jsonl,
    /// Parquet.
    Parquet,
    /// Arrow IPC files or streams.
    Arrow,
    /// XLSX workbooks.
    Xlsx,
}

impl DataFormat {
    /// The kind of source that files of this format make.
    pub fn kind(self) -> SourceKind {
        match self {
            DataFormat::Csv => SourceKind::Csv,
            DataFormat::Json => SourceKind::Json,
            DataFormat::Jsonl => SourceKind::Jsonl,
            DataFormat::Parquet => SourceKind::Parquet,
            DataFormat::Arrow => SourceKind::Arrow,
            DataFormat::Xlsx => SourceKind::Xlsx,
        }
    }

    /// The format of a kind of source; `None` where it is not data files.
    pub(crate) fn from_kind(kind: SourceKind) -> Option<DataFormat> {
        let all = [
            DataFormat::Csv,
            DataFormat::Json,
            DataFormat::Jsonl,
            DataFormat::Parquet,
            DataFormat::Arrow,
            DataFormat::Xlsx,
        ];
        all.into_iter().find(|format| format.kind() == kind)
    }
}

/// The local data files of one source, in a form that can be handed to another process. It holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataFiles {
    /// The format of all files.
    pub format: DataFormat,
    /// Whether a column has a type only if every cell of it has.
    pub is_strict: bool,
    /// The files. The names of the tables depend on their order.
    pub files: Vec<DataFile>,
}

/// The data files of a table, with what reading them has shown so far, so that another process need not find it out again.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DataFile {
    /// The absolute path of the file; of a table that is divided among folders those of all of its files.
    pub paths: Vec<PathBuf>,
    /// How many of the ways to read the file have failed already. The next one is tried first.
    pub readings_failed: usize,
    /// Whether every value has been read once and had the type of its column.
    pub is_verified: bool,
    /// How the cells of a delimited file are read, once it was looked at: for [`DataFiles::open`] of the same version alone.
    pub layout: Option<String>,
}
