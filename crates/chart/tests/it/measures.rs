//! Which measure of several is drawn, and which share an axis.

use prospector_chart::{Choice, Data, Drawing, choose};
use serde_json::{Value, json};

/// Checks the axis title of a single measure, the names of several measures, or the reason why there is no chart.
fn check(question: &str, columns: &[&str], rows: &[Vec<Value>], expected: &[&str]) {
    let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
    let found = match choose(&Data { question, columns: &columns, rows, ..Data::default() }) {
        Choice::Table { reason } => vec![reason.to_owned()],
        Choice::Chart(chart) => match &chart.drawing {
            Drawing::Bars { series, .. } | Drawing::Lines { series, .. } if series.len() > 1 => {
                series.iter().map(|one| one.name.clone()).collect()
            }
            Drawing::Bars { .. } | Drawing::Lines { .. } | Drawing::Dots { .. } | Drawing::Figure { .. } => {
                vec![chart.measure.title.clone()]
            }
        },
    };
    assert_eq!(found, expected, "{question}");
}

#[test]
fn separates_ages_from_counts() {
    let rows = [
        vec![json!("Willow"), json!(2), json!(2), json!(25)],
        vec![json!("Capital"), json!(2), json!(1), json!(27)],
        vec![json!("Plaza"), json!(1), json!(0), json!(36)],
        vec![json!("River"), json!(0), json!(null), json!(null)],
    ];
    let columns = ["name", "visits", "under_30", "youngest"];
    check(
        "How many visits has each museum, and how many by visitors under 30?",
        &columns,
        &rows,
        &["Visits", "Under 30"],
    );
    let rows =
        [1, 2, 3, 4].map(|at| vec![json!(format!("c{at}")), json!(3.5 * f64::from(at)), json!(36.5 + f64::from(at))]);
    check("Average visits and age by clinic", &["clinic", "avg_visits", "avg_age"], &rows, &["Avg visits"]);
}

#[test]
fn draws_the_requested_measure() {
    let rows = [
        vec![json!("Paul"), json!(1), json!(24.0), json!(3)],
        vec![json!("Carla"), json!(1), json!(16.0), json!(2)],
        vec![json!("Laverne"), json!(1), json!(8.5), json!(1)],
    ];
    check("Total hours on call per nurse and floor", &["name", "floors", "hours", "shifts"], &rows, &["Hours"]);
}

#[test]
fn draws_compared_measures_together() {
    let row = |name: &str, savings: i64, checking: i64| vec![json!(name), json!(savings), json!(checking)];
    let rows = [
        row("Weeks", 60, 7_000),
        row("Brown", 200_000, 10_000),
        row("Wang", 999_999_999, 2_000),
        row("Porter", 240, 77),
    ];
    let columns = ["name", "savings", "checking"];
    check(
        "Who has less in savings than in checking?",
        &columns,
        &rows,
        &["the requested measures do not fit on one axis"],
    );
    check("How much is in savings?", &columns, &rows, &["Savings"]);
}
