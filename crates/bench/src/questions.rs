//! The questions of a bench: one JSON object a line,
//! `{"id", "query", "gold": ["db.table", ...], "kind"?, "dataset"?, "grades"?: {name: number}}`.

pub mod cases;

use std::{collections::BTreeMap, path::Path};

use prospector_core::Kind;
use serde::{Deserialize, Serialize};

use crate::{
    error::{BenchError, LineError},
    jsonl,
};

/// One question and what it needs. Other keys are passed over: a set may say more than is asked here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// What it is called in its set.
    pub id: String,
    /// The question itself.
    pub query: String,
    /// Every thing that is needed, all of them.
    #[serde(default)]
    pub gold: Vec<String>,
    /// The kind of what is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The set that it comes from, where a file holds several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// How much each thing is worth, where that is known; 1 for what is not named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grades: BTreeMap<String, f64>,
}

impl Question {
    /// The kinds to search: the one that was asked for, the question's own, or all.
    pub(crate) fn kinds(&self, asked: Option<Kind>) -> Vec<Kind> {
        asked.or(self.kind).into_iter().collect()
    }
}

/// Reads the questions of a file, the first `limit` of them; `needs_gold` says whether each must name what it needs.
///
/// # Errors
/// When the file cannot be read or holds no questions, and for its first line that is none.
pub fn read(path: &Path, limit: Option<usize>, needs_gold: bool) -> Result<Vec<Question>, BenchError> {
    let mut questions = jsonl::read(path, "queries", |line| parse(line, needs_gold))?;
    questions.truncate(limit.unwrap_or(usize::MAX));
    Ok(questions)
}

/// At most `most` of the questions, evenly spread: the first ones of a set are often about one database.
pub(crate) fn sample_evenly(questions: Vec<Question>, most: Option<usize>) -> Vec<Question> {
    let (all, most) = (questions.len(), most.unwrap_or(usize::MAX));
    if all <= most {
        return questions;
    }
    let places: std::collections::BTreeSet<usize> = (0..most).map(|at| at * all / most).collect();
    questions.into_iter().enumerate().filter(|(at, _)| places.contains(at)).map(|(_, question)| question).collect()
}

fn parse(line: &str, needs_gold: bool) -> Result<Question, LineError> {
    let question: Question = serde_json::from_str(line).map_err(|source| LineError::Shape { what: "query", source })?;
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
    fn every_line_is_a_question_and_empty_ones_are_passed_over() {
        check(
            "\u{feff}{\"id\": \"a\", \"query\": \"q\", \"gold\": [\"x\"]}\n\n  {\"id\": \"b\", \"query\": \"q\", \"gold\": [\"y\"], \"sql\": 1}\r\n",
            Ok(&["a", "b"]),
        );
        check("\n", Ok(&[]));
    }

    #[test]
    fn a_bad_line_is_told_with_its_number() {
        let good = r#"{"id": "a", "query": "q", "gold": ["x"]}"#;
        check(&format!("{good}\n\n{{\"id\": \"b\"}}"), Err("3: not a query: missing field `query` (column 11)"));
        check(&format!("{good}\nnothing"), Err("2: not a query: expected ident (column 2)"));
        check(r#"{"id": "a", "query": " ", "gold": ["x"]}"#, Err("1: `query` is empty"));
        check(r#"{"id": "a", "query": "q", "gold": []}"#, Err("1: `gold` is empty: there is nothing to find"));
        check(r#"{"id": "a", "query": "q", "gold": ["x"], "grades": {"x": -1}}"#, Err("1: a grade is negative"));
        check(
            r#"{"id": "a", "query": "q", "gold": ["x"], "kind": "view"}"#,
            Err(
                "1: not a query: unknown variant `view`, expected one of `table`, `operation`, `document`, `fact`, `skill`, `metric`, `query` (column 55)",
            ),
        );
    }

    #[test]
    fn a_part_of_the_questions_is_spread_over_all() {
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
    fn the_flag_goes_before_the_kind_of_the_question() {
        let question = |kind| Question { kind, ..parse(r#"{"id": "a", "query": "q"}"#, false).unwrap() };
        assert_eq!(question(Some(Kind::Skill)).kinds(Some(Kind::Table)), [Kind::Table]);
        assert_eq!(question(Some(Kind::Skill)).kinds(None), [Kind::Skill]);
        assert_eq!(question(None).kinds(None), []);
    }
}
