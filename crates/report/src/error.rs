//! What can go wrong.

use std::path::PathBuf;

/// A report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The file of questions is no YAML.
    #[error("cannot read the questions in {place}: {reason}")]
    Questions {
        /// The file.
        place: String,
        /// What the parser said, with the line.
        reason: String,
    },
    /// There is nothing to ask.
    #[error("{place} holds no question; write `questions:` with a line for each")]
    NoQuestions {
        /// The file.
        place: String,
    },
    /// What a report found could not be kept for the next one.
    #[error("cannot keep what the report found in {}: {source}", path.display())]
    Keep {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
