//! Requested charts: drawn if the rules allow it for the columns, otherwise dropped with a reason.

use prospector_chart::{ChartKind, Choice, Data, Proposal, Use};
use serde_json::{Value, json};

/// Checks the kind of chart drawn for a proposal, or the reason for rejecting it.
fn check(kind: ChartKind, columns: &[&str], of: (&[&str], &[Vec<Value>]), expected: &str) {
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (all, proposal) = (named(of.0), Proposal { kind, columns: named(columns) });
    let found = match proposal.judge(&Data { columns: &all, rows: of.1, ..Data::default() }) {
        Choice::Chart(chart) => chart.kind().as_str().to_owned(),
        Choice::Table { reason } => reason.to_owned(),
    };
    assert_eq!(found, expected, "{kind:?} of {columns:?}");
}

fn months(rows: usize) -> Vec<Vec<Value>> {
    let month = |at: usize| format!("2025-{:02}", at + 1);
    (0..rows).map(|at| vec![json!(month(at)), json!(100 + at * 7), json!(90 - at), json!(0.5)]).collect()
}

const MONTHS: &[&str] = &["month", "orders", "returns", "bounce_rate"];

#[test]
fn draws_valid_proposals() {
    let year = months(12);
    check(ChartKind::Line, &["month", "orders"], (MONTHS, &year), "line");
    check(ChartKind::Bar, &["month", "orders"], (MONTHS, &year), "bar");
    check(ChartKind::Bar, &["Month", "ORDERS"], (MONTHS, &year), "bar");
    check(ChartKind::GroupedBar, &["month", "orders", "returns"], (MONTHS, &year), "grouped_bar");
    check(ChartKind::Scatter, &["orders", "returns"], (MONTHS, &year), "scatter");
    let parts: Vec<Vec<Value>> = ["PT", "ES", "FR"]
        .iter()
        .flat_map(|country| {
            ["web", "shop"].map(|channel| vec![json!(country), json!(channel), json!(country.len() + channel.len())])
        })
        .collect();
    let columns: &[&str] = &["country", "channel", "orders"];
    check(ChartKind::StackedBar, columns, (columns, &parts), "stacked_bar");
    check(ChartKind::GroupedBar, columns, (columns, &parts), "grouped_bar");
    check(ChartKind::Bar, columns, (columns, &parts), "grouped_bar");
    let columns: &[&str] = &["this_month", "last_month"];
    check(ChartKind::Figure, columns, (columns, &[vec![json!(128_400.5), json!(117_200)]]), "figure");
    let years = [vec![json!(2024), json!(9)], vec![json!(2025), json!(11)]];
    check(ChartKind::Figure, &["year", "orders"], (&["year", "orders"], &years), "figure");
    let lengths: Vec<Vec<Value>> = (0..9).map(|at| vec![json!(format!("t{at}")), json!(900 - at * at)]).collect();
    check(ChartKind::Bar, &["track", "length"], (&["track", "length"], &lengths), "bar");
}

#[test]
fn rejects_invalid_proposals() {
    let year = months(12);
    check(ChartKind::Line, &["month", "revenue"], (MONTHS, &year), "the result does not have these columns");
    check(ChartKind::Line, &[], (MONTHS, &year), "the result does not have these columns");
    check(ChartKind::Line, &["month", "orders"], (MONTHS, &months(3)), "a line needs at least four periods");
    check(
        ChartKind::StackedBar,
        &["month", "orders", "returns"],
        (MONTHS, &year),
        "stacked bars need two categories and an additive measure",
    );
    check(
        ChartKind::GroupedBar,
        &["month", "orders", "bounce_rate"],
        (MONTHS, &year),
        "grouped bars need two categories, or measures of compatible scales",
    );
    check(
        ChartKind::Scatter,
        &["orders", "returns"],
        (MONTHS, &months(5)),
        "a scatter plot needs two measures and at least eight rows",
    );
    check(ChartKind::Bar, &["month"], (MONTHS, &year), "there is no numeric measure");
    let names: Vec<Vec<Value>> =
        (0..40).map(|at| vec![json!(format!("article {at}")), json!(at as f64 / 4.0)]).collect();
    let columns: &[&str] = &["article", "avg_price"];
    check(ChartKind::Bar, columns, (columns, &names), "there are too many bars");
    check(ChartKind::Line, columns, (columns, &names), "there are too many bars");
    let twice: Vec<Vec<Value>> =
        (0..6).map(|at| vec![json!(["PT", "ES", "FR"][at % 3]), json!(["a", "b"][at / 3]), json!(at)]).collect();
    check(
        ChartKind::Bar,
        &["country", "orders"],
        (&["country", "kind", "orders"], &twice),
        "a category has several rows",
    );
}

#[test]
fn notes_omitted_columns() {
    let columns = MONTHS.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let proposal = Proposal { kind: ChartKind::Line, columns: vec!["month".into(), "orders".into()] };
    let Choice::Chart(chart) = proposal.judge(&Data { columns: &columns, rows: &months(12), ..Data::default() }) else {
        panic!()
    };
    assert!(chart.notes.contains(&"Only in the table: Returns, Bounce rate".to_owned()), "{:?}", chart.notes);
}

#[test]
fn kinds_have_names() {
    for kind in ChartKind::ALL {
        assert_eq!(ChartKind::from_name(kind.as_str()), Some(kind));
    }
    assert_eq!(ChartKind::from_name(" Stacked Bar"), Some(ChartKind::StackedBar));
    assert_eq!(ChartKind::from_name("grouped"), Some(ChartKind::GroupedBar));
    assert_eq!((ChartKind::from_name("pie"), ChartKind::from_name("")), (None, None));
}

#[test]
fn known_uses_override_the_order_of_columns() {
    let columns = ["year", "orders"].map(str::to_owned);
    let rows: Vec<Vec<Value>> = (2020..2026).map(|year| vec![json!(year), json!(year % 7)]).collect();
    let uses = vec![Some(Use::Dimension), Some(Use::Sum)];
    let proposal = Proposal { kind: ChartKind::Bar, columns: vec!["orders".into(), "year".into()] };
    let Choice::Chart(chart) = proposal.judge(&Data { columns: &columns, rows: &rows, uses, ..Data::default() }) else {
        panic!()
    };
    assert_eq!((chart.across.title.as_str(), chart.measure.title.as_str()), ("Year", "Orders"));
}
