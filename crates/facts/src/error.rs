//! What can go wrong with facts.

use std::path::PathBuf;

/// A failed act on facts.
#[derive(Debug, thiserror::Error)]
pub enum FactError {
    /// A fact that cannot be kept as it is.
    #[error("cannot keep the fact `{term}`: {reason}")]
    Invalid {
        /// Its term.
        term: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The store exists but is not readable as a database.
    #[error("the fact store {} is damaged: {source}", path.display())]
    Damaged {
        /// The file of the store.
        path: PathBuf,
        /// What the database engine says.
        source: sqlx::Error,
    },
    /// The store is a database of something else, or of a newer version.
    #[error("{} is not a fact store of this version: {reason}", path.display())]
    Foreign {
        /// The file of the store.
        path: PathBuf,
        /// What was found instead.
        reason: String,
    },
    /// The folder for the store could not be made.
    #[error("cannot create the folder for the fact store {}: {source}", path.display())]
    Folder {
        /// The file of the store.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The database engine refused.
    #[error("cannot {act} the fact store {}: {source}", path.display())]
    Store {
        /// What was attempted.
        act: &'static str,
        /// The file; `:memory:` for facts that live as long as the process.
        path: PathBuf,
        /// The cause.
        source: sqlx::Error,
    },
}

impl FactError {
    /// Advice for the user, apart from the message of the error.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            FactError::Invalid { .. } => None,
            FactError::Damaged { .. } => {
                Some("restore the file from a copy, or move it away to begin anew; nothing was deleted")
            }
            FactError::Foreign { .. } => Some("name another file for the facts; this one was left as it is"),
            FactError::Folder { .. } | FactError::Store { .. } => {
                Some("check that the file and its folder can be written, and that no other process keeps it locked")
            }
        }
    }

    /// What is wrong, without the path, for where that stands already.
    pub(crate) fn reason(&self) -> String {
        match self {
            FactError::Invalid { .. } => self.to_string(),
            FactError::Damaged { source, .. } => format!("the fact store is damaged: {source}"),
            FactError::Foreign { reason, .. } => format!("it is not a fact store of this version: {reason}"),
            FactError::Folder { source, .. } => format!("cannot create the folder for the fact store: {source}"),
            FactError::Store { act, source, .. } => format!("cannot {act} the fact store: {source}"),
        }
    }

    /// Sorts out what the engine says about a file that is no longer, or never was, a database.
    pub(crate) fn store(act: &'static str, path: &std::path::Path, source: sqlx::Error) -> Self {
        let code = source.as_database_error().and_then(|e| e.code()).and_then(|c| c.parse::<u32>().ok());
        // SQLITE_CORRUPT and SQLITE_NOTADB; the upper bits say more.
        if matches!(code.map(|c| c & 0xff), Some(11 | 26)) {
            return FactError::Damaged { path: path.to_owned(), source };
        }
        FactError::Store { act, path: path.to_owned(), source }
    }
}
