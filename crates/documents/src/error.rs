//! Errors of lookups and searches. Loading reports `Problem`s instead.

use prospector_search::SearchError;

/// A failed operation on documents.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// No section has that heading.
    #[error("document `{document}` has no section `{section}`")]
    FindSection {
        /// The document.
        document: String,
        /// The requested section.
        section: String,
    },
    /// Several sections have that heading.
    #[error("document `{document}` has several sections `{section}`")]
    ChooseSection {
        /// The document.
        document: String,
        /// The requested section.
        section: String,
        /// The full names of the matching sections.
        candidates: Vec<String>,
    },
    /// The search failed.
    #[error("cannot search the documents for `{query}`: {source}")]
    Search {
        /// The query.
        query: String,
        /// The cause.
        source: SearchError,
    },
}
