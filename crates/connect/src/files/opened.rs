//! An opened file, and helpers for opening one.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::TableProvider;
use futures::FutureExt;
use prospector_core::Problem;

use super::delimited::{Examined, Stamp};
use super::failure::FileError;

/// A file that can be queried, with its problems.
pub(super) struct OpenFile {
    pub(super) table: Arc<dyn TableProvider>,
    pub(super) notes: Vec<Problem>,
    /// The survey of a delimited file.
    pub(super) examined: Option<Examined>,
    /// The state of the file, if the table depends on all of its rows.
    pub(super) stamp: Option<Stamp>,
}

impl OpenFile {
    pub(super) fn new(table: Arc<dyn TableProvider>, notes: Vec<Problem>) -> Self {
        OpenFile { table, notes, examined: None, stamp: None }
    }
}

/// Returns the metadata of a non-empty file.
pub(super) async fn stat(path: &Path) -> Result<std::fs::Metadata, FileError> {
    let metadata = tokio::fs::metadata(path).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => FileError::Missing,
        _ => FileError::Io(error),
    })?;
    match metadata.is_dir() {
        true => Err(FileError::Folder),
        false if metadata.len() == 0 => Err(FileError::Empty),
        false => Ok(metadata),
    }
}

/// Catches panics, which readers of binary formats may raise for damaged files.
pub(super) async fn caught<T>(act: impl Future<Output = Result<T, FileError>>) -> Result<T, FileError> {
    AssertUnwindSafe(act).catch_unwind().await.unwrap_or(Err(FileError::Panicked))
}

/// Replaces null types: later rows may have values.
pub(super) fn fill_types(schema: &Schema) -> Schema {
    let typed = |field: &Arc<Field>| match field.data_type() {
        DataType::Null => field.as_ref().clone().with_data_type(DataType::Utf8),
        _ => field.as_ref().clone(),
    };
    Schema::new(schema.fields().iter().map(typed).collect::<Vec<_>>())
}
