//! Broken input as data: loaders return `(T, Vec<Problem>)`, so that one bad file never costs the rest.

mod causes;
mod conceal;

use serde::{Deserialize, Serialize};

pub use causes::causes;
pub use conceal::conceal;

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
        Problem::new(Severity::Error, place.into(), reason.into())
    }

    /// Something that was loaded all the same.
    pub fn warning(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Problem::new(Severity::Warning, place.into(), reason.into())
    }

    /// Whatever it quotes is shown without the secrets of URLs, see [`conceal`].
    fn new(severity: Severity, place: String, reason: String) -> Self {
        let (place, reason) = (conceal(&place).into_owned(), conceal(&reason).into_owned());
        Problem { severity, place, reason, advice: None }
    }

    /// Adds what to do about it.
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(conceal(&advice.into()).into_owned());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_tells_no_secret_of_a_url() {
        let url = "postgres://me:s3cret@db/crm?key=s3cret";
        let problem = Problem::error(url, format!("there is no file {url}")).advise(format!("not `{url}`"));
        let text = format!("{problem} {}", Problem::warning(url, url));
        assert!(!text.contains("s3cret") && text.contains("postgres://me:***@db/crm?…"), "{text}");
    }
}
