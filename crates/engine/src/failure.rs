//! Failures: why a query was rejected or failed, as reported to its author.

use std::fmt;

use prospector_core::tool::{ToolError, ToolErrorCode};
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
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        let Failure { code, message, suggestion } = failure;
        ToolError::Respond { code: code.into(), message, suggestion }
    }
}

/// Why a query was rejected or failed. It is serialized as [`FailureCode::as_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// The statement is not a query, or it does more than read and compute.
    Refused,
    /// The text cannot be parsed as SQL.
    Syntax,
    /// No database has that name.
    UnknownDatabase,
    /// No readable table has that name.
    UnknownTable,
    /// No table of the query has a column of that name.
    UnknownColumn,
    /// No allowed function has that name.
    UnknownFunction,
    /// Values of different types are compared or combined.
    TypeMismatch,
    /// The query exceeded its time limit.
    Timeout,
    /// The query needs more memory or scratch space than its limit.
    Memory,
    /// A value, an answer, or the rows for a join exceed their limit.
    TooLarge,
    /// The source, or the process that computes queries, is currently unreachable.
    Unavailable,
    /// The request cannot be turned into a query.
    InvalidArguments,
    /// A measure would count the same rows more than once.
    RepeatedRows,
    /// The tables can be joined in more than one way.
    AmbiguousJoin,
    /// No declared key connects the tables.
    NoJoin,
    /// The tables are not all in the database whose dialect was tried.
    #[serde(rename = "other")]
    Elsewhere,
    /// Anything else.
    Failed,
}

impl FailureCode {
    /// All codes.
    pub const ALL: [FailureCode; 17] = [
        FailureCode::Refused,
        FailureCode::Syntax,
        FailureCode::UnknownDatabase,
        FailureCode::UnknownTable,
        FailureCode::UnknownColumn,
        FailureCode::UnknownFunction,
        FailureCode::TypeMismatch,
        FailureCode::Timeout,
        FailureCode::Memory,
        FailureCode::TooLarge,
        FailureCode::Unavailable,
        FailureCode::InvalidArguments,
        FailureCode::RepeatedRows,
        FailureCode::AmbiguousJoin,
        FailureCode::NoJoin,
        FailureCode::Elsewhere,
        FailureCode::Failed,
    ];

    /// Returns the stable name of the code in answers.
    pub fn as_str(self) -> &'static str {
        ToolErrorCode::from(self).as_str()
    }
}

impl From<FailureCode> for ToolErrorCode {
    fn from(code: FailureCode) -> Self {
        match code {
            FailureCode::Refused => ToolErrorCode::Refused,
            FailureCode::Syntax => ToolErrorCode::Syntax,
            FailureCode::UnknownDatabase => ToolErrorCode::UnknownDatabase,
            FailureCode::UnknownTable => ToolErrorCode::UnknownTable,
            FailureCode::UnknownColumn => ToolErrorCode::UnknownColumn,
            FailureCode::UnknownFunction => ToolErrorCode::UnknownFunction,
            FailureCode::TypeMismatch => ToolErrorCode::TypeMismatch,
            FailureCode::Timeout => ToolErrorCode::Timeout,
            FailureCode::Memory => ToolErrorCode::Memory,
            FailureCode::TooLarge => ToolErrorCode::TooLarge,
            FailureCode::Unavailable => ToolErrorCode::Unavailable,
            FailureCode::InvalidArguments => ToolErrorCode::InvalidArguments,
            FailureCode::RepeatedRows => ToolErrorCode::RepeatedRows,
            FailureCode::AmbiguousJoin => ToolErrorCode::AmbiguousJoin,
            FailureCode::NoJoin => ToolErrorCode::NoJoin,
            FailureCode::Elsewhere => ToolErrorCode::Elsewhere,
            FailureCode::Failed => ToolErrorCode::Failed,
        }
    }
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_its_word_everywhere() {
        for code in FailureCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            let ToolError::Respond { code: reported, .. } = Failure::new(code, "x").into() else { panic!("{code}") };
            assert_eq!(reported.as_str(), code.as_str());
        }
    }
}
