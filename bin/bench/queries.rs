//! The questions of a bench: one JSON object a line,
//! `{"id", "query", "gold": ["db.table", ...], "kind"?, "dataset"?, "grades"?: {name: number}}`.

use std::{collections::BTreeMap, path::Path};

use anyhow::Context as _;
use prospector_core::Kind;
use serde::{Deserialize, Serialize};

/// One question and what it needs. Other keys are passed over: a set may say more than is asked here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Question {
    /// What it is called in its set.
    pub(crate) id: String,
    /// The question itself.
    pub(crate) query: String,
    /// Every thing that is needed, all of them.
    #[serde(default)]
    pub(crate) gold: Vec<String>,
    /// The kind of what is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<Kind>,
    /// The set that it comes from, where a file holds several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dataset: Option<String>,
    /// How much each thing is worth, where that is known; 1 for what is not named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) grades: BTreeMap<String, f64>,
}

impl Question {
    /// The kinds to search: the one that was asked for, the question's own, or all.
    pub(crate) fn kinds(&self, asked: Option<Kind>) -> Vec<Kind> {
        asked.or(self.kind).into_iter().collect()
    }
}

/// Reads the questions of a file, the first `limit` of them; `needs_gold` says whether each must name what it needs.
pub(crate) fn read(path: &Path, limit: Option<usize>, needs_gold: bool) -> anyhow::Result<Vec<Question>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the queries {}", path.display()))?;
    let mut questions =
        parse(&text, needs_gold).map_err(|(line, reason)| anyhow::anyhow!("{}:{line}: {reason}", path.display()))?;
    anyhow::ensure!(!questions.is_empty(), "{} holds no queries", path.display());
    questions.truncate(limit.unwrap_or(usize::MAX));
    Ok(questions)
}

/// At most so many of them, evenly spread: the first ones of a set are often about one database.
pub(crate) fn spread(questions: Vec<Question>, most: Option<usize>) -> Vec<Question> {
    let (all, most) = (questions.len(), most.unwrap_or(usize::MAX));
    if all <= most {
        return questions;
    }
    let places: std::collections::BTreeSet<usize> = (0..most).map(|at| at * all / most).collect();
    questions.into_iter().enumerate().filter(|(at, _)| places.contains(at)).map(|(_, question)| question).collect()
}

/// The questions, or the first bad line and what is wrong with it.
fn parse(text: &str, needs_gold: bool) -> Result<Vec<Question>, (usize, String)> {
    lines(text)
        .map(|(line, text)| {
            let question: Question =
                serde_json::from_str(text).map_err(|error| (line, format!("not a query: {}", reason(&error))))?;
            let reason = match &question {
                Question { query, .. } if query.trim().is_empty() => "`query` is empty",
                Question { gold, .. } if needs_gold && gold.is_empty() => "`gold` is empty: there is nothing to find",
                Question { grades, .. } if grades.values().any(|grade| !grade.is_finite() || *grade < 0.0) => {
                    "a grade is negative"
                }
                _ => return Ok(question),
            };
            Err((line, reason.to_owned()))
        })
        .collect()
}

/// The lines of a JSONL text that hold something, with their numbers.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())).filter(|(_, line)| !line.is_empty())
}

/// What a JSON error says, without its "line 1": every line is a text of its own.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or(text.clone(), |reason| format!("{reason} (column {})", error.column()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[&str], &str>) {
        let found = parse(text, true).map_err(|(line, reason)| format!("{line}: {reason}"));
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
                "1: not a query: unknown variant `view`, expected one of `table`, `operation`, `document`, `fact`, `skill` (column 55)",
            ),
        );
    }

    #[test]
    fn a_part_of_the_questions_is_spread_over_all() {
        let text: String = (0..10).map(|n| format!("{{\"id\": \"{n}\", \"query\": \"q\"}}\n")).collect();
        let check = |most: Option<usize>, expected: &[&str]| {
            let found = spread(parse(&text, false).unwrap(), most);
            assert_eq!(found.iter().map(|question| question.id.as_str()).collect::<Vec<_>>(), expected);
        };
        check(Some(3), &["0", "3", "6"]);
        check(Some(0), &[]);
        check(Some(99), &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    }

    #[test]
    fn the_flag_goes_before_the_kind_of_the_question() {
        let question = |kind| Question { kind, ..parse(r#"{"id": "a", "query": "q"}"#, false).unwrap().remove(0) };
        assert_eq!(question(Some(Kind::Skill)).kinds(Some(Kind::Table)), [Kind::Table]);
        assert_eq!(question(Some(Kind::Skill)).kinds(None), [Kind::Skill]);
        assert_eq!(question(None).kinds(None), []);
    }
}
