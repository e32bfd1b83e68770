//! Rows that are sums of all others are removed from charts; all other rows are kept.

use prospector_chart::{Choice, Data, Drawing, choose};
use serde_json::{Value, json};

/// The labels of the bars, and whether a note mentions a total.
fn check(columns: &[&str], rows: Value, expected: &[&str], is_noted: bool) {
    let columns: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
    let rows: Vec<Vec<Value>> = serde_json::from_value(rows).unwrap();
    let Choice::Chart(chart) = choose(&Data { columns: &columns, rows: &rows, ..Data::default() }) else {
        panic!("no chart of {columns:?}")
    };
    let Drawing::Bars { labels, .. } = &chart.drawing else { panic!("no bars of {columns:?}") };
    assert_eq!(labels, expected, "{columns:?}");
    assert_eq!(chart.notes.iter().any(|note| note.contains("sum of the others")), is_noted, "{:?}", chart.notes);
}

#[test]
fn removes_totals_from_bars() {
    let last = json!([["PT", 4], ["ES", 9], ["FR", 7], ["All", 20]]);
    check(&["country", "customers"], last, &["PT", "ES", "FR"], true);
    let first = json!([["3 storms", 14.1], ["One", 7.05], ["Two", 5.03], ["Three", 2.02]]);
    check(&["name", "damage"], first, &["One", "Two", "Three"], true);
    let rollup = json!([["PT", 4, 1.5], ["ES", 9, 2.5], ["FR", 7, 3.0], [null, 20, 7.0]]);
    check(&["country", "customers", "revenue"], rollup, &["PT", "ES", "FR"], true);
}

#[test]
fn removes_totals_of_periods() {
    let months = json!([["2025-02", 9], ["2025-01", 4], ["2025-03", 7], ["Total", 20]]);
    let columns = ["month", "orders"].map(str::to_owned);
    let rows: Vec<Vec<Value>> = serde_json::from_value(months).unwrap();
    let Choice::Chart(chart) = choose(&Data { columns: &columns, rows: &rows, ..Data::default() }) else { panic!() };
    let Drawing::Bars { labels, ordered, .. } = chart.drawing else { panic!() };
    assert!(ordered && labels.len() == 3, "{labels:?}");
}

#[test]
fn keeps_rows_that_are_no_sums() {
    let shirts = json!([["All", 2], ["Small", 9], ["Large", 7]]);
    check(&["size", "shirts"], shirts, &["All", "Small", "Large"], false);
    let few = json!([["PT", 4], ["ES", 5], ["FR", 9]]);
    check(&["country", "customers"], few, &["PT", "ES", "FR"], false);
    let in_one_measure = json!([["PT", 4, 3], ["ES", 9, 2], ["FR", 7, 1], ["DE", 20, 5]]);
    check(&["country", "customers", "orders"], in_one_measure, &["PT", "ES", "FR", "DE"], false);
    let in_the_middle = json!([["PT", 4], ["ES", 20], ["FR", 7], ["DE", 9]]);
    check(&["country", "customers"], in_the_middle, &["PT", "ES", "FR", "DE"], false);
}

#[test]
fn removes_totals_of_two_categories() {
    let rows = json!([
        ["PT", "web", 2],
        ["PT", "shop", 3],
        ["PT", "All", 5],
        ["ES", "web", 4],
        ["ES", "shop", 6],
        ["ES", "All", 10],
        ["FR", "web", 1],
        ["FR", "shop", 1],
        ["FR", "All", 2],
        ["Total", "web", 7],
        ["Total", "shop", 10],
        ["Total", "All", 17]
    ]);
    check(&["country", "channel", "orders"], rows, &["PT", "ES", "FR"], true);
}
