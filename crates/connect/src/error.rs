//! What can go wrong with a data source.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

pub use crate::cause::Cause;
use crate::filter::ConditionError;
pub use crate::reason::ReasonText;
use crate::source_kind::SourceKind;

/// An operation on a data source that failed. Messages never contain a password.
///
/// If a library reported the failure, [`Error::source`] returns its error, unless the cause is [`Cause::Refused`]: the
/// words of such an error may name what the account is not allowed to know of.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// A file could not be opened, or is not what it should be.
    #[error("cannot open {kind} {}: {reason}", path.display())]
    Open {
        /// The kind of source.
        kind: SourceKind,
        /// The file.
        path: PathBuf,
        /// Why, as a clause.
        reason: ReasonText,
        /// Why, for a program.
        cause: Cause,
        /// What a library reported.
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
        /// Why, as the source says it.
        reason: ReasonText,
        /// Why, for a program.
        cause: Cause,
        /// The code of the source: an SQLSTATE of PostgreSQL, a number of MySQL, a result code of SQLite, an HTTP status.
        code: Option<Box<str>>,
        /// The name of the column that is not known, where the cause is [`Cause::UnknownColumn`] and the source tells it.
        column: Option<Box<str>>,
        /// What a library reported.
        #[source]
        source: Option<DriverError>,
    },
    /// One value, or an answer as a whole, has more bytes than may be read at once. No part of the answer is returned.
    #[error("cannot read {table} of {place}: too large: {}", too_large(column.as_deref(), *limit))]
    TooLarge {
        /// The source.
        place: String,
        /// The table.
        table: String,
        /// The column of the value; `None` where all values together are too large.
        column: Option<String>,
        /// The limit in bytes: [`crate::rows::MAX_CELL_BYTES`], [`crate::rows::MAX_ANSWER_BYTES`] or [`crate::rows::MAX_ROWS_BYTES`].
        limit: usize,
    },
    /// A server could not be reached, or it rejected the account.
    #[error("cannot connect to {server}: {reason}")]
    Connect {
        /// The server, as a URL without a password.
        server: String,
        /// Why, as a clause.
        reason: ReasonText,
        /// What a library reported.
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
        /// Why.
        source: ConditionError,
    },
    /// The kind of source cannot do what was requested.
    #[error("{place} cannot {act}")]
    Unsupported {
        /// The source.
        place: String,
        /// What was asked of it.
        act: &'static str,
    },
    /// Another process could not read a source. The message is that of the error in the other process.
    #[error("{reason}")]
    Relayed {
        /// The message of the error there.
        reason: ReasonText,
        /// Its [`ConnectError::cause`].
        cause: Cause,
        /// Its [`ConnectError::column`].
        column: Option<String>,
    },
    /// The source describes tables but holds no rows.
    #[error("{place} is a schema without data")]
    NoData {
        /// The source.
        place: String,
    },
}

impl ConnectError {
    /// A part of a source that could not be read. `place` is the source and `reason` a clause.
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

    /// The source has no table of that name.
    pub fn unknown_table(place: impl Into<String>, table: impl Into<String>) -> Self {
        ConnectError::read(place, table, Cause::UnknownTable, "there is no such table")
    }

    /// The table has no column of that name.
    pub fn unknown_column(place: impl Into<String>, table: impl Into<String>, column: &str) -> Self {
        ConnectError::Read {
            place: place.into(),
            table: table.into(),
            reason: format!("it has no column {column}").into(),
            cause: Cause::UnknownColumn,
            code: None,
            column: Some(column.into()),
            source: None,
        }
    }

    /// A reading that took too long and was stopped.
    #[cfg(any(feature = "dynamodb", feature = "elasticsearch", feature = "mongodb", feature = "bigquery"))]
    pub(crate) fn timeout(place: impl Into<String>, table: impl Into<String>) -> Self {
        ConnectError::read(place, table, Cause::TimedOut, TIMED_OUT)
    }

    /// A file that cannot be opened.
    pub(crate) fn open(kind: SourceKind, path: &Path, reason: impl Into<String>) -> Self {
        let (path, reason) = (path.to_owned(), reason.into().into());
        ConnectError::Open { kind, path, reason, cause: Cause::Other, source: None }
    }

    /// A server that cannot be reached.
    pub(crate) fn connect(server: impl Into<String>, reason: impl Into<String>) -> Self {
        ConnectError::Connect { server: server.into(), reason: reason.into().into(), source: None }
    }

    /// The same failure, with what a library reported. It is left out where the account was refused.
    #[must_use]
    pub(crate) fn with_source(mut self, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        match &mut self {
            ConnectError::Read { cause: Cause::Refused, .. } => {}
            ConnectError::Open { source, .. }
            | ConnectError::Read { source, .. }
            | ConnectError::Connect { source, .. } => *source = Some(DriverError::new(error.into())),
            ConnectError::TooLarge { .. }
            | ConnectError::Condition { .. }
            | ConnectError::Unsupported { .. }
            | ConnectError::Relayed { .. }
            | ConnectError::NoData { .. } => {}
        }
        self
    }

    /// The cause of the failure, for a program to act on.
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

    /// The name of the unknown column, if the cause is [`Cause::UnknownColumn`] and the source tells the name.
    pub fn column(&self) -> Option<&str> {
        match self {
            ConnectError::Read { column, .. } => column.as_deref(),
            ConnectError::Relayed { column, .. } => column.as_deref(),
            ConnectError::Condition { column, source: ConditionError::UnknownColumn, .. } => Some(column),
            ConnectError::Open { .. }
            | ConnectError::TooLarge { .. }
            | ConnectError::Connect { .. }
            | ConnectError::Condition { .. }
            | ConnectError::Unsupported { .. }
            | ConnectError::NoData { .. } => None,
        }
    }
}

/// What is said of everything that ran into a limit of time.
pub(crate) const TIMED_OUT: &str = "it took too long and was stopped";

/// The error of a library, as the library reported it. Its text is limited.
#[derive(Debug)]
pub struct DriverError(Box<Box<dyn Error + Send + Sync>>);

impl DriverError {
    fn new(error: Box<dyn Error + Send + Sync>) -> Self {
        DriverError(Box::new(error))
    }

    /// The error of the library itself, for downcasting.
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

/// What is wrong with the address of a server or service, or with the names of what should be described there. It never
/// shows the address, which may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The text is not a URL.
    #[error("the URL is wrong: {0}")]
    Syntax(#[from] url::ParseError),
    /// No kind of server has URLs with this scheme.
    #[error("no server is known by `{0}://`")]
    UnknownScheme(String),
    /// The URL names no host.
    #[error("the URL names no host")]
    NoHost,
    /// The URL of a service does not begin with `http://` or `https://`, or names no host.
    #[error("the URL must begin with https:// or http:// and name a host")]
    NotHttp,
    /// The URL has a query or a fragment.
    #[error("the URL must end with its path")]
    BehindPath,
    /// A name or pattern of what should be described is not valid.
    #[error("`{name}` is no {of}")]
    Name {
        /// As it is written.
        name: String,
        /// What it should be: `name of a project or dataset`.
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
