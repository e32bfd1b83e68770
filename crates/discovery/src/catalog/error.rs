//! Why a catalog could not be opened at all.

use std::path::PathBuf;

use prospector_core::problem::conceal;
use prospector_search::SearchError;

/// A catalog could not be opened at all.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The file could not be read.
    #[error("cannot read the catalog {}: {source}", path.display())]
    Read {
        /// The catalog file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The file is not YAML, or not a mapping.
    #[error("{}:{line}: {}", path.display(), conceal(reason))]
    Syntax {
        /// The catalog file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        reason: String,
    },
    /// The state folder could not be written.
    #[error("cannot use the state folder {}: {source}", path.display())]
    State {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The index could neither be opened nor made anew.
    #[error(transparent)]
    Search(#[from] SearchError),
}
