//! What can go wrong with an index.

use std::path::PathBuf;

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
    /// The full-text engine failed.
    #[error("cannot {act} the full-text index: {source}")]
    Lexical {
        /// What was attempted.
        act: &'static str,
        /// Why it failed.
        source: tantivy::TantivyError,
    },
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] crate::EmbedError),
}
