//! What can go wrong when documents are asked for; what goes wrong when they are loaded is a `Problem`.

use prospector_search::SearchError;

/// A failed act on documents.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// No section has that heading.
    #[error("document `{document}` has no section `{section}`")]
    FindSection {
        /// The document.
        document: String,
        /// What was asked for.
        section: String,
    },
    /// Several sections have that heading.
    #[error("document `{document}` has several sections `{section}`")]
    ChooseSection {
        /// The document.
        document: String,
        /// What was asked for.
        section: String,
        /// The full names of the sections that it can mean.
        candidates: Vec<String>,
    },
    /// The index could not answer.
    #[error("cannot search the documents for `{query}`: {source}")]
    Search {
        /// What was looked for.
        query: String,
        /// Why it failed.
        source: SearchError,
    },
}
