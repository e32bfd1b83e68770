//! Questions whose rows are known: each is answered, and the rows that the answer cites are compared with those of the SQL
//! beside the question.
//!
//! Right means that the columns of the known rows are among those that a cited query gave, with the same values in the same
//! rows, in any order of either. What an answer says in words is not judged.

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
use crate::{
    error::{BenchError, LineError},
    jsonl,
};

/// Numbers that differ by less, in proportion, are the same.
const MAX_DIFFERENCE: f64 = 1e-6;

/// A question and the SQL that answers it. Other keys are passed over.
#[derive(Debug, Clone, Deserialize)]
pub struct Question {
    id: String,
    #[serde(alias = "query")]
    question: String,
    sql: String,
    #[serde(default, alias = "db")]
    database: Option<String>,
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Right,
    /// It offers choices, and one of them gives the known rows.
    Offered,
    /// It cites rows, and they are others.
    Wrong,
    /// It cites no rows.
    Declined,
}

/// One line of the file that is written.
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

/// How many answers were right.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    questions: usize,
    right: usize,
    /// Right after one of the choices that were offered was taken.
    offered: usize,
    wrong: usize,
    declined: usize,
    left_out: usize,
    /// Wrong ones that were traced all the same: the errors that nobody notices.
    wrong_and_traced: usize,
    input_tokens: u64,
    output_tokens: u64,
}

impl Report {
    /// The report as a sentence.
    pub fn table(&self) -> String {
        format!(
            "{} questions: {} right, {} by a choice, {} wrong ({} of them traced), {} declined, {} left out, as their SQL does not run; \
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

/// The questions of a file.
///
/// # Errors
/// When the file cannot be read or holds no questions, and for its first line that is none.
pub fn read(path: &Path) -> Result<Vec<Question>, BenchError> {
    jsonl::read(path, "questions", |line| {
        serde_json::from_str(line).map_err(|source| LineError::Shape { what: "question", source })
    })
}

/// Asks the questions, each in a conversation of its own. Each answer is a line of the text beside the report.
///
/// # Errors
/// When an answer cannot be written as JSON.
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

/// The queries that an answer cites.
fn list_cited(answered: &Answered) -> Vec<&DataQuestion> {
    let is_cited = |ran: &&DataQuestion| {
        ran.error.is_none() && !ran.columns.is_empty() && answered.answer.contains(&format!("[{}", ran.id))
    };
    answered.questions.iter().filter(is_cited).collect()
}

fn are_right(cited: &[&DataQuestion], known: &[Vec<Value>]) -> bool {
    cited.iter().any(|ran| holds(&ran.rows, ran.has_more, known))
}

/// Whether one of the choices of an answer, which are numbered lines, gives the known rows.
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

/// Whether these are the known rows. Of an answer that was cut, the known ones are cut to as many, if they are in its order.
fn holds(rows: &[Vec<Value>], has_more: bool, known: &[Vec<Value>]) -> bool {
    let known = if has_more { known.get(..rows.len()).unwrap_or_default() } else { known };
    let width = known.first().map_or(0, Vec::len);
    rows.len() == known.len() && project(rows, known, width).is_some_and(|rows| is_among(&rows, known))
}

/// The columns of the rows that have the values of the known ones, in the order of those; none where one is missing.
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

/// Whether each row is one of the known ones, and none twice where it is known once.
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

/// A value as it is compared: a number, or a text that is one, to so many digits.
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
    fn rows_are_compared_by_their_values() {
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
