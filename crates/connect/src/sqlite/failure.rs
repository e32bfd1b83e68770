//! Why a database cannot be opened or read.

use std::io;
use std::path::Path;

use super::memory::MAX_VALUE_BYTES;
use crate::ConnectError;
use crate::budget::Excess;
use crate::cause::Cause;
use crate::error::TIMED_OUT;
use crate::source_kind::SourceKind;

/// The reason of a file that is still locked when waiting for it ends.
const LOCKED: &str =
    "the file is locked by another process: wait until that is done, close it, or use a copy of the file";

/// Why a file cannot be opened, as a clause.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error("there is no such file")]
    Missing,
    #[error("it is a folder")]
    Folder,
    #[error("the file is empty")]
    Empty,
    #[error("it is not a SQLite database, or it is encrypted")]
    Header,
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{}", explain(.0).1)]
    Sqlite(#[from] rusqlite::Error),
}

/// Why a read failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionFailure {
    /// The file cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The request does not fit the database.
    #[error(transparent)]
    Request(Box<ConnectError>),
    /// An error of SQLite.
    #[error(transparent)]
    Source(#[from] rusqlite::Error),
    /// The result exceeds a size limit; with the names of the columns.
    #[error("the result exceeds a size limit")]
    TooLarge(Excess, Vec<String>),
    /// A rejection by this crate.
    #[error("{1}")]
    Refused(Cause, String),
}

impl From<ConnectError> for SessionFailure {
    fn from(error: ConnectError) -> Self {
        SessionFailure::Request(Box::new(error))
    }
}

impl SessionFailure {
    /// Converts it to the error of an operation on a table.
    pub(super) fn error(self, path: &Path, table: &str) -> ConnectError {
        let place = path.display().to_string();
        match self {
            SessionFailure::Open(error) => {
                let cause = match &error {
                    OpenError::Sqlite(error) => explain(error).0,
                    _ => Cause::Other,
                };
                let (path, reason) = (path.to_owned(), error.to_string().into());
                ConnectError::Open { kind: SourceKind::Sqlite, path, reason, cause, source: None }.with_source(error)
            }
            SessionFailure::Request(error) => *error,
            SessionFailure::TooLarge(excess, columns) => excess.error(place, table, &columns),
            SessionFailure::Refused(cause, reason) => ConnectError::read(place, table, cause, reason),
            SessionFailure::Source(error) => {
                let code = error.sqlite_error().map(|error| error.extended_code);
                let (cause, reason) = explain(&error);
                let column = unknown_column(cause, &reason);
                let failed = ConnectError::read(place, table, cause, reason);
                failed.with_code(code).with_column(column.as_deref()).with_source(error)
            }
        }
    }
}

/// Returns the cause and the reason of an error, by its primary result code, or by the message of SQLite, which is not
/// localised.
pub(super) fn explain(error: &rusqlite::Error) -> (Cause, String) {
    let message = match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    };
    let starts = |word: &str| message.starts_with(word);
    match error.sqlite_error().map_or(0, |error| error.extended_code & 0xff) {
        rusqlite::ffi::SQLITE_INTERRUPT => (Cause::TimedOut, TIMED_OUT.to_owned()),
        rusqlite::ffi::SQLITE_NOMEM | rusqlite::ffi::SQLITE_FULL => (Cause::Memory, "out of memory".to_owned()),
        rusqlite::ffi::SQLITE_TOOBIG => (
            Cause::TooLarge,
            format!("too large: {message}; intermediate values are limited to {} MB", MAX_VALUE_BYTES >> 20),
        ),
        rusqlite::ffi::SQLITE_AUTH | rusqlite::ffi::SQLITE_READONLY | rusqlite::ffi::SQLITE_PERM => {
            (Cause::Refused, message)
        }
        rusqlite::ffi::SQLITE_BUSY | rusqlite::ffi::SQLITE_LOCKED => (Cause::Locked, LOCKED.to_owned()),
        rusqlite::ffi::SQLITE_NOTADB => (Cause::Other, "it is not a SQLite database, or it is encrypted".to_owned()),
        rusqlite::ffi::SQLITE_ERROR if starts("no such table: ") => (Cause::UnknownTable, message),
        rusqlite::ffi::SQLITE_ERROR if starts("no such column: ") => (Cause::UnknownColumn, message),
        rusqlite::ffi::SQLITE_ERROR if starts("no such function: ") => (Cause::UnknownFunction, message),
        rusqlite::ffi::SQLITE_ERROR if message.ends_with("syntax error") => (Cause::Syntax, message),
        _ => (Cause::Other, message),
    }
}

/// Returns the name of the unknown column in a statement, without its table, from SQLite's message, which is not
/// localised.
fn unknown_column(cause: Cause, reason: &str) -> Option<String> {
    if cause != Cause::UnknownColumn {
        return None;
    }
    let name = reason.strip_prefix("no such column: ")?.split_whitespace().next()?;
    let last = name.rsplit('.').next().unwrap_or(name).trim_matches('"');
    (!last.is_empty()).then(|| last.to_owned())
}
