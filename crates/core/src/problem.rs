//! Broken input as data: loaders return `(T, Vec<Problem>)`, so that one bad file never costs the rest.

use serde::{Deserialize, Serialize};

/// How bad a [`Problem`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It was loaded, but something about it is off.
    Warning,
    /// It was left out.
    Error,
}

/// Something in the input that could not be used, or not fully.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Whether the thing was left out or only partly used.
    pub severity: Severity,
    /// Where: a path, `path:line`, or `path: place inside`.
    pub place: String,
    /// What is wrong, in one sentence.
    pub reason: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Problem {
    /// Something that was left out.
    pub fn error(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Problem { severity: Severity::Error, place: place.into(), reason: reason.into(), advice: None }
    }

    /// Something that was loaded all the same.
    pub fn warning(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Problem { severity: Severity::Warning, place: place.into(), reason: reason.into(), advice: None }
    }

    /// Adds what to do about it.
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{severity}: {}: {}", self.place, self.reason)?;
        match &self.advice {
            Some(advice) => write!(f, " ({advice})"),
            None => Ok(()),
        }
    }
}
