//! Compares the rules with the choices of a person for eighty results, which were recorded before the rules were
//! written. `results.jsonl`: 42 results of the sample catalog and 38 synthetic ones; for 20, no chart is appropriate.

use prospector_chart::{Choice, Data, RULES, choose};
use serde::Deserialize;
use serde_json::Value;

/// A result, and the chart chosen by a person.
#[derive(Deserialize)]
struct Labelled {
    chart: String,
    question: String,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    has_more: bool,
}

impl Labelled {
    fn choose(&self) -> Choice {
        choose(&Data {
            question: &self.question,
            columns: &self.columns,
            rows: &self.rows,
            has_more: self.has_more,
            ..Data::default()
        })
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

/// Returns the results on which rules and person disagree, among those that `is_counted`.
fn disagreements(is_counted: impl Fn(&Labelled) -> bool) -> (usize, Vec<String>) {
    let results: Vec<Labelled> = results().into_iter().filter(is_counted).collect();
    let mismatch = |result: &Labelled| {
        let choice = result.choose();
        (chosen(&choice) != result.chart).then(|| {
            let why = if let Choice::Table { reason } = choice { format!(" ({reason})") } else { String::new() };
            format!("{}: {} and not {}{why}", result.question, chosen(&result.choose()), result.chart)
        })
    };
    (results.len(), results.iter().filter_map(mismatch).collect())
}

#[test]
fn agrees_with_human_choices() {
    let (all, different) = disagreements(|result| result.chart != "none");
    println!("charts: {} of {all} agree", all - different.len());
    assert!(all == 60 && different.is_empty(), "{different:#?}");
}

#[test]
fn draws_no_chart_where_none_fits() {
    let (all, different) = disagreements(|result| result.chart == "none");
    println!("none: {} of {all} agree", all - different.len());
    assert!(all == 20 && different.is_empty(), "{different:#?}");
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

/// Two measures to compare, with incompatible scales.
fn two_sizes() -> Labelled {
    let row = |name: &str, savings: u32, checking: u32| vec![name.into(), savings.into(), checking.into()];
    Labelled {
        chart: "none".into(),
        question: "Who has less in savings than in checking?".into(),
        columns: ["name", "savings", "checking"].map(str::to_owned).to_vec(),
        rows: vec![row("Ann", 60, 7_000), row("Ben", 999_999_999, 2_000), row("Cid", 240, 77)],
        has_more: false,
    }
}

#[test]
fn every_rule_applies_to_some_result() {
    assert_eq!(chosen(&ranking().choose()), ranking().chart);
    assert_eq!(chosen(&two_sizes().choose()), two_sizes().chart);
    let mut results = results();
    results.extend([ranking(), two_sizes()]);
    let reached: std::collections::BTreeSet<&str> = results.iter().map(|result| RULES[result.rule()].about).collect();
    assert_eq!(reached.len(), RULES.len(), "{reached:?}");
}

#[test]
fn docs_list_the_rules() {
    let book = include_str!("../../../../docs/src/answers.md");
    let rows: Vec<String> = RULES.iter().map(|rule| format!("| {} | {} |", rule.about, rule.says)).collect();
    assert!(book.contains(&rows.join("\n")), "docs/src/answers.md is to have:\n{}", rows.join("\n"));
}

impl Labelled {
    /// Returns the index of the deciding rule.
    fn rule(&self) -> usize {
        let data = Data {
            question: &self.question,
            columns: &self.columns,
            rows: &self.rows,
            has_more: self.has_more,
            ..Data::default()
        };
        RULES.iter().position(|rule| rule.decide(&data).is_some()).unwrap()
    }
}
