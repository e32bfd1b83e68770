//! Parses the file of cases: YAML, with a problem per invalid case that names its line.

use std::path::Path;

use prospector_core::Problem;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_saphyr::Spanned;

use crate::BenchError;

/// Default tolerance of numbers.
const TOLERANCE: f64 = 0.005;

/// A question with its expected result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// A short, unique name.
    #[serde(default)]
    pub name: String,
    /// The question.
    pub question: String,
    /// Whether the question is planned instead of answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plan: bool,
    /// The expected result.
    pub expect: Expected,
    /// Limits on its cost.
    #[serde(default, skip_serializing_if = "CaseLimits::is_empty")]
    pub limits: CaseLimits,
    /// The reason if it is known to fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// Its line in the file.
    #[serde(skip)]
    pub line: u64,
}

/// Expectations of an answer or plan; all must be met.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expected {
    /// Tables used, `database.table`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
    /// Operations used, `api.operation`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// Documents used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
    /// Skills used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// The verified query that provides the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<String>,
    /// A value in a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Tolerance of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Rows of one result, in this order; each of their values occurs in its row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Vec<Value>>,
    /// Number of rows of a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_count: Option<usize>,
    /// Texts that occur in the answer, ignoring case.
    #[serde(deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
    /// Whether the question is declined: nothing is found, and the status of the answer is `unanswered`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refusal: bool,
    /// Whether a clarification is requested.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clarification: bool,
}

impl Expected {
    /// Returns the tolerance of numbers.
    pub(crate) fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(TOLERANCE)
    }

    fn is_empty(&self) -> bool {
        *self == Expected { tolerance: self.tolerance, ..Expected::default() }
    }
}

/// Limits on the cost of a case.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CaseLimits {
    /// Tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u32>,
    /// Input and output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

impl CaseLimits {
    fn is_empty(&self) -> bool {
        *self == CaseLimits::default()
    }

    /// Returns these limits, with missing ones taken from the file.
    fn or(self, file: CaseLimits) -> CaseLimits {
        CaseLimits {
            calls: self.calls.or(file.calls),
            tokens: self.tokens.or(file.tokens),
            seconds: self.seconds.or(file.seconds),
        }
    }
}

fn one_or_more<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(String),
        More(Vec<String>),
    }
    Ok(match Written::deserialize(from)? {
        Written::One(text) => vec![text],
        Written::More(texts) => texts,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    limits: CaseLimits,
    cases: Vec<Spanned<Value>>,
}

/// Reads the valid cases of a file, in order. An invalid case is reported as a problem and does not affect others.
///
/// # Errors
/// [`BenchError`] if the file cannot be read, or is not valid YAML with a list `cases`.
pub fn read(path: &Path) -> Result<(Vec<Case>, Vec<Problem>), BenchError> {
    let text = std::fs::read_to_string(path).map_err(|source| BenchError::Read {
        what: "cases",
        path: path.to_owned(),
        source,
    })?;
    let file: File = serde_saphyr::from_str(&text).map_err(|error| BenchError::Cases {
        path: path.to_owned(),
        line: error.location().map_or(1, |location| location.line()),
        reason: match error.without_snippet().to_string() {
            reason if reason.starts_with("expected mapping") || text.trim().is_empty() => {
                "the file must be a mapping with a list `cases:`".to_owned()
            }
            // The place contains the line.
            reason => reason.split(" at line ").next().unwrap_or_default().to_owned(),
        },
    })?;
    let (mut cases, mut problems): (Vec<Case>, Vec<Problem>) = (Vec::new(), Vec::new());
    for case in file.cases {
        let line = case.referenced.line();
        let mut wrong = |reason: String, advice: &str| {
            problems.push(Problem::error(format!("{}:{line}", path.display()), reason).advise(advice));
        };
        match serde_json::from_value::<Case>(case.value) {
            Err(error) => wrong(format!("invalid case: {error}"), "see the chapter on tests for its fields"),
            Ok(case) if case.question.trim().is_empty() => wrong("the question is empty".into(), "set `question`"),
            Ok(case) if case.expect.is_empty() => {
                wrong("the case has no expectations".into(), "add some to `expect`, such as `value: 50`");
            }
            Ok(case) => {
                let name = match case.name.trim() {
                    "" => make_name(&case.question),
                    name => name.to_owned(),
                };
                if cases.iter().any(|known| known.name == name) {
                    wrong(format!("duplicate case `{name}`"), "use another `name`");
                } else {
                    let limits = case.limits.or(file.limits);
                    cases.push(Case { name, limits, line, ..case });
                }
            }
        }
    }
    Ok((cases, problems))
}

/// Derives a name from the first words of a question.
pub(crate) fn make_name(question: &str) -> String {
    const MAX_WORDS: usize = 12;
    let words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(MAX_WORDS);
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[&str], &str>, problem: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tests.yaml");
        std::fs::write(&path, text).unwrap();
        match (read(&path), expected) {
            (Ok((cases, problems)), Ok(names)) => {
                let found: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
                assert_eq!(found, names);
                let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
                assert_eq!(messages.is_empty(), problem.is_empty(), "{messages:?}");
                assert!(messages.join("\n").contains(problem), "{messages:?}");
            }
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (got, _) => panic!("{got:?}"),
        }
    }

    #[test]
    fn isolates_invalid_cases() {
        let good = "cases:\n- question: How many?\n  expect: {value: 1}\n";
        check(good, Ok(&["how-many"]), "");
        check(
            &format!("{good}- question: x\n  expect: {{}}\n"),
            Ok(&["how-many"]),
            "tests.yaml:4: the case has no expectations",
        );
        check(&format!("{good}- question: x\n  expects: {{value: 2}}\n"), Ok(&["how-many"]), "unknown field `expects`");
        check(&format!("{good}- question: How many?\n  expect: {{value: 2}}\n"), Ok(&["how-many"]), "duplicate case");
        check("cases: 1\n", Err("tests.yaml:1"), "");
        check("questions: []\n", Err("questions"), "");
    }

    #[test]
    fn file_limits_are_defaults_of_cases() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tests.yaml");
        let text =
            "limits: {calls: 9, seconds: 5}\ncases:\n- question: a\n  expect: {refusal: true}\n  limits: {calls: 2}\n";
        std::fs::write(&path, text).unwrap();
        let limits = read(&path).unwrap().0[0].limits;
        assert_eq!((limits.calls, limits.seconds, limits.tokens), (Some(2), Some(5.0), None));
    }
}
