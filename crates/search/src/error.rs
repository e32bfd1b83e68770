//! What can go wrong with an index.

use std::path::PathBuf;

use prospector_core::tool::ToolError;
use prospector_state::Obstacle;

use crate::{damage::Damage, length::MAX_QUERY_CHARS};

/// A failed act on an index.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A file of the index could not be read or written.
    #[error("cannot {act} the index at {}: {source}", path.display())]
    Io {
        /// What was attempted.
        act: &'static str,
        /// The folder of the index.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A file of the index is not what was written. [`crate::Index::refresh`] builds it anew.
    #[error("the index is damaged: {0}")]
    Damaged(Damage),
    /// The full-text engine failed.
    #[error("cannot {act} the full-text index: {source}")]
    Lexical {
        /// What was attempted.
        act: &'static str,
        /// Why it failed.
        source: tantivy::TantivyError,
    },
    /// A part of the index gave up; the others work, and so does this one when it is asked for something else.
    #[error("the index failed: {reason}")]
    Panicked {
        /// What it said.
        reason: String,
    },
    /// A text is too long to be searched for.
    #[error("the query has {characters} characters; at most {MAX_QUERY_CHARS} are searched for")]
    TooLong {
        /// How many it has.
        characters: usize,
    },
    /// The weights of the ranker that ship with the program cannot be used: the build was made with a broken file.
    #[error("cannot use the weights in model/ranker.json: {reason}")]
    Ranker {
        /// What is wrong with them.
        reason: String,
    },
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] crate::embed::EmbedError),
}

impl SearchError {
    /// What keeps the index from being written, where it is no fault of the index: a full disk, a read-only folder.
    pub fn obstacle(&self) -> Option<Obstacle> {
        match self {
            SearchError::Io { source, .. } => Obstacle::of(source),
            _ => None,
        }
    }
}

impl From<SearchError> for ToolError {
    /// Whoever asked in too many words can ask in fewer; everything else is for the operator.
    fn from(error: SearchError) -> ToolError {
        match error {
            SearchError::TooLong { .. } => ToolError::invalid(
                error.to_string(),
                Some("search for what the question is about, in fewer words".into()),
            ),
            error => ToolError::fatal(error),
        }
    }
}
