//! Which measure of several is drawn, and which share an axis.

use prospector_chart::{Choice, Data, Drawing, Use, choose};
use serde_json::{Value, json};

use Use::{Dimension, Measure, Stored, Sum};

/// Checks the axis title of a single measure, the names of several measures, or the reason why there is no chart.
fn check(columns: &[(&str, Use)], rows: &Value, expected: &[&str]) {
    let names: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let uses = columns.iter().map(|(_, known)| Some(*known)).collect();
    let rows: Vec<Vec<Value>> = serde_json::from_value(rows.clone()).unwrap();
    let found = match choose(&Data { columns: &names, rows: &rows, uses, ..Data::default() }) {
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
    assert_eq!(found, expected, "{columns:?}");
}

#[test]
fn sums_do_not_share_an_axis_with_other_measures() {
    let columns = [("name", Dimension), ("visits", Sum), ("under_30", Sum), ("youngest", Measure)];
    let rows = json!([["Willow", 2, 2, 25], ["Capital", 2, 1, 27], ["Plaza", 1, 0, 36], ["River", 0, null, null]]);
    check(&columns, &rows, &["Visits", "Under 30"]);
}

#[test]
fn incompatible_scales_do_not_share_an_axis() {
    let columns = [("name", Dimension), ("savings", Sum), ("checking", Sum)];
    let rows =
        json!([["Weeks", 60, 7_000], ["Brown", 200_000, 10_000], ["Wang", 999_999_999, 2_000], ["Porter", 240, 77]]);
    check(&columns, &rows, &["Savings"]);
}

#[test]
fn draws_the_sorted_measure() {
    let columns = [("name", Dimension), ("floors", Sum), ("hours", Sum), ("shifts", Sum)];
    let rows = json!([["Paul", 1, 24.5, 3], ["Carla", 2, 16.0, 3], ["Laverne", 1, 8.5, 1]]);
    check(&columns, &rows, &["Hours"]);
}

#[test]
fn keys_are_not_drawn() {
    let phones = json!([["Ana", 351912345678i64], ["Rui", 351932345678i64], ["Gil", 351922345678i64]]);
    check(&[("name", Stored), ("phone", Stored)], &phones, &["there is no numeric measure"]);
    check(&[("name", Dimension), ("phone", Measure)], &phones, &["Phone"]);
    let people = json!([[1, "Ana", 31], [2, "Rui", 45], [3, "Gil", 31]]);
    check(&[("person_id", Stored), ("name", Stored), ("age", Stored)], &people, &["Age"]);
    let stores = json!([[7, "Porto", 310], [9, "Porto", 450], [4, "Faro", 310]]);
    check(&[("store", Dimension), ("city", Dimension), ("orders", Sum)], &stores, &["a category has several rows"]);
}
