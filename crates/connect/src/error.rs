//! What can go wrong with a data source.

use std::path::{Path, PathBuf};

use crate::SourceKind;

/// A failed act on a data source. Messages never hold a password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The file could not be opened or is not what it should be.
    #[error("cannot open {kind} {}: {reason}", path.display())]
    Open {
        /// The kind of source.
        kind: SourceKind,
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A statement failed.
    #[error("cannot read {table} of {place}: {reason}")]
    Read {
        /// The source.
        place: String,
        /// The table.
        table: String,
        /// Why, as the source says it.
        reason: String,
        /// Why, as far as the source says it by a code.
        cause: Cause,
        /// The code of the source: an SQLSTATE of PostgreSQL, a number of MySQL, a result code of SQLite, an HTTP status.
        code: Option<String>,
    },
    /// A value, or an answer in all, has more bytes than are read at once. Nothing of the answer is given.
    #[error("cannot read {table} of {place}: too large: {}", too_large(column.as_deref(), *limit))]
    TooLarge {
        /// The source.
        place: String,
        /// The table.
        table: String,
        /// The column of the value; `None` where all values together are too large.
        column: Option<String>,
        /// So many bytes are read at most: [`crate::MAX_CELL_BYTES`], [`crate::MAX_ANSWER_BYTES`] or
        /// [`crate::MAX_ROWS_BYTES`].
        limit: usize,
    },
    /// A server did not let anybody in.
    #[error("cannot connect to {server}: {reason}")]
    Connect {
        /// The server, as a URL without a password.
        server: String,
        /// Why.
        reason: String,
    },
    /// A condition does not fit the table or the value.
    #[error("cannot filter {table} by {column}: {reason}")]
    Condition {
        /// The table.
        table: String,
        /// The column as the condition names it.
        column: String,
        /// Why.
        reason: String,
    },
    /// The kind of source has no way to do it.
    #[error("{place} cannot {act}")]
    Unsupported {
        /// The source.
        place: String,
        /// What was asked of it.
        act: &'static str,
    },
    /// A source that another process reads could not be read; said in the words of that process.
    #[error("{reason}")]
    Relayed {
        /// The message of the error there.
        reason: String,
    },
    /// The source describes tables but holds no rows.
    #[error("{place} is a schema without data")]
    NoData {
        /// The source.
        place: String,
    },
}

/// Why a statement failed, as far as the source says it by a code. What it says in words may be in any language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Cause {
    /// None of the following, or the source gives no code.
    #[default]
    Other,
    /// It ran into a limit of time.
    TimedOut,
    /// The connection was lost, or the server stops.
    Gone,
    /// It ran into a limit of memory, of temporary files or of complexity.
    Memory,
    /// There is no such table, or none that may be read.
    UnknownTable,
    /// There is no such column.
    UnknownColumn,
    /// There is no such function or operator, or none for values of these types.
    UnknownFunction,
    /// A value is not of the type that is needed.
    TypeMismatch,
    /// It is not a statement.
    Syntax,
    /// Whoever asks may not do this, or it is not reading.
    Refused,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Cause; 10] = [
        Cause::Other,
        Cause::TimedOut,
        Cause::Gone,
        Cause::Memory,
        Cause::UnknownTable,
        Cause::UnknownColumn,
        Cause::UnknownFunction,
        Cause::TypeMismatch,
        Cause::Syntax,
        Cause::Refused,
    ];
}

impl ConnectError {
    /// A file that cannot be opened.
    pub(crate) fn open(kind: SourceKind, path: &Path, reason: impl Into<String>) -> Self {
        ConnectError::Open { kind, path: path.to_owned(), reason: reason.into() }
    }

    /// A failed reading of which no code is known.
    pub fn read(place: impl Into<String>, table: impl Into<String>, reason: impl Into<String>) -> Self {
        ConnectError::Read {
            place: place.into(),
            table: table.into(),
            reason: reason.into(),
            cause: Cause::Other,
            code: None,
        }
    }

    /// The same, where the cause is known without a code.
    #[must_use]
    pub fn because(self, known: Cause) -> Self {
        match self {
            ConnectError::Read { place, table, reason, code, .. } => {
                ConnectError::Read { place, table, reason, cause: known, code }
            }
            other => other,
        }
    }
}

/// What is wrong with the address of a server or a service, or with the names of what it should describe. Never shows the
/// address itself, which may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The text is not a URL.
    #[error("the URL is wrong: {0}")]
    Syntax(#[from] url::ParseError),
    /// No kind of server has URLs of that scheme.
    #[error("no server is known by `{0}://`")]
    UnknownScheme(String),
    /// The URL names no host.
    #[error("the URL names no host")]
    NoHost,
    /// A service is asked over HTTP, and the URL is not of that.
    #[error("the URL must begin with https:// or http:// and name a host")]
    NotHttp,
    /// The URL has a query or a fragment.
    #[error("the URL must end with its path")]
    BehindPath,
    /// A name or a pattern of what should be described is not one.
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
