//! How a call fails, and as what a program and a model see it.

use serde::Serialize;
use serde_json::{Value, json};

use crate::mark::{clean_name, redact::Redactor};

/// Why a call failed. Serialized as [`ToolErrorCode::as_str`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolErrorCode {
    /// There is nothing of that name.
    NotFound,
    /// The arguments cannot be used.
    InvalidArguments,
    /// There is no tool of that name.
    UnknownTool,
    /// What should work does not right now.
    Unavailable,
    /// There was no answer in time.
    Timeout,
    /// An operation was not called, or gave no answer that can be used.
    NotCalled,
    /// The tool belongs to another phase of a workflow.
    WrongPhase,
    /// A phase of a workflow lacks what it must have first.
    NotYet,
    /// The workflow is over.
    Over,
    /// A statement is not a query, or an act is not allowed.
    Refused,
    /// A query cannot be read.
    Syntax,
    /// There is no database of that name.
    UnknownDatabase,
    /// There is no table of that name.
    UnknownTable,
    /// There is no column of that name.
    UnknownColumn,
    /// There is no function of that name.
    UnknownFunction,
    /// Values are of the wrong types.
    TypeMismatch,
    /// A query needs too much memory.
    Memory,
    /// There is more than may be read.
    TooLarge,
    /// A measure would count rows more than once.
    RepeatedRows,
    /// Tables can be joined in several ways.
    AmbiguousJoin,
    /// No key connects the tables.
    NoJoin,
    /// The tables of a query are elsewhere.
    #[serde(rename = "other")]
    Elsewhere,
    /// Anything else.
    Failed,
}

impl ToolErrorCode {
    /// Every code.
    pub const ALL: [ToolErrorCode; 23] = [
        ToolErrorCode::NotFound,
        ToolErrorCode::InvalidArguments,
        ToolErrorCode::UnknownTool,
        ToolErrorCode::Unavailable,
        ToolErrorCode::Timeout,
        ToolErrorCode::NotCalled,
        ToolErrorCode::WrongPhase,
        ToolErrorCode::NotYet,
        ToolErrorCode::Over,
        ToolErrorCode::Refused,
        ToolErrorCode::Syntax,
        ToolErrorCode::UnknownDatabase,
        ToolErrorCode::UnknownTable,
        ToolErrorCode::UnknownColumn,
        ToolErrorCode::UnknownFunction,
        ToolErrorCode::TypeMismatch,
        ToolErrorCode::Memory,
        ToolErrorCode::TooLarge,
        ToolErrorCode::RepeatedRows,
        ToolErrorCode::AmbiguousJoin,
        ToolErrorCode::NoJoin,
        ToolErrorCode::Elsewhere,
        ToolErrorCode::Failed,
    ];

    /// The stable word for it in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolErrorCode::NotFound => "not_found",
            ToolErrorCode::InvalidArguments => "invalid_arguments",
            ToolErrorCode::UnknownTool => "unknown_tool",
            ToolErrorCode::Unavailable => "unavailable",
            ToolErrorCode::Timeout => "timeout",
            ToolErrorCode::NotCalled => "not_called",
            ToolErrorCode::WrongPhase => "wrong_phase",
            ToolErrorCode::NotYet => "not_yet",
            ToolErrorCode::Over => "over",
            ToolErrorCode::Refused => "refused",
            ToolErrorCode::Syntax => "syntax",
            ToolErrorCode::UnknownDatabase => "unknown_database",
            ToolErrorCode::UnknownTable => "unknown_table",
            ToolErrorCode::UnknownColumn => "unknown_column",
            ToolErrorCode::UnknownFunction => "unknown_function",
            ToolErrorCode::TypeMismatch => "type_mismatch",
            ToolErrorCode::Memory => "memory",
            ToolErrorCode::TooLarge => "too_large",
            ToolErrorCode::RepeatedRows => "repeated_rows",
            ToolErrorCode::AmbiguousJoin => "ambiguous_join",
            ToolErrorCode::NoJoin => "no_join",
            ToolErrorCode::Elsewhere => "other",
            ToolErrorCode::Failed => "failed",
        }
    }
}

impl std::fmt::Display for ToolErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed call is part of the conversation, not a crash.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// Shown to the model as `{"error": code, "message", "suggestion"}`.
    #[error("{message}{}", suggestion.as_ref().map(|s| format!(" ({s})")).unwrap_or_default())]
    Respond {
        /// Why, for programs.
        code: ToolErrorCode,
        /// What is wrong.
        message: String,
        /// What to do instead; the nearest names where a name was wrong.
        suggestion: Option<String>,
    },
    /// For the operator only, and never shown to the model. A round in which nothing else worked ends the run.
    #[error("{source}")]
    Fatal {
        /// What happened.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// A message quotes what was passed, which may be a megabyte: no more characters of it reach a model.
const MAX_MESSAGE_CHARS: usize = 2_000;
const MAX_NAME_CHARS: usize = 200;

/// The text, or its first characters and an ellipsis.
fn cut(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

impl ToolError {
    /// A wrong name: says which right ones are nearest, out of `candidates`.
    pub fn not_found<'a>(what: &str, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        let near = crate::name::nearest(name, candidates, 3);
        let suggestion = if near.is_empty() {
            format!("there is no {what} at all")
        } else {
            let near: Vec<String> = near.iter().map(|name| format!("`{}`", clean_name(name))).collect();
            format!("did you mean {}?", near.join(", "))
        };
        ToolError::Respond {
            code: ToolErrorCode::NotFound,
            message: format!("there is no {what} `{}`", cut(clean_name(name), MAX_NAME_CHARS)),
            suggestion: Some(suggestion),
        }
    }

    /// Arguments that cannot be used.
    pub fn invalid(message: impl Into<String>, suggestion: Option<String>) -> Self {
        let message = cut(message.into(), MAX_MESSAGE_CHARS);
        ToolError::Respond { code: ToolErrorCode::InvalidArguments, message, suggestion }
    }

    /// Something that should work does not right now: a source that cannot be read.
    pub fn unavailable(message: impl Into<String>, suggestion: Option<String>) -> Self {
        let message = cut(message.into(), MAX_MESSAGE_CHARS);
        ToolError::Respond { code: ToolErrorCode::Unavailable, message, suggestion }
    }

    /// An error for the operator.
    pub fn fatal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        ToolError::Fatal { source: source.into() }
    }

    /// The error as a client of a server is shown it.
    pub fn redact(self, redactor: &Redactor) -> Self {
        match self {
            ToolError::Respond { code, message, suggestion } => {
                let shown = |text: String| redactor.redact(&text).into_owned();
                ToolError::Respond { code, message: shown(message), suggestion: suggestion.map(shown) }
            }
            // Nobody but the operator is shown it.
            fatal @ ToolError::Fatal { .. } => fatal,
        }
    }

    /// What the model is shown; a fatal error shows nothing of its cause.
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
    fn a_code_is_its_word_everywhere() {
        for code in ToolErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }

    #[test]
    fn a_long_name_is_told_by_its_beginning() {
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
