//! Errors of tool calls, for programs and models.

use serde::Serialize;
use serde_json::{Value, json};

use crate::mark::{clean_name, redact::Redactor, truncate};
use crate::name::suggest;
use crate::named_enum;

named_enum! {
    /// Why a call failed. Serialized as [`ToolErrorCode::as_str`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ToolErrorCode {
        /// The name does not exist.
        NotFound = "not_found",
        /// The arguments are invalid.
        InvalidArguments = "invalid_arguments",
        /// There is no tool with this name.
        UnknownTool = "unknown_tool",
        /// Temporarily unavailable.
        Unavailable = "unavailable",
        /// The time limit was exceeded.
        Timeout = "timeout",
        /// An operation was not called, or its response is unusable.
        NotCalled = "not_called",
        /// The tool belongs to another phase of a workflow.
        WrongPhase = "wrong_phase",
        /// A phase of a workflow lacks a prerequisite.
        NotYet = "not_yet",
        /// The workflow is finished.
        Over = "over",
        /// A statement is not a query, or an action is not allowed.
        Refused = "refused",
        /// A query cannot be parsed.
        Syntax = "syntax",
        /// Unknown database.
        UnknownDatabase = "unknown_database",
        /// Unknown table.
        UnknownTable = "unknown_table",
        /// Unknown column.
        UnknownColumn = "unknown_column",
        /// Unknown function.
        UnknownFunction = "unknown_function",
        /// Values have the wrong types.
        TypeMismatch = "type_mismatch",
        /// A query exceeds the memory limit.
        Memory = "memory",
        /// A read limit is exceeded.
        TooLarge = "too_large",
        /// A measure would count rows more than once (fan-out).
        RepeatedRows = "repeated_rows",
        /// Several join paths exist.
        AmbiguousJoin = "ambiguous_join",
        /// No key connects the tables.
        NoJoin = "no_join",
        /// The tables of a query are in another database.
        #[serde(rename = "other")]
        Elsewhere = "other",
        /// Any other failure.
        Failed = "failed",
    }
}

/// A failed call. It is part of the conversation and does not abort it.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// Sent to the model as `{"error": code, "message", "suggestion"}`.
    #[error("{message}{}", suggestion.as_ref().map(|s| format!(" ({s})")).unwrap_or_default())]
    Respond {
        /// The error code.
        code: ToolErrorCode,
        /// What happened.
        message: String,
        /// What to do instead; the closest names for an unknown one.
        suggestion: Option<String>,
    },
    /// For the operator only; the model learns only that the tool failed.
    #[error("{source}")]
    Fatal {
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// The maximum length of a message sent to models, which may quote large arguments.
const MAX_MESSAGE_CHARS: usize = 2_000;

impl ToolError {
    /// Creates an error for an unknown name, with the similar ones of `candidates`, or all if they are few.
    pub fn not_found<'a>(what: &str, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        let candidates: Vec<&str> = candidates.into_iter().collect();
        let suggestion = match candidates.is_empty() {
            true => Some(format!("no {what} exists")),
            false => suggest(name, candidates),
        };
        ToolError::Respond {
            code: ToolErrorCode::NotFound,
            message: format!("there is no {what} `{}`", clean_name(name)),
            suggestion,
        }
    }

    /// Creates an error for invalid arguments.
    pub fn invalid(message: impl Into<String>, suggestion: Option<String>) -> Self {
        let message = truncate(message.into(), MAX_MESSAGE_CHARS);
        ToolError::Respond { code: ToolErrorCode::InvalidArguments, message, suggestion }
    }

    /// Creates an error for a temporary failure, such as an unreadable source.
    pub fn unavailable(message: impl Into<String>, suggestion: Option<String>) -> Self {
        let message = truncate(message.into(), MAX_MESSAGE_CHARS);
        ToolError::Respond { code: ToolErrorCode::Unavailable, message, suggestion }
    }

    /// Creates an error for the operator.
    pub fn fatal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        ToolError::Fatal { source: source.into() }
    }

    /// Returns the error redacted for clients of a server.
    pub fn redact(self, redactor: &Redactor) -> Self {
        match self {
            ToolError::Respond { code, message, suggestion } => {
                let shown = |text: String| redactor.redact(&text).into_owned();
                ToolError::Respond { code, message: shown(message), suggestion: suggestion.map(shown) }
            }
            // Only sent to the operator.
            fatal @ ToolError::Fatal { .. } => fatal,
        }
    }

    /// Returns the JSON for models; the cause of a fatal error is omitted.
    pub fn to_json(&self) -> Value {
        match self {
            ToolError::Respond { code, message, suggestion: Some(suggestion) } => {
                json!({"error": code, "message": message, "suggestion": suggestion})
            }
            ToolError::Respond { code, message, suggestion: None } => json!({"error": code, "message": message}),
            ToolError::Fatal { .. } => json!({"error": "internal", "message": "the tool failed"}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serializes_codes_by_name() {
        for code in ToolErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }

    #[test]
    fn truncates_long_names() {
        let long = "é".repeat(1_000_000);
        for error in [
            ToolError::not_found("table", &long, ["invoices"]),
            ToolError::invalid(format!("unknown field `{long}`"), None),
            ToolError::unavailable(&long, None),
        ] {
            let text = error.to_json().to_string();
            assert!(text.len() < 5_000 && text.contains("é…"), "{} bytes", text.len());
        }
    }
}
