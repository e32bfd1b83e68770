//! A file that was opened, and what opening one needs.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::TableProvider;
use futures::FutureExt;
use prospector_core::Problem;

use super::delimited::{FileLayout, Stamp};
use super::failure::FileError;
use crate::table::ColumnIssue;

/// A file that can be queried, and what is off about it.
pub(super) struct OpenFile {
    pub(super) table: Arc<dyn TableProvider>,
    pub(super) notes: Vec<Problem>,
    /// What is known of a delimited file since all of it was read.
    pub(super) examined: Option<Examined>,
    /// The file as it was, where the table depends on all of its rows.
    pub(super) stamp: Option<Stamp>,
}

/// What is known of a delimited file.
pub(super) struct Examined {
    pub(super) layout: Arc<FileLayout>,
    /// `None` where another process has read it.
    pub(super) rows: Option<u64>,
    pub(super) issues: Vec<ColumnIssue>,
}

impl OpenFile {
    pub(super) fn new(table: Arc<dyn TableProvider>, notes: Vec<Problem>) -> Self {
        OpenFile { table, notes, examined: None, stamp: None }
    }
}

/// What the system says of a file that holds something.
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

/// Readers of binary formats may panic over damaged files.
pub(super) async fn caught<T>(act: impl Future<Output = Result<T, FileError>>) -> Result<T, FileError> {
    AssertUnwindSafe(act).catch_unwind().await.unwrap_or(Err(FileError::Panicked))
}

/// The columns, none of them without a type: rows after the first ones may have values.
pub(super) fn fill_types(schema: &Schema) -> Schema {
    let typed = |field: &Arc<Field>| match field.data_type() {
        DataType::Null => field.as_ref().clone().with_data_type(DataType::Utf8),
        _ => field.as_ref().clone(),
    };
    Schema::new(schema.fields().iter().map(typed).collect::<Vec<_>>())
}
