//! What can go wrong with a data source.

use std::path::PathBuf;

/// A failed act on a data source. Messages never hold a password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The file could not be opened or is not what it should be.
    #[error("cannot open {kind} {}: {reason}", path.display())]
    Open {
        /// The kind of source.
        kind: &'static str,
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
        /// Why.
        reason: String,
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
