//! Totals of other rows, such as `Total` and `All`, are removed from charts; all other rows are kept.

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
    assert_eq!(chart.notes.iter().any(|note| note.contains("total of the others")), is_noted, "{:?}", chart.notes);
}

#[test]
fn removes_totals_from_bars() {
    let parts = json!([["PT", 4], ["ES", 9], ["FR", 7], ["All", 20]]);
    check(&["country", "customers"], parts, &["ES", "FR", "PT"], true);
    // A customer who buys in two countries counts once in the total.
    let distinct = json!([["All countries", 15], ["PT", 4], ["ES", 9], ["FR", 7]]);
    check(&["country", "customers"], distinct, &["ES", "FR", "PT"], true);
    let counted = json!([["3 storms", 14], ["One", 7], ["Two", 5], ["Three", 2]]);
    check(&["name", "deaths"], counted, &["One", "Two", "Three"], true);
    let average = json!([["PT", 4.5], ["ES", 9.0], ["FR", 7.0], ["Total", 7.2]]);
    check(&["country", "avg_price"], average, &["ES", "FR", "PT"], true);
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
fn keeps_categories_named_like_totals() {
    check(&["size", "shirts"], json!([["All", 2], ["Small", 9], ["Large", 7]]), &["Small", "Large", "All"], false);
    let names = json!([["All Saints", 12], ["Abba", 7], ["Kiss", 3]]);
    check(&["artist", "sold"], names, &["All Saints", "Abba", "Kiss"], false);
    let names = json!([["2 Unlimited", 9], ["Abba", 7], ["Kiss", 3]]);
    check(&["artist", "sold"], names, &["2 Unlimited", "Abba", "Kiss"], false);
    let two = json!([["Total revenue", 9], ["Total cost", 7], ["Other", 3]]);
    check(&["item", "amount"], two, &["Total revenue", "Total cost", "Other"], false);
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
    check(&["country", "channel", "orders"], rows, &["ES", "PT", "FR"], true);
}
