//! Questions with known results: each is answered, and the rows cited by the answer are compared with those of the
//! reference SQL.
//!
//! An answer is correct if the columns of the expected rows are among those of a cited query, with the same values in
//! the same rows, in any order of columns and rows. The text of an answer is not judged.

use std::path::Path;

use prospector_agent::{
    Planner,
    ask::{Answered, DataQuestion},
    session::Session,
};
use prospector_engine::Engine;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::MAX_ROWS;
use crate::{error::BenchError, jsonl};

/// Relative tolerance of numbers.
const MAX_DIFFERENCE: f64 = 1e-6;

/// A question with its reference SQL. Unknown keys are ignored.
#[derive(Debug, Clone, Deserialize)]
pub struct Question {
    id: String,
    #[serde(alias = "query")]
    question: String,
    sql: String,
    #[serde(default, alias = "db")]
    database: Option<String>,
}

/// The verdict on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Right,
    /// It offers choices, one of which yields the expected rows.
    Offered,
    /// It cites other rows.
    Wrong,
    /// It cites no rows.
    Declined,
}

/// One line of the output file.
#[derive(Debug, Serialize)]
struct AnswerLine<'a> {
    id: &'a str,
    question: &'a str,
    verdict: Verdict,
    answer: &'a str,
    /// Whether every claim was traced to data.
    traced: bool,
    sql: Vec<&'a str>,
}

/// The number of correct answers.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    questions: usize,
    right: usize,
    /// Correct after selecting one of the offered choices.
    offered: usize,
    wrong: usize,
    declined: usize,
    left_out: usize,
    /// Wrong answers that were traced, i.e. undetected errors.
    wrong_and_traced: usize,
    input_tokens: u64,
    output_tokens: u64,
}

impl Report {
    /// Renders the report as a sentence.
    pub fn table(&self) -> String {
        format!(
            "{} questions: {} right, {} by a choice, {} wrong ({} of them traced), {} declined, {} skipped, because their SQL fails; \
             {} tokens in, {} out",
            self.questions,
            self.right,
            self.offered,
            self.wrong,
            self.wrong_and_traced,
            self.declined,
            self.left_out,
            self.input_tokens,
            self.output_tokens
        )
    }
}

/// Reads the questions of a file.
///
/// # Errors
/// If the file cannot be read, contains no questions, or contains an invalid line.
pub fn read(path: &Path) -> Result<Vec<Question>, BenchError> {
    jsonl::read(path, "questions", |line| jsonl::parse(line, "question"))
}

/// Asks the questions, each in a separate conversation. The returned text contains one line per answer.
///
/// # Errors
/// If an answer cannot be serialized.
pub async fn measure(
    planner: &Planner,
    engine: &Engine,
    questions: &[Question],
) -> Result<(Report, String), BenchError> {
    let (mut report, mut text) = (Report { questions: questions.len(), ..Report::default() }, String::new());
    for question in questions {
        let Ok(known) = engine.run(&question.sql, question.database.as_deref(), MAX_ROWS).await else {
            report.left_out += 1;
            continue;
        };
        let known = &known.rows.rows;
        let outcome = planner.ask(&mut Session::unkept(), question.question.as_str()).await;
        let answered = &outcome.answered;
        let cited = list_cited(answered);
        let traced = answered.tracing.ok;
        let verdict = match cited.as_slice() {
            [] if is_offered(planner, &question.question, &answered.answer, known).await => Verdict::Offered,
            [] => Verdict::Declined,
            cited if are_right(cited, known) => Verdict::Right,
            _ => Verdict::Wrong,
        };
        match verdict {
            Verdict::Right => report.right += 1,
            Verdict::Offered => report.offered += 1,
            Verdict::Wrong => {
                report.wrong += 1;
                report.wrong_and_traced += usize::from(traced);
            }
            Verdict::Declined => report.declined += 1,
        }
        report.input_tokens += answered.metrics.input_tokens;
        report.output_tokens += answered.metrics.output_tokens;
        text += &serde_json::to_string(&AnswerLine {
            id: &question.id,
            question: &question.question,
            verdict,
            answer: &answered.answer,
            traced,
            sql: cited.iter().map(|ran| ran.sql.as_str()).collect(),
        })?;
        text.push('\n');
    }
    Ok((report, text))
}

/// Returns the queries that an answer cites.
fn list_cited(answered: &Answered) -> Vec<&DataQuestion> {
    let is_cited = |ran: &&DataQuestion| {
        ran.error.is_none() && !ran.columns.is_empty() && answered.answer.contains(&format!("[{}", ran.id))
    };
    answered.questions.iter().filter(is_cited).collect()
}

fn are_right(cited: &[&DataQuestion], known: &[Vec<Value>]) -> bool {
    cited.iter().any(|ran| holds(&ran.rows, ran.has_more, known))
}

/// Returns whether one of the choices of an answer, which are numbered lines, yields the expected rows.
async fn is_offered(planner: &Planner, question: &str, answer: &str, known: &[Vec<Value>]) -> bool {
    for number in (1..).take_while(|number| answer.contains(&format!("\n{number}. "))) {
        let mut session = Session::unkept();
        planner.ask(&mut session, question).await;
        let outcome = planner.ask(&mut session, number.to_string().as_str()).await;
        if are_right(&list_cited(&outcome.answered), known) {
            return true;
        }
    }
    false
}

/// Returns whether these are the expected rows. If the result was truncated, the expected rows are truncated likewise,
/// if they are in its order.
fn holds(rows: &[Vec<Value>], has_more: bool, known: &[Vec<Value>]) -> bool {
    let known = if has_more { known.get(..rows.len()).unwrap_or_default() } else { known };
    let width = known.first().map_or(0, Vec::len);
    rows.len() == known.len() && project(rows, known, width).is_some_and(|rows| is_among(&rows, known))
}

/// Returns the columns with the values of the expected ones, in their order; `None` if one is missing.
fn project(rows: &[Vec<Value>], known: &[Vec<Value>], width: usize) -> Option<Vec<Vec<Value>>> {
    let column = |rows: &[Vec<Value>], at: usize| -> Vec<String> {
        let mut values: Vec<String> = rows.iter().map(|row| row.get(at).map_or_else(String::new, spell)).collect();
        values.sort();
        values
    };
    let mut free: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).collect();
    let mut places = Vec::new();
    for at in 0..width {
        let wanted = column(known, at);
        let found = free.iter().position(|place| column(rows, *place) == wanted)?;
        places.push(free.remove(found));
    }
    Some(rows.iter().map(|row| places.iter().map(|at| row[*at].clone()).collect()).collect())
}

/// Returns whether each row is one of the expected rows, with at most the same multiplicity.
fn is_among(rows: &[Vec<Value>], known: &[Vec<Value>]) -> bool {
    let spelled = |row: &Vec<Value>| row.iter().map(spell).collect::<Vec<_>>();
    let mut left: Vec<Vec<String>> = known.iter().map(spelled).collect();
    left.sort();
    rows.iter().map(spelled).all(|row| match left.binary_search(&row) {
        Ok(at) => {
            left.remove(at);
            true
        }
        Err(_) => false,
    })
}

/// Normalises a value for comparison: numbers, and texts that are numbers, are rounded.
fn spell(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => {
            let digits = (-MAX_DIFFERENCE.log10()) as usize;
            format!("{number:.digits$e}")
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rows(value: Value) -> Vec<Vec<Value>> {
        serde_json::from_value(value).unwrap_or_default()
    }

    fn check(given: Value, has_more: bool, known: Value, expected: bool) {
        assert_eq!(holds(&rows(given.clone()), has_more, &rows(known.clone())), expected, "{given} for {known}");
    }

    #[test]
    fn compares_rows_by_value() {
        let known = || json!([["PT", 9.5], ["ES", 12]]);
        check(json!([[12.0, "ES"], [9.5, "PT"]]), false, known(), true);
        check(json!([["ES", "12.0", "x"], ["PT", 9.500000001, "y"]]), false, known(), true);
        check(json!([["ES", 9.5], ["PT", 12]]), false, known(), false);
        check(json!([["ES", 12]]), false, known(), false);
        check(json!([["ES", 12], ["ES", 12]]), false, known(), false);
        check(json!([["ES"], ["PT"]]), false, known(), false);
        check(json!([["PT", 9.5]]), true, known(), true);
        check(json!([["ES", 12]]), true, known(), false);
        check(json!([]), false, json!([]), true);
        check(json!([[1]]), false, json!([]), false);
    }
}
