//! Compares the rules with the choices of a person for eighty results, which were recorded before the rules were
//! written. `results.jsonl`: 42 results of the sample catalog and 38 synthetic ones; for 20, no chart is appropriate.
//! `uses` is what the query of a result says about its columns.

use prospector_chart::{Choice, Data, RULES, Use, choose};
use serde::Deserialize;
use serde_json::Value;

/// A result, and the chart chosen by a person.
#[derive(Deserialize)]
struct Labelled {
    chart: String,
    question: String,
    columns: Vec<String>,
    uses: Vec<Option<String>>,
    rows: Vec<Vec<Value>>,
    has_more: bool,
}

impl Labelled {
    fn data(&self) -> Data<'_> {
        let read = |name: &Option<String>| {
            name.as_deref().map(|name| match name {
                "dimension" => Use::Dimension,
                "sum" => Use::Sum,
                "measure" => Use::Measure,
                "stored" => Use::Stored,
                other => panic!("unknown use {other}"),
            })
        };
        Data {
            columns: &self.columns,
            uses: self.uses.iter().map(read).collect(),
            rows: &self.rows,
            has_more: self.has_more,
            ..Data::default()
        }
    }

    fn choose(&self) -> Choice {
        choose(&self.data())
    }

    /// Returns the index of the deciding rule.
    fn rule(&self) -> usize {
        RULES.iter().position(|rule| rule.decide(&self.data()).is_some()).unwrap()
    }
}

fn results() -> Vec<Labelled> {
    include_str!("../results.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn chosen(choice: &Choice) -> &str {
    match choice {
        Choice::Chart(chart) => match chart.kind().as_str() {
            "grouped_bar" => "grouped",
            "stacked_bar" => "stacked",
            kind => kind,
        },
        Choice::Table { .. } => "none",
    }
}

/// Counts the results on which rules and person agree, with and without a chart, and lists the others.
fn agreement(choose: impl Fn(&Labelled) -> Choice) -> (usize, usize, Vec<String>) {
    let (mut charts, mut tables, mut different) = (0, 0, Vec::new());
    for result in results() {
        let choice = choose(&result);
        match chosen(&choice) {
            "none" if result.chart == "none" => tables += 1,
            kind if kind == result.chart => charts += 1,
            kind => {
                let why = if let Choice::Table { reason } = choice { format!(" ({reason})") } else { String::new() };
                different.push(format!("{}: {kind} and not {}{why}", result.question, result.chart));
            }
        }
    }
    println!("{charts} of 60 charts and {tables} of 20 tables agree; {different:#?}");
    (charts, tables, different)
}

#[test]
fn agrees_with_human_choices() {
    let (charts, tables, different) = agreement(Labelled::choose);
    assert!(charts >= 57 && tables >= 19, "{different:#?}");
}

#[test]
fn agrees_with_most_human_choices_without_the_query() {
    let without_uses = |result: &Labelled| choose(&Data { uses: Vec::new(), ..result.data() });
    let (charts, tables, different) = agreement(without_uses);
    assert!(charts >= 53 && tables >= 18, "{different:#?}");
}

#[test]
fn renders_every_chart_in_every_format() {
    for result in results() {
        let Choice::Chart(chart) = result.choose() else { continue };
        for width in [1, 320, 760, 5_000] {
            let svg = chart.svg(width);
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{}", result.question);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}: {svg}", result.question);
        }
        let vega = serde_json::to_value(chart.vega()).unwrap();
        assert!(!vega["data"]["values"].as_array().unwrap().is_empty());
        assert_eq!(serde_json::from_value::<prospector_chart::VegaLite>(vega).unwrap(), chart.vega());
        let text = chart.text(72).unwrap_or_default();
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= 90), "{text}");
        assert!(chart.describe().contains(&chart.title), "{}", chart.describe());
    }
}

#[test]
fn escapes_data_in_markup() {
    let columns = ["<script>alert(1)</script>", "customers"].map(str::to_owned);
    let row = |name: &str, number: i64| vec![Value::from(name), Value::from(number)];
    let rows = [row("\"><img src=x onerror=alert(1)>", 3), row("</svg><b>", 9), row("\u{0}\u{1b}[31m", 5)];
    let Choice::Chart(chart) = choose(&Data { columns: &columns, rows: &rows, ..Data::default() }) else { panic!() };
    let svg = chart.svg(640);
    for mark in ["<script", "<img", "</svg><b", "\u{1b}", "\u{0}"] {
        assert!(!svg.contains(mark), "{mark} in {svg}");
    }
}

/// A ranking whose rows have further attributes.
fn ranking() -> Labelled {
    let row = |at: u32| ["Ann", "Ben", "Cid", "Dot", "Eve"][at as usize % 5].to_owned() + &at.to_string();
    Labelled {
        chart: "bar".into(),
        question: "Who are the best customers?".into(),
        columns: ["customer", "city", "country", "spent"].map(str::to_owned).to_vec(),
        uses: Vec::new(),
        rows: (0..8)
            .map(|at| {
                vec![
                    row(at).into(),
                    ["Porto", "Faro", "Lagos"][at as usize % 3].into(),
                    if at % 2 == 0 { "PT" } else { "ES" }.into(),
                    (90 - at * 7).into(),
                ]
            })
            .collect(),
        has_more: false,
    }
}

#[test]
fn every_rule_applies_to_some_result() {
    assert_eq!(chosen(&ranking().choose()), ranking().chart);
    let mut results = results();
    results.push(ranking());
    let reached: std::collections::BTreeSet<&str> = results.iter().map(|result| RULES[result.rule()].about).collect();
    assert_eq!(reached.len(), RULES.len(), "{reached:?}");
}

#[test]
fn docs_list_the_rules() {
    let book = include_str!("../../../../docs/src/answers.md");
    let rows: Vec<String> = RULES.iter().map(|rule| format!("| {} | {} |", rule.about, rule.says)).collect();
    assert!(book.contains(&rows.join("\n")), "docs/src/answers.md is to have:\n{}", rows.join("\n"));
}
