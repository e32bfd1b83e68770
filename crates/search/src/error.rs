//! Errors of the index.

use std::{
    io,
    path::{Path, PathBuf},
};

use prospector_core::tool::ToolError;
use prospector_state::Obstacle;

use crate::{damage::Damage, length::MAX_QUERY_CHARS};

/// A failed operation on an index.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A file of the index could not be read or written.
    #[error("cannot {act} the index at {}: {source}", path.display())]
    Io {
        /// The operation, as a verb.
        act: &'static str,
        /// The folder of the index.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file of the index was altered. [`crate::Index::refresh`] rebuilds the index.
    #[error("the index is damaged: {0}")]
    Damaged(Damage),
    /// The full-text engine failed.
    #[error("cannot {act} the full-text index: {source}")]
    Lexical {
        /// The operation, as a verb.
        act: &'static str,
        /// The cause.
        source: tantivy::TantivyError,
    },
    /// A part of the index panicked. Other operations are unaffected.
    #[error("the index failed: {reason}")]
    Panicked {
        /// The panic message.
        reason: String,
    },
    /// The query exceeds the length limit.
    #[error("the query has {characters} characters; the limit is {MAX_QUERY_CHARS}")]
    TooLong {
        /// Number of characters.
        characters: usize,
    },
    /// The shipped ranker weights are invalid, i.e. the build is broken.
    #[error("cannot use the weights in model/ranker.json: {reason}")]
    Ranker {
        /// The reason.
        reason: String,
    },
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] crate::embed::EmbedError),
}

impl SearchError {
    /// Creates the error of a file of the index that cannot be read; a missing one is damage.
    pub(crate) fn unreadable(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound => SearchError::Damaged(Damage::new(path, "it is missing")),
            _ => SearchError::Io { act: "read", path: path.to_owned(), source },
        }
    }

    /// Returns the external cause of a failed write, such as a full disk or a read-only folder.
    pub fn obstacle(&self) -> Option<Obstacle> {
        match self {
            SearchError::Io { source, .. } => Obstacle::of(source),
            _ => None,
        }
    }
}

impl From<SearchError> for ToolError {
    /// A query that is too long can be corrected by the caller; other errors need the operator.
    fn from(error: SearchError) -> ToolError {
        match error {
            SearchError::TooLong { .. } => {
                ToolError::invalid(error.to_string(), Some("shorten the query to its key terms".into()))
            }
            error => ToolError::fatal(error),
        }
    }
}
