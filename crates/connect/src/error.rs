//! Errors of data sources.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

pub use crate::cause::Cause;
use crate::filter::ConditionError;
pub use crate::reason::ReasonText;
use crate::source_kind::SourceKind;

/// A failed operation on a data source. Messages never contain a password.
///
/// If a library reported the failure, [`Error::source`] returns its error, unless the cause is [`Cause::Refused`]: the
/// message of such an error may name objects that are hidden from the account.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// A file could not be opened, or has unexpected content.
    #[error("cannot open {kind} {}: {reason}", path.display())]
    Open {
        /// The kind of source.
        kind: SourceKind,
        /// The file.
        path: PathBuf,
        /// The reason, as a clause.
        reason: ReasonText,
        /// The machine-readable cause.
        cause: Cause,
        /// The error of the library.
        #[source]
        source: Option<DriverError>,
    },
    /// A statement failed, or a part of the source could not be read.
    #[error("cannot read {table} of {place}: {reason}")]
    Read {
        /// The source.
        place: String,
        /// The table.
        table: String,
        /// The reason, as reported by the source.
        reason: ReasonText,
        /// The machine-readable cause.
        cause: Cause,
        /// The code of the source: an SQLSTATE of PostgreSQL, an error number of MySQL, a result code of SQLite, an HTTP
        /// status.
        code: Option<Box<str>>,
        /// The name of the unknown column, if the cause is [`Cause::UnknownColumn`] and the source reports it.
        column: Option<Box<str>>,
        /// The error of the library.
        #[source]
        source: Option<DriverError>,
    },
    /// One value, or a whole result, exceeds a size limit. No part of the result is returned.
    #[error("cannot read {table} of {place}: too large: {}", too_large(column.as_deref(), *limit))]
    TooLarge {
        /// The source.
        place: String,
        /// The table.
        table: String,
        /// The column of the value; `None` if all values together are too large.
        column: Option<String>,
        /// The limit in bytes: [`crate::rows::MAX_CELL_BYTES`], [`crate::rows::MAX_ANSWER_BYTES`] or [`crate::rows::MAX_ROWS_BYTES`].
        limit: usize,
    },
    /// A server could not be reached, or it rejected the account.
    #[error("cannot connect to {server}: {reason}")]
    Connect {
        /// The server, as a URL without a password.
        server: String,
        /// The reason, as a clause.
        reason: ReasonText,
        /// The error of the library.
        #[source]
        source: Option<DriverError>,
    },
    /// A condition does not fit the table or the column.
    #[error("cannot filter {table} by {column}: {source}")]
    Condition {
        /// The table.
        table: String,
        /// The column as the condition names it.
        column: String,
        /// The reason.
        source: ConditionError,
    },
    /// The kind of source does not support the operation.
    #[error("{place} cannot {act}")]
    Unsupported {
        /// The source.
        place: String,
        /// The unsupported operation.
        act: &'static str,
    },
    /// Another process could not read a source. The message is that of the error in the other process.
    #[error("{reason}")]
    Relayed {
        /// The message of the error in the other process.
        reason: ReasonText,
        /// Its [`ConnectError::cause`].
        cause: Cause,
        /// Its [`ConnectError::column`].
        column: Option<String>,
    },
    /// The source describes tables but contains no rows.
    #[error("{place} is a schema without data")]
    NoData {
        /// The source.
        place: String,
    },
}

impl ConnectError {
    /// Returns the error of a failed read. `place` is the source and `reason` a clause.
    pub fn read(place: impl Into<String>, table: impl Into<String>, cause: Cause, reason: impl Into<String>) -> Self {
        ConnectError::Read {
            place: place.into(),
            table: table.into(),
            reason: reason.into().into(),
            cause,
            code: None,
            column: None,
            source: None,
        }
    }

    /// Returns the error of a table that does not exist.
    pub fn unknown_table(place: impl Into<String>, table: impl Into<String>) -> Self {
        ConnectError::read(place, table, Cause::UnknownTable, "there is no such table")
    }

    /// Returns the error of a column that does not exist.
    pub fn unknown_column(place: impl Into<String>, table: impl Into<String>, column: &str) -> Self {
        let reason = format!("it has no column {column}");
        ConnectError::read(place, table, Cause::UnknownColumn, reason).with_column(Some(column))
    }

    /// Returns the error of an operation that timed out.
    #[cfg(any(feature = "dynamodb", feature = "elasticsearch", feature = "mongodb", feature = "bigquery"))]
    pub(crate) fn timeout(place: impl Into<String>, table: impl Into<String>) -> Self {
        ConnectError::read(place, table, Cause::TimedOut, TIMED_OUT)
    }

    /// Returns the error of a file that cannot be opened.
    pub(crate) fn open(kind: SourceKind, path: &Path, reason: impl Into<String>) -> Self {
        let (path, reason) = (path.to_owned(), reason.into().into());
        ConnectError::Open { kind, path, reason, cause: Cause::Other, source: None }
    }

    /// Returns the error of a server that cannot be reached.
    pub(crate) fn connect(server: impl Into<String>, reason: impl Into<String>) -> Self {
        ConnectError::Connect { server: server.into(), reason: reason.into().into(), source: None }
    }

    /// Returns the conversion of the error of a condition on that column.
    pub(crate) fn condition<'a>(
        table: &'a str,
        column: &'a str,
    ) -> impl Fn(ConditionError) -> ConnectError + Copy + use<'a> {
        move |source| ConnectError::Condition { table: table.to_owned(), column: column.to_owned(), source }
    }

    /// Adds the code of the source to the error of a failed read.
    #[must_use]
    pub(crate) fn with_code(mut self, code: Option<impl fmt::Display>) -> Self {
        if let ConnectError::Read { code: own, .. } = &mut self {
            *own = code.map(|code| code.to_string().into_boxed_str());
        }
        self
    }

    /// Adds the name of the unknown column to the error of a failed read.
    #[must_use]
    pub(crate) fn with_column(mut self, column: Option<&str>) -> Self {
        if let ConnectError::Read { column: own, .. } = &mut self {
            *own = column.map(Into::into);
        }
        self
    }

    /// Adds the error of a library, except if the cause is [`Cause::Refused`].
    #[must_use]
    pub(crate) fn with_source(mut self, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        match &mut self {
            ConnectError::Read { cause: Cause::Refused, .. } => {}
            ConnectError::Open { source, .. }
            | ConnectError::Read { source, .. }
            | ConnectError::Connect { source, .. } => *source = Some(DriverError::new(error.into())),
            _ => {}
        }
        self
    }

    /// Returns the machine-readable cause of the failure.
    pub fn cause(&self) -> Cause {
        match self {
            ConnectError::Open { cause, .. }
            | ConnectError::Read { cause, .. }
            | ConnectError::Relayed { cause, .. } => *cause,
            ConnectError::TooLarge { .. } => Cause::TooLarge,
            ConnectError::Connect { .. } => Cause::Gone,
            ConnectError::Condition { source, .. } => source.cause(),
            ConnectError::Unsupported { .. } | ConnectError::NoData { .. } => Cause::Other,
        }
    }

    /// Returns the name of the unknown column, if the cause is [`Cause::UnknownColumn`] and the source reports it.
    pub fn column(&self) -> Option<&str> {
        match self {
            ConnectError::Read { column, .. } => column.as_deref(),
            ConnectError::Relayed { column, .. } => column.as_deref(),
            ConnectError::Condition { column, source: ConditionError::UnknownColumn, .. } => Some(column),
            _ => None,
        }
    }
}

/// The reason of every timeout.
pub(crate) const TIMED_OUT: &str = "it took too long and was stopped";

/// The error of a library, as the library reported it. Its text is limited.
#[derive(Debug)]
pub struct DriverError(Box<Box<dyn Error + Send + Sync>>);

impl DriverError {
    fn new(error: Box<dyn Error + Send + Sync>) -> Self {
        DriverError(Box::new(error))
    }

    /// Returns the error of the library itself, for downcasting.
    pub fn get(&self) -> &(dyn Error + Send + Sync + 'static) {
        &**self.0
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&ReasonText::from(self.0.to_string()), f)
    }
}

impl Error for DriverError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Why the address of a server or service, or a name of something to describe there, is invalid. Messages never show the
/// address, which may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The text is not a URL.
    #[error("invalid URL: {0}")]
    Syntax(#[from] url::ParseError),
    /// No kind of server uses this URL scheme.
    #[error("unsupported URL scheme `{0}://`")]
    UnknownScheme(String),
    /// The URL has no host.
    #[error("the URL has no host")]
    NoHost,
    /// The URL of a service does not start with `http://` or `https://`, or has no host.
    #[error("the URL must start with https:// or http:// and have a host")]
    NotHttp,
    /// The URL has a query or a fragment.
    #[error("the URL must not have a query or a fragment")]
    BehindPath,
    /// A name or pattern of something to describe is invalid.
    #[error("`{name}` is not a valid {of}")]
    Name {
        /// The invalid name.
        name: String,
        /// The expected form: `name of a project or dataset`.
        of: &'static str,
    },
}

fn too_large(column: Option<&str>, limit: usize) -> String {
    let size = match limit {
        limit if limit >= 1 << 20 => format!("{} MB", limit >> 20),
        limit => format!("{limit} bytes"),
    };
    match column {
        Some(column) => format!("a value of the column {column} has more than {size}"),
        None => format!("the values have more than {size} in all"),
    }
}
