//! Errors of data files.

use std::io;

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;

use crate::cause::Cause;
use crate::error::TIMED_OUT;
use crate::filter::ConditionError;

/// Why a data file cannot be read, as a clause.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("there is no such file")]
    Missing,
    #[error("it is a folder")]
    Folder,
    #[error("the file is empty")]
    Empty,
    #[error("the path is not absolute")]
    Relative,
    #[error("it has no columns")]
    NoColumns,
    #[error("it has no column {0}")]
    UnknownColumn(String),
    /// The file has another format, is damaged, or exceeds a size limit.
    #[error("{0}")]
    Unreadable(String),
    #[error("{TIMED_OUT}")]
    TimedOut,
    #[error("the reader panicked; the file is damaged")]
    Panicked,
    #[error(transparent)]
    Condition(#[from] ConditionError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Csv(#[from] csv::Error),
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    #[error("{}", innermost(.0))]
    Datafusion(#[from] DataFusionError),
    #[error(transparent)]
    Thread(#[from] tokio::task::JoinError),
}

impl FileError {
    pub(super) fn unreadable(reason: impl Into<String>) -> Self {
        FileError::Unreadable(reason.into())
    }

    pub(super) fn cause(&self) -> Cause {
        match self {
            FileError::UnknownColumn(_) => Cause::UnknownColumn,
            FileError::TimedOut => Cause::TimedOut,
            FileError::Condition(error) => error.cause(),
            FileError::Io(error) => Cause::of_io(error),
            FileError::Datafusion(error) => Cause::of_datafusion(error),
            _ => Cause::Other,
        }
    }

    /// Returns the name of the unknown column.
    pub(super) fn column(&self) -> Option<&str> {
        match self {
            FileError::UnknownColumn(name) => Some(name),
            _ => None,
        }
    }
}

/// Returns the message of the innermost error.
fn innermost(error: &DataFusionError) -> String {
    match error.find_root() {
        DataFusionError::ArrowError(error, _) => error.to_string(),
        DataFusionError::ParquetError(error) => error.to_string(),
        root => root.strip_backtrace(),
    }
}
