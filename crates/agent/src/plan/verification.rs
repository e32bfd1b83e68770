//! The outcome of verifying a plan: failures, which block, and warnings, which never do.

use std::fmt;

use prospector_engine::{
    Failure, FailureCode,
    query::{QueryWarning, WarningCode},
};
use serde::{Deserialize, Deserializer, Serialize};

/// The verdict on a plan. `check`, `plan` and `run` give the same one for the same plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Verification {
    /// Whether nothing failed.
    pub ok: bool,
    /// Whether every step can be run: none only names resources, or reads a database whose rows are not available.
    pub executable: bool,
    /// The number of names and steps that were checked.
    pub checked: usize,
    /// Failures, which are certain.
    pub failed: Vec<Finding>,
    /// Evidence from keys, statistics and data that something may be wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Finding>,
    /// Whether the model was shown the warnings and what the plan computes, and confirmed it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub confirmed: bool,
}

/// A failure or a warning.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Finding {
    /// The path in the plan: `plan.steps[0].sql`.
    pub path: String,
    /// The kind of the finding.
    #[serde(deserialize_with = "read_code")]
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl Finding {
    /// A finding without a suggestion.
    pub fn new(path: impl Into<String>, code: Code, message: impl Into<String>) -> Self {
        Finding { path: path.into(), code, message: message.into(), suggestion: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// Suggests the closest names, if any.
    #[must_use]
    pub(crate) fn suggest_names(self, nearest: &[String]) -> Self {
        let quoted: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
        if quoted.is_empty() { self } else { self.suggest(format!("did you mean {}?", quoted.join(", "))) }
    }

    /// A failure of the engine.
    pub(crate) fn of_failure(path: impl Into<String>, failure: Failure) -> Self {
        let Failure { code, message, suggestion } = failure;
        Finding { path: path.into(), code: Code::of_failure(code), message, suggestion }
    }

    /// A warning of the engine.
    pub(crate) fn of_warning(path: impl Into<String>, warning: QueryWarning) -> Self {
        Finding {
            path: path.into(),
            code: Code::Query(warning.code),
            message: warning.message,
            suggestion: warning.suggestion,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, " ({suggestion})"),
            None => Ok(()),
        }
    }
}

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Code {
    /// The text is not a plan.
    UnreadablePlan,
    /// The plan has no steps and no clarification.
    NoSteps,
    /// Steps are not numbered 1, 2, 3.
    StepNumber,
    /// A step has no goal.
    MissingGoal,
    /// The action of a step cannot be parsed, or there is more than one.
    UnreadableAction,
    /// A step has no such field.
    UnknownField,
    /// Nothing in the catalog has that name.
    UnknownName,
    /// The name exists, but no discovery call of the run returned it.
    Undiscovered,
    /// No earlier step has that output, or the output has no such column.
    UnknownInput,
    /// The statement is not one SELECT that may be run.
    InvalidSql,
    /// No table of the statement has that column.
    UnknownColumn,
    /// The function is unknown or not allowed.
    UnknownFunction,
    /// The types of the values do not fit.
    TypeMismatch,
    /// The metrics cannot be computed as asked.
    InvalidMetrics,
    /// A parameter of a verified query is missing, unknown or has an invalid value.
    InvalidParameter,
    /// A required argument of an operation is missing.
    MissingArgument,
    /// An argument of an operation is unknown or has an invalid value.
    InvalidArgument,
    /// The operation has side effects, and runs are read-only.
    Writes,
    /// The step cannot be run: it only names resources, or its rows are not available.
    NotExecutable,
    /// A part of the plan could not be verified in the time that there is, or because its input is only known after a call.
    NotVerified,
    /// A cited definition is in no known source.
    UnknownDefinition,
    /// None of the values of a cited definition is in a step.
    DefinitionNotApplied,
    /// A code of another version of this program.
    #[default]
    Other,
    /// A warning of the engine about a statement.
    #[serde(untagged)]
    Query(WarningCode),
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Code {
    /// Whether another plan would not have it, rather than another catalog or more time.
    pub(crate) fn is_correctable(self) -> bool {
        !matches!(self, Code::NotExecutable | Code::NotVerified | Code::Query(WarningCode::InvalidCells))
    }

    fn of_failure(code: FailureCode) -> Code {
        match code {
            FailureCode::UnknownDatabase | FailureCode::UnknownTable => Code::UnknownName,
            FailureCode::UnknownColumn => Code::UnknownColumn,
            FailureCode::UnknownFunction => Code::UnknownFunction,
            FailureCode::TypeMismatch => Code::TypeMismatch,
            FailureCode::Unavailable => Code::NotExecutable,
            FailureCode::Timeout | FailureCode::Memory | FailureCode::TooLarge => Code::NotVerified,
            _ => Code::InvalidSql,
        }
    }
}

/// Reads a code; one of another version of this program is [`Code::Other`].
fn read_code<'de, D: Deserializer<'de>>(from: D) -> Result<Code, D::Error> {
    let code = serde_json::Value::deserialize(from)?;
    Ok(serde_json::from_value(code).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn codes_are_distinct_and_are_read_back() {
        let read = |word: &str| serde_json::from_value::<Finding>(json!({"code": word})).unwrap().code;
        for code in WarningCode::ALL {
            assert_eq!(read(code.as_str()), Code::Query(code));
        }
        for (code, word) in [(Code::NoSteps, "no_steps"), (Code::InvalidSql, "invalid_sql"), (Code::Other, "other")] {
            assert_eq!((code.to_string().as_str(), read(word)), (word, code));
        }
        assert_eq!(Code::Query(WarningCode::Ties).to_string(), "ties");
        assert_eq!(read("not_covered"), Code::Other);
    }

    #[test]
    fn a_model_is_asked_only_about_what_it_can_change() {
        for code in [Code::NotExecutable, Code::NotVerified, Code::Query(WarningCode::InvalidCells)] {
            assert!(!code.is_correctable(), "{code:?}");
        }
        for code in [Code::UnknownColumn, Code::Undiscovered, Code::Query(WarningCode::Ties)] {
            assert!(code.is_correctable(), "{code:?}");
        }
    }
}
