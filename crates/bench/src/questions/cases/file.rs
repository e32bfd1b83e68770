//! The file of the cases: YAML to plain data, each wrong case a problem with its line.

use std::path::Path;

use prospector_core::Problem;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_saphyr::Spanned;

use crate::BenchError;

/// How far a number may be from what is expected, where the case does not say.
const TOLERANCE: f64 = 0.005;

/// The questions of a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cases {
    /// Those that could be read, in their order.
    pub cases: Vec<Case>,
}

/// A question, and what is expected.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// A short name, which no other case has.
    #[serde(default)]
    pub name: String,
    /// What is asked.
    pub question: String,
    /// Whether the question is planned, and the plan is judged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plan: bool,
    /// What must hold.
    pub expect: Expected,
    /// What it may cost.
    #[serde(default, skip_serializing_if = "CaseLimits::is_empty")]
    pub limits: CaseLimits,
    /// Why it is known to fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// Its line in the file.
    #[serde(skip)]
    pub line: u64,
}

/// What must hold of an answer or a plan; all of what is given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Expected {
    /// Tables that are used, `database.table`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
    /// Operations that are used, `api.operation`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// Documents that are used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
    /// Skills that are used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// The verified query that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<String>,
    /// A value of a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// How far a number may be from what is expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Rows of one result, in this order; each of their values stands somewhere in its row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Vec<Value>>,
    /// How many rows one result has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_count: Option<usize>,
    /// Words that stand in the answer, whatever their case.
    #[serde(deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
    /// Whether the answer says that it cannot be told, and gives nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refusal: bool,
    /// Whether the user is asked back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clarification: bool,
}

impl Expected {
    /// How far a number may be from what is expected.
    pub(crate) fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(TOLERANCE)
    }

    fn is_empty(&self) -> bool {
        *self == Expected { tolerance: self.tolerance, ..Expected::default() }
    }
}

/// What a case may cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CaseLimits {
    /// Calls of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u32>,
    /// Tokens that go to the model and come from it.
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

    /// These, and those of the file where there are none.
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

/// Reads the cases of a file. What is wrong with one is among the problems, and costs no other.
///
/// # Errors
/// [`BenchError`] when the file cannot be read, or is no YAML with a list `cases`.
pub fn read(path: &Path) -> Result<(Cases, Vec<Problem>), BenchError> {
    let text = std::fs::read_to_string(path).map_err(|source| BenchError::Read {
        what: "cases",
        path: path.to_owned(),
        source,
    })?;
    let file: File = serde_saphyr::from_str(&text).map_err(|error| BenchError::Cases {
        path: path.to_owned(),
        line: error.location().map_or(1, |location| location.line()),
        reason: match error.without_snippet().to_string() {
            reason if reason.starts_with("expected mapping") => {
                "the file has to be a mapping with a list `cases:`".to_owned()
            }
            reason => reason,
        },
    })?;
    let (mut cases, mut problems): (Vec<Case>, Vec<Problem>) = (Vec::new(), Vec::new());
    for case in file.cases {
        let line = case.referenced.line();
        let mut wrong = |reason: String, advice: &str| {
            problems.push(Problem::error(format!("{}:{line}", path.display()), reason).advise(advice));
        };
        match serde_json::from_value::<Case>(case.value) {
            Err(error) => wrong(format!("the case cannot be read: {error}"), "see the chapter on tests for its fields"),
            Ok(case) if case.question.trim().is_empty() => wrong("the question is empty".into(), "say what is asked"),
            Ok(case) if case.expect.is_empty() => {
                wrong("nothing is expected, so it cannot fail".into(), "say what must hold, such as `value: 50`");
            }
            Ok(case) => {
                let name = match case.name.trim() {
                    "" => make_name(&case.question),
                    name => name.to_owned(),
                };
                if cases.iter().any(|known| known.name == name) {
                    wrong(format!("there is a case `{name}` already"), "give it another `name`");
                } else {
                    let limits = case.limits.or(file.limits);
                    cases.push(Case { name, limits, line, ..case });
                }
            }
        }
    }
    Ok((Cases { cases }, problems))
}

/// A name made of a question: its first words.
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
                let found: Vec<&str> = cases.cases.iter().map(|case| case.name.as_str()).collect();
                assert_eq!(found, names);
                let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
                assert_eq!(told.is_empty(), problem.is_empty(), "{told:?}");
                assert!(told.join("\n").contains(problem), "{told:?}");
            }
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (got, _) => panic!("{got:?}"),
        }
    }

    #[test]
    fn a_wrong_case_costs_no_other() {
        let good = "cases:\n- question: How many?\n  expect: {value: 1}\n";
        check(good, Ok(&["how-many"]), "");
        check(
            &format!("{good}- question: x\n  expect: {{}}\n"),
            Ok(&["how-many"]),
            "tests.yaml:4: nothing is expected",
        );
        check(&format!("{good}- question: x\n  expects: {{value: 2}}\n"), Ok(&["how-many"]), "unknown field `expects`");
        check(&format!("{good}- question: How many?\n  expect: {{value: 2}}\n"), Ok(&["how-many"]), "already");
        check("cases: 1\n", Err("tests.yaml:1"), "");
        check("questions: []\n", Err("questions"), "");
    }

    #[test]
    fn limits_of_the_file_hold_where_a_case_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tests.yaml");
        let text =
            "limits: {calls: 9, seconds: 5}\ncases:\n- question: a\n  expect: {refusal: true}\n  limits: {calls: 2}\n";
        std::fs::write(&path, text).unwrap();
        let limits = read(&path).unwrap().0.cases[0].limits;
        assert_eq!((limits.calls, limits.seconds, limits.tokens), (Some(2), Some(5.0), None));
    }
}
