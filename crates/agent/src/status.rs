//! The status of an answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The status of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerStatus {
    /// Every value comes from verified queries.
    Verified,
    /// Every statement is traced to queries, documents or the catalog.
    Answered,
    /// Something is missing, untraced, truncated, or has a warning: see the caveats of the answer.
    Partial,
    /// The question was declined, needs clarification, or the run ended before an answer.
    #[default]
    Unanswered,
}

impl AnswerStatus {
    /// Returns the human-readable label.
    pub fn label(self) -> &'static str {
        match self {
            AnswerStatus::Verified => "Verified",
            AnswerStatus::Answered => "Answered",
            AnswerStatus::Partial => "Partly answered",
            AnswerStatus::Unanswered => "Not answered",
        }
    }

    /// Returns the sign next to the label.
    pub fn icon(self) -> &'static str {
        match self {
            AnswerStatus::Verified => "✓",
            AnswerStatus::Answered => "●",
            AnswerStatus::Partial => "◐",
            AnswerStatus::Unanswered => "○",
        }
    }

    /// Returns the word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            AnswerStatus::Verified => "verified",
            AnswerStatus::Answered => "answered",
            AnswerStatus::Partial => "partial",
            AnswerStatus::Unanswered => "unanswered",
        }
    }
}

impl fmt::Display for AnswerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.icon(), self.label())
    }
}
