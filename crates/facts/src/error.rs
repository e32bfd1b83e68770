//! Errors of facts.

use std::path::PathBuf;

/// A failed operation on facts.
#[derive(Debug, thiserror::Error)]
pub enum FactError {
    /// An invalid fact.
    #[error("cannot store the fact `{term}`: {reason}")]
    Invalid {
        /// The term.
        term: String,
        /// The reason.
        reason: &'static str,
    },
    /// The store exists but is not readable as a database.
    #[error("the fact store {} is damaged: {source}", path.display())]
    Damaged {
        /// The file of the store.
        path: PathBuf,
        /// The error of SQLite.
        source: sqlx::Error,
    },
    /// The store is another kind of database, or of a newer version.
    #[error("{} is not a fact store of this version: {reason}", path.display())]
    Foreign {
        /// The file of the store.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// The folder of the store could not be created.
    #[error("cannot create the folder for the fact store {}: {source}", path.display())]
    Folder {
        /// The file of the store.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A database operation failed.
    #[error("cannot {act} the fact store {}: {source}", path.display())]
    Store {
        /// The operation, as a verb.
        act: &'static str,
        /// The file; `:memory:` for facts that live as long as the process.
        path: PathBuf,
        /// The cause.
        source: sqlx::Error,
    },
}

impl FactError {
    /// Returns advice for the user, which is not part of the message.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            FactError::Invalid { .. } => None,
            FactError::Damaged { .. } => Some(
                "restore the file from a backup, or move it away to start with an empty store; nothing was deleted",
            ),
            FactError::Foreign { .. } => Some("use another file for the facts; this one was not changed"),
            FactError::Folder { .. } | FactError::Store { .. } => {
                Some("check that the file and its folder can be written, and that no other process keeps it locked")
            }
        }
    }

    /// Returns the message without the path, for contexts that show it.
    pub(crate) fn reason(&self) -> String {
        match self {
            FactError::Invalid { .. } => self.to_string(),
            FactError::Damaged { source, .. } => format!("the fact store is damaged: {source}"),
            FactError::Foreign { reason, .. } => format!("it is not a fact store of this version: {reason}"),
            FactError::Folder { source, .. } => format!("cannot create the folder for the fact store: {source}"),
            FactError::Store { act, source, .. } => format!("cannot {act} the fact store: {source}"),
        }
    }

    /// Classifies a database error: the file may be damaged or not a database.
    pub(crate) fn store(act: &'static str, path: &std::path::Path, source: sqlx::Error) -> Self {
        let code = source.as_database_error().and_then(|e| e.code()).and_then(|c| c.parse::<u32>().ok());
        // SQLITE_CORRUPT and SQLITE_NOTADB; the upper bits are the extended code.
        if matches!(code.map(|c| c & 0xff), Some(11 | 26)) {
            return FactError::Damaged { path: path.to_owned(), source };
        }
        FactError::Store { act, path: path.to_owned(), source }
    }
}
