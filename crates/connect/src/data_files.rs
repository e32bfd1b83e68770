//! Descriptions of data files that one process passes to another, which reads the same tables.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::source_kind::SourceKind;

/// The local data files of one source, in a form that can be passed to another process. Contains no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DataFiles {
    /// The kind of all files.
    pub kind: SourceKind,
    /// Whether a column only has a type if every cell has it.
    pub is_strict: bool,
    /// The files. The names of the tables depend on their order.
    pub files: Vec<DataFile>,
}

/// The data files of a table, with what reading them has determined so far, so that another process need not repeat it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DataFile {
    /// The absolute path of the file; for a partitioned table the paths of all its files.
    #[serde(serialize_with = "write_paths", deserialize_with = "read_paths")]
    pub paths: Vec<PathBuf>,
    /// The number of strategies for reading the file that have failed; the next one is tried first.
    pub readings_failed: usize,
    /// Whether every value has been read once and had the type of its column.
    pub is_verified: bool,
    /// The layout of a delimited file, once detected; only valid for [`DataFiles::open`] of the same version.
    pub layout: Option<String>,
}

/// Serializes paths as the operating system represents them: they need not be valid UTF-8.
fn write_paths<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| path.as_os_str()))
}

fn read_paths<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
    Ok(Vec::<OsString>::deserialize(from)?.into_iter().map(PathBuf::from).collect())
}
