//! The questions of a bench: one JSON object per line, `{"id", "query", "gold": ["db.table", ...], "kind"?, "dataset"?,
//! "grades"?: {name: number}}`.

pub mod cases;

use std::{collections::BTreeMap, path::Path};

use prospector_core::Kind;
use serde::Deserialize;

use crate::{
    error::{BenchError, LineError},
    jsonl,
};

/// A question and the entries it needs. Unknown keys are ignored.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Question {
    /// Its id in its set.
    pub id: String,
    /// The text.
    pub query: String,
    /// All needed entries.
    #[serde(default)]
    pub gold: Vec<String>,
    /// The kind of the needed entries.
    pub kind: Option<Kind>,
    /// The set it belongs to, if a file contains several.
    pub dataset: Option<String>,
    /// Relevance grades by name; default 1.
    #[serde(default)]
    pub grades: BTreeMap<String, f64>,
}

impl Question {
    /// Returns the kinds to search: the requested one, otherwise that of the question, otherwise all.
    pub(crate) fn kinds(&self, asked: Option<Kind>) -> Vec<Kind> {
        asked.or(self.kind).into_iter().collect()
    }
}

/// Reads the first `limit` questions of a file; `needs_gold` requires that each lists its needed entries.
///
/// # Errors
/// If the file cannot be read, contains no questions, or contains an invalid line.
pub fn read(path: &Path, limit: Option<usize>, needs_gold: bool) -> Result<Vec<Question>, BenchError> {
    let mut questions = jsonl::read(path, "queries", |line| parse(line, needs_gold))?;
    questions.truncate(limit.unwrap_or(usize::MAX));
    Ok(questions)
}

/// Samples at most `most` questions evenly, as the first ones of a set are often about one database.
pub(crate) fn sample_evenly(questions: Vec<Question>, most: Option<usize>) -> Vec<Question> {
    let (all, most) = (questions.len(), most.unwrap_or(usize::MAX));
    if all <= most {
        return questions;
    }
    let places: std::collections::BTreeSet<usize> = (0..most).map(|at| at * all / most).collect();
    questions.into_iter().enumerate().filter(|(at, _)| places.contains(at)).map(|(_, question)| question).collect()
}

fn parse(line: &str, needs_gold: bool) -> Result<Question, LineError> {
    let question: Question = jsonl::parse(line, "query")?;
    match &question {
        Question { query, .. } if query.trim().is_empty() => Err(LineError::EmptyQuery),
        Question { gold, .. } if needs_gold && gold.is_empty() => Err(LineError::EmptyGold),
        Question { grades, .. } if grades.values().any(|grade| !grade.is_finite() || *grade < 0.0) => {
            Err(LineError::NegativeGrade)
        }
        _ => Ok(question),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_all(text: &str, needs_gold: bool) -> Result<Vec<Question>, String> {
        jsonl::lines(text)
            .map(|(line, text)| parse(text, needs_gold).map_err(|fault| format!("{line}: {fault}")))
            .collect()
    }

    fn check(text: &str, expected: Result<&[&str], &str>) {
        let found = parse_all(text, true);
        match (found, expected) {
            (Ok(questions), Ok(ids)) => {
                assert_eq!(questions.iter().map(|question| question.id.as_str()).collect::<Vec<_>>(), ids);
            }
            (Err(found), Err(expected)) => assert_eq!(found, expected),
            (found, expected) => panic!("{found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn reads_questions_and_skips_empty_lines() {
        check(
            "\u{feff}{\"id\": \"a\", \"query\": \"q\", \"gold\": [\"x\"]}\n\n  {\"id\": \"b\", \"query\": \"q\", \"gold\": [\"y\"], \"sql\": 1}\r\n",
            Ok(&["a", "b"]),
        );
        check("\n", Ok(&[]));
    }

    #[test]
    fn reports_the_number_of_an_invalid_line() {
        let good = r#"{"id": "a", "query": "q", "gold": ["x"]}"#;
        check(&format!("{good}\n\n{{\"id\": \"b\"}}"), Err("3: not a query: missing field `query` (column 11)"));
        check(&format!("{good}\nnothing"), Err("2: not a query: expected ident (column 2)"));
        check(r#"{"id": "a", "query": " ", "gold": ["x"]}"#, Err("1: `query` is empty"));
        check(r#"{"id": "a", "query": "q", "gold": []}"#, Err("1: `gold` is empty: list the entries to find"));
        check(r#"{"id": "a", "query": "q", "gold": ["x"], "grades": {"x": -1}}"#, Err("1: a grade is negative"));
        check(
            r#"{"id": "a", "query": "q", "gold": ["x"], "kind": "view"}"#,
            Err(
                "1: not a query: unknown variant `view`, expected one of `table`, `operation`, `document`, `fact`, `skill`, `metric`, `query` (column 55)",
            ),
        );
    }

    #[test]
    fn samples_questions_evenly() {
        let text: String = (0..10).map(|n| format!("{{\"id\": \"{n}\", \"query\": \"q\"}}\n")).collect();
        let check = |most: Option<usize>, expected: &[&str]| {
            let found = sample_evenly(parse_all(&text, false).unwrap(), most);
            assert_eq!(found.iter().map(|question| question.id.as_str()).collect::<Vec<_>>(), expected);
        };
        check(Some(3), &["0", "3", "6"]);
        check(Some(0), &[]);
        check(Some(99), &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    }

    #[test]
    fn the_flag_overrides_the_kind_of_the_question() {
        let question = |kind| Question { kind, ..parse(r#"{"id": "a", "query": "q"}"#, false).unwrap() };
        assert_eq!(question(Some(Kind::Skill)).kinds(Some(Kind::Table)), [Kind::Table]);
        assert_eq!(question(Some(Kind::Skill)).kinds(None), [Kind::Skill]);
        assert_eq!(question(None).kinds(None), []);
    }
}
