//! Invalid input as data: loaders return `(T, Vec<Problem>)`, so that one bad file does not affect others.

mod causes;
mod conceal;

use serde::{Deserialize, Serialize};

use crate::named_enum;

pub use causes::causes;
pub use conceal::conceal;

named_enum! {
    /// The severity of a [`Problem`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Severity {
        /// The input was loaded, with a reservation.
        Warning = "warning",
        /// The input was skipped.
        Error = "error",
    }
}

/// Input that could not be used, or only partially.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Whether the input was skipped or partially used.
    pub severity: Severity,
    /// The location: a path, `path:line`, or `path: place inside`.
    pub place: String,
    /// What is wrong, in one sentence.
    pub reason: String,
    /// How to fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Problem {
    /// Creates a problem for skipped input.
    pub fn error(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Problem::new(Severity::Error, place.into(), reason.into())
    }

    /// Creates a problem for input that was loaded nevertheless.
    pub fn warning(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Problem::new(Severity::Warning, place.into(), reason.into())
    }

    /// Secrets in quoted URLs are redacted: see [`conceal`].
    fn new(severity: Severity, place: String, reason: String) -> Self {
        let (place, reason) = (conceal(&place).into_owned(), conceal(&reason).into_owned());
        Problem { severity, place, reason, advice: None }
    }

    /// Adds how to fix it.
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(conceal(&advice.into()).into_owned());
        self
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {}", self.severity, self.place, self.reason)?;
        match &self.advice {
            Some(advice) => write!(f, " ({advice})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redacts_secrets_of_urls() {
        let url = "postgres://me:s3cret@db/crm?key=s3cret";
        let problem = Problem::error(url, format!("there is no file {url}")).advise(format!("not `{url}`"));
        let text = format!("{problem} {}", Problem::warning(url, url));
        assert!(!text.contains("s3cret") && text.contains("postgres://me:***@db/crm?…"), "{text}");
    }
}
