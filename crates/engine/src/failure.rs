//! What goes wrong with a query, as the one who wrote it is told.

use prospector_core::ToolError;
use serde::Serialize;

/// Why a query was refused or failed, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}{}", suggestion.as_ref().map(|s| format!(" ({s})")).unwrap_or_default())]
pub struct Failure {
    /// A stable word: `refused`, `syntax`, `unknown_table`, `unknown_column`, `unknown_function`, `type_mismatch`,
    /// `timeout`, `memory`, `too_large`, `unavailable`, `unknown_database`, `invalid_arguments`, `failed`.
    #[serde(rename = "error")]
    pub code: &'static str,
    /// What is wrong, and where.
    pub message: String,
    /// What to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), suggestion: None }
    }

    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.suggestion = Some(advice.into());
        self
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        ToolError::Respond { code: failure.code, message: failure.message, suggestion: failure.suggestion }
    }
}
