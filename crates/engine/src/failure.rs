//! Failures: why a query was rejected or failed, as reported to its author.

use std::fmt::Display;

use prospector_core::name::suggest;
use prospector_core::tool::ToolError;
/// Why a query was rejected or failed.
pub use prospector_core::tool::ToolErrorCode as FailureCode;
use serde::Serialize;

/// Why a query was rejected or failed, with a suggestion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}{}", suggestion.as_ref().map(|s| format!(" ({s})")).unwrap_or_default())]
pub struct Failure {
    /// The machine-readable reason.
    #[serde(rename = "error")]
    pub code: FailureCode,
    /// What failed, and where.
    pub message: String,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl Failure {
    /// Creates a failure without a suggestion.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), suggestion: None }
    }

    /// Creates the failure of a statement that is rejected.
    pub(crate) fn refuse(message: impl Into<String>) -> Self {
        Failure::new(FailureCode::Refused, message)
    }

    /// Adds a suggestion.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.suggestion = Some(advice.into());
        self
    }

    /// Suggests the known names that are similar to the wanted one, or all if they are few; otherwise adds `otherwise`, unless it is empty.
    pub(crate) fn suggest_nearest<'a>(
        self,
        wanted: &str,
        known: impl IntoIterator<Item = &'a str>,
        otherwise: &str,
    ) -> Self {
        match suggest(wanted, known) {
            Some(suggestion) => self.advise(suggestion),
            None if otherwise.is_empty() => self,
            None => self.advise(otherwise),
        }
    }

    /// Adds what was attempted when it occurred.
    pub(crate) fn context(self, act: impl Display) -> Self {
        Failure { message: format!("{act}: {}", self.message), ..self }
    }
}

/// Lists names in backticks.
pub(crate) fn quote_names(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        let Failure { code, message, suggestion } = failure;
        ToolError::Respond { code, message, suggestion }
    }
}
