//! Questions over the sample catalog with hand-written SQL (`answers/questions.yaml`): each is answered with the same values or declined,
//! never with a wrong number.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fs, path::Path, sync::Arc};

use futures::{StreamExt, stream};
use prospector_agent::{
    Planner,
    ask::{Answered, Classification},
    session::Session,
};
use prospector_discovery::{Catalog, CatalogOptions};
use prospector_offline::Offline;
use prospector_search::{StaticTable, embed::Embedder};
use serde::Deserialize;
use serde_json::Value;

/// Wordings of one question, with the expected answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    ask: Vec<String>,
    #[serde(default)]
    sql: Vec<String>,
    says: Option<String>,
}

/// Number of decimals of a rounded value.
const MAX_PLACES: i32 = 4;

/// The start of an answer that offers choices.
const CHOICES: &str = "Clarification: which of these is meant?";

/// Maximum number of concurrent questions.
const AT_ONCE: usize = 4;

/// Minimum number of questions, of correct answers, and of correct answers including those after one choice. They may only be raised.
const MIN_QUESTIONS: usize = 195;
const MIN_RIGHT: usize = 98;
const MIN_RIGHT_BY_CHOICE: usize = 112;

/// Maximum share of wrong answers.
const MAX_WRONG: f64 = 0.02;

/// The outcome of a question.
#[derive(Debug)]
enum Outcome {
    Right,
    /// The choice with this number is correct.
    Chosen(usize),
    Declined,
    Wrong(String),
}

type Rows = Vec<Vec<Value>>;

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_correct_or_declined() {
    let (count, right, chosen) = ask_all(1).await;
    assert!(count >= MIN_QUESTIONS && right >= MIN_RIGHT, "{right} of {count}");
    assert!(right + chosen >= MIN_RIGHT_BY_CHOICE, "{right} and {chosen} by a choice of {count}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes"]
async fn all_wordings_are_answered_correctly_or_declined() {
    ask_all(usize::MAX).await;
}

/// Asks at most `wordings` wordings of each question. Returns the number of questions, of correct answers, and of correct answers after a
/// choice.
async fn ask_all(wordings: usize) -> (usize, usize, usize) {
    let groups: Vec<Group> = {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers/questions.yaml");
        serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    };
    let state = tempfile::tempdir().unwrap();
    let catalog = open(state.path()).await;
    let planner = Planner::new(catalog.clone(), Arc::new(Offline));
    let engine = catalog.engine();
    let mut asked = Vec::new();
    for group in &groups {
        let mut readings: Vec<Rows> = Vec::new();
        for sql in &group.sql {
            let ran = engine.run(sql, None, 1_000).await.unwrap_or_else(|failure| panic!("{sql}: {failure}"));
            assert!(!ran.rows.rows.is_empty(), "{sql} gives nothing");
            readings.push(ran.rows.rows);
        }
        let readings = Arc::new(readings);
        asked.extend(
            group.ask.iter().take(wordings).map(|question| (question, readings.clone(), group.says.as_deref())),
        );
    }
    let count = asked.len();
    let judged = stream::iter(asked).map(async |(question, readings, says)| {
        let mut session = Session::unkept();
        let answered = planner.ask(&mut session, question.as_str()).await.answered;
        let mut outcome = judge(&answered, &readings, says);
        // One of the choices may be correct.
        if answered.answer.starts_with(CHOICES) {
            for number in 1..=3 {
                let mut session = Session::unkept();
                planner.ask(&mut session, question.as_str()).await;
                let chosen = planner.ask(&mut session, number.to_string().as_str()).await.answered;
                if matches!(judge(&chosen, &readings, says), Outcome::Right) {
                    outcome = Outcome::Chosen(number);
                    break;
                }
            }
        }
        (question, outcome, answered)
    });
    let judged: Vec<_> = judged.buffered(AT_ONCE).collect().await;
    let (mut right, mut chosen, mut wrong) = (0, 0, Vec::new());
    for (question, outcome, answered) in &judged {
        let first = answered.answer.lines().next().unwrap_or_default();
        match outcome {
            Outcome::Right => right += 1,
            Outcome::Chosen(number) => {
                chosen += 1;
                println!("choice {number}: {question}");
            }
            Outcome::Declined => println!("declined: {question}\n    {first}"),
            Outcome::Wrong(why) => wrong.push(format!("{question}\n    {why}\n    {first}")),
        }
    }
    println!("{right} of {count} questions answered correctly, {chosen} after a choice, {} incorrectly", wrong.len());
    println!("{}", wrong.join("\n"));
    assert!(wrong.len() as f64 <= MAX_WRONG * count as f64, "{} wrong answers of {count}", wrong.len());
    (count, right, chosen)
}

async fn open(state: &Path) -> Arc<Catalog> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/catalog.yaml");
    let embedder: Arc<dyn Embedder> = Arc::new(StaticTable::shipped().unwrap());
    let options =
        CatalogOptions { state: Some(state.to_owned()), embedder: Some(embedder), ..CatalogOptions::default() };
    Arc::new(Catalog::open(&file, options).await.unwrap().0)
}

fn judge(answered: &Answered, readings: &[Rows], says: Option<&str>) -> Outcome {
    let results: Vec<&Rows> =
        answered.questions.iter().filter(|one| one.error.is_none()).map(|one| &one.rows).collect();
    if let Some(says) = says {
        let holds = answered.answer.contains(says);
        return match (holds, answered.classification) {
            (true, _) => Outcome::Right,
            (false, Classification::Data | Classification::Mixed) => Outcome::Wrong("data for a definition".to_owned()),
            (false, _) if is_declined(answered) => Outcome::Declined,
            (false, _) => Outcome::Wrong(format!("it does not say `{says}`")),
        };
    }
    let Some(last) = results.last() else {
        return if is_declined(answered) {
            Outcome::Declined
        } else {
            Outcome::Wrong("it does not decline".to_owned())
        };
    };
    if !answered.tracing.ok {
        return Outcome::Wrong("it is not traced".to_owned());
    }
    if readings.iter().any(|reading| is_same(last, reading)) {
        return Outcome::Right;
    }
    // An empty result contains no number.
    if last.is_empty() || last.iter().flatten().all(Value::is_null) {
        return Outcome::Declined;
    }
    Outcome::Wrong(format!("{last:?} instead of {readings:?}"))
}

fn is_declined(answered: &Answered) -> bool {
    let says_so = ["I cannot answer this:", "Clarification:"].iter().any(|start| answered.answer.starts_with(start));
    says_so && answered.questions.is_empty()
}

/// Returns whether the rows are the same, in any order: each expected value is in its row.
fn is_same(found: &[Vec<Value>], expected: &[Vec<Value>]) -> bool {
    let holds = |row: &[Value], wanted: &[Value]| wanted.iter().all(|value| row.iter().any(|own| is_equal(own, value)));
    let mut open: Vec<&Vec<Value>> = found.iter().collect();
    found.len() == expected.len()
        && expected.iter().all(|wanted| {
            let place = open.iter().position(|row| holds(row, wanted));
            place.map(|place| open.swap_remove(place)).is_some()
        })
}

/// Returns whether values are equal up to rounding.
fn is_equal(shown: &Value, exact: &Value) -> bool {
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok());
    match (number(shown), number(exact)) {
        (Some(shown), Some(exact)) => {
            let is_rounded = |places: i32| {
                let scale = 10_f64.powi(places);
                (shown * scale - (exact * scale).round()).abs() < 1e-6
            };
            (shown - exact).abs() <= 1e-6 * exact.abs().max(1.0) || (2..=MAX_PLACES).any(is_rounded)
        }
        _ => shown == exact,
    }
}
