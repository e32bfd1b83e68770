//! What goes wrong with a query, as the one who wrote it is told.

use std::fmt;

use prospector_core::tool::{ToolError, ToolErrorCode};
use serde::Serialize;

/// Why a query was refused or failed, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}{}", suggestion.as_ref().map(|s| format!(" ({s})")).unwrap_or_default())]
pub struct Failure {
    /// The reason, for a program.
    #[serde(rename = "error")]
    pub code: FailureCode,
    /// What is wrong, and where.
    pub message: String,
    /// What to do instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl Failure {
    /// A failure of that kind, without advice.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), suggestion: None }
    }

    /// A statement that is not run.
    pub(crate) fn refuse(message: impl Into<String>) -> Self {
        Failure::new(FailureCode::Refused, message)
    }

    /// Adds what to do instead.
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

/// Why a query was refused or failed. It is serialized as [`FailureCode::as_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    /// The statement is not a query, or it does more than read and compute.
    Refused,
    /// The text cannot be parsed as SQL.
    Syntax,
    /// There is no database of that name.
    UnknownDatabase,
    /// There is no table of that name that may be read.
    UnknownTable,
    /// The tables have no column of that name.
    UnknownColumn,
    /// There is no function of that name that may be called.
    UnknownFunction,
    /// Values of different types are compared or combined.
    TypeMismatch,
    /// The query exceeded its time limit.
    Timeout,
    /// The query needs more memory, or more room in the scratch folder, than it may use.
    Memory,
    /// A value, an answer, or the rows for a join are larger than what may be read.
    TooLarge,
    /// The source, or the process that computes queries, cannot be reached at the moment.
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

    /// The stable word for the code in answers.
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
            let ToolError::Respond { code: told, .. } = Failure::new(code, "x").into() else { panic!("{code}") };
            assert_eq!(told.as_str(), code.as_str());
        }
    }
}
