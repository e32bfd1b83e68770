//! Errors of reports.

use std::path::PathBuf;

/// A failure to create a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The questions file is not valid YAML, or has an unknown key.
    #[error("cannot read the questions in {place}: {reason}")]
    Questions {
        /// The file.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The file contains no questions.
    #[error("{place} contains no questions; add a list `questions:` with one entry per question")]
    NoQuestions {
        /// The file.
        place: String,
    },
    /// The results of the report could not be stored for comparison.
    #[error("cannot store the results of the report in {}: {source}", path.display())]
    Keep {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}
