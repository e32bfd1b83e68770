//! Tests of the tracing rules; `tests/it/tracing.rs` traces whole answers.

use std::collections::BTreeSet;

use prospector_core::tool::finding::RowsWarning;
use serde_json::{Value, json};

use super::*;
use crate::{
    answer::{Answered, Classification},
    status::AnswerStatus,
};

fn query(id: &str, sql: &str, columns: &[&str], rows: &Value) -> DataQuestion {
    DataQuestion {
        id: id.into(),
        sql: sql.into(),
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        rows: serde_json::from_value(rows.clone()).unwrap_or_default(),
        ..DataQuestion::default()
    }
}

fn queries() -> Vec<DataQuestion> {
    let revenue = json!([["Brazil", 1234.5], ["Portugal", 765.5], ["Sweden", 500.0]]);
    let failed = DataQuestion { id: "Q3".into(), error: Some("syntax".into()), ..DataQuestion::default() };
    vec![
        query("Q1", "SELECT x FROM t WHERE year = 2024 LIMIT 7", &["country", "revenue"], &revenue),
        query("Q2", "SELECT x FROM t", &["rate"], &json!([[0.4321]])),
        failed,
    ]
}

fn trace_over(answer: &str, question: &str, queries: &[DataQuestion], texts: &str) -> (Tracing, String) {
    let entries = Entries::default();
    trace(answer, &Basis { question, queries, earlier: &[], texts, entries: &entries })
}

/// Traces an answer and compares its problems.
#[track_caller]
fn check(answer: &str, expected: &[&str]) {
    let (tracing, marked) = trace_over(answer, "Revenue of the top 9 countries?", &queries(), "at least 45.00 dollars");
    let problems: Vec<&str> = tracing.claims.iter().flat_map(|claim| &claim.problems).map(String::as_str).collect();
    assert_eq!(problems.len(), expected.len(), "{answer}: {problems:?}");
    for (found, expected) in problems.iter().zip(expected) {
        assert!(found.contains(expected), "{answer}: {found}");
    }
    assert_eq!(tracing.ok, expected.is_empty());
    assert_eq!(marked.contains(MARK), !expected.is_empty(), "{marked}");
}

#[test]
fn finds_values_in_any_notation() {
    check("Brazil spent 1,234.50 [Q1].", &[]);
    check("Brazil spent about 1.2k dollars [Q1].", &[]);
    check("Brazil spent $1,235. [Q1] Portugal 766 [Q1].", &[]);
    check("The rate is 43.2 % [Q2].", &[]);
    check("By country [Q1]:\n\n- Brazil: 1234.5\n- Portugal: 765.5", &[]);
    check("| Brazil | 1234.5 | [Q1]", &[]);
    check("There are 3 countries [Q1].", &[]);
}

#[test]
fn numbers_belong_to_named_values() {
    check("Brazil spent 765.5 [Q1].", &["765.5 is in no row of `Brazil`"]);
    check("Brazil spent 765.5 and Portugal 1234.5 [Q1].", &["`Brazil`", "`Portugal`"]);
    check("By country [Q1]:\n- Brazil: 500", &["500 is in no row of `Brazil`"]);
}

#[test]
fn derived_numbers_have_a_derivation() {
    check("Together 2,500 [Q1].", &[]);
    check("Brazil is 469 above Portugal (1234.5 - 765.5) [Q1].", &[]);
    check("Brazil has {{Q1: revenue[Brazil] / sum(revenue) as %}} of it.", &[]);
    check("Brazil is 469 above Portugal [Q1].", &["469 is in no result"]);
    check("Brazil has 49.4 % of it [Q1].", &["49.4 is in no result"]);
    let (tracing, _) = trace_over("Together 2,500 [Q1].", "", &queries(), "");
    assert_eq!(tracing.claims[0].derived, ["2,500 is the sum of revenue in Q1"]);
    let (_, filled) = trace_over("It is {{Q1: revenue[Brazil] / sum(revenue) as %}}.", "", &queries(), "");
    assert_eq!(filled, "It is 49.4%.");
}

#[test]
fn citations_extend_over_blank_lines_and_headings() {
    check("By country [Q1].\n\n| Brazil | 1234.5 |\n| Portugal | 765.5 |", &[]);
    check("By country [Q1]:\n\n### The list\n\n- Brazil: 1234.5", &[]);
    check("By country [Q1].\n\nNothing else.\n\n- Brazil: 1234.5", &["no query is cited"]);
    check("All of them:\n\n{{Q1}}", &[]);
    check("All of them:\n\n{{Q8}}", &["unknown result Q8"]);
    check("All of them:\n\n{{Q1: columns country}}", &[]);
    check("All of them:\n\n{{Q1: columns city}}", &["no column `city`"]);
}

#[test]
fn counts_of_listed_values_are_traced() {
    let rows: Vec<Value> = (1..15).map(|n| json!(["NY", 1_000 * n])).chain([json!(["TX", 20_000])]).collect();
    let codes = query("Q1", "", &["state", "code"], &Value::Array(rows));
    let check = |answer: &str, is_traced: bool| {
        let (tracing, _) = trace_over(answer, "", std::slice::from_ref(&codes), "");
        assert_eq!(tracing.ok, is_traced, "{answer}");
    };
    check("All 14 NY area codes tie [Q1].", true);
    check("There are 2 states, NY and TX [Q1].", true);
    check("All 13 NY area codes tie [Q1].", false);
    check("All 14 area codes of NYC tie [Q1].", false);
}

#[test]
fn reports_untraced_claims() {
    check("Brazil spent 1,300 [Q1].", &["1,300 is in no result"]);
    check("Brazil spent 1234.5.", &["no query is cited"]);
    check("Brazil leads.", &["no query is cited"]);
    check("Brazil leads [rules#Notes].", &["no tool returned `rules#Notes` in this conversation: describe it before"]);
    check("Brazil spent 1234.5 [Q9].", &["unknown query Q9"]);
    check("It failed [Q3].", &["Q3 failed"]);
    check("In 2024-Q3 it was 500 [Q1].", &["2024-Q3"]);
    check("By country [Q1]:\n- Brazil: 99", &["99 is in no result"]);
    check(
        "Brazil spent {{Q1: spent[Brazil]}}.",
        &["unknown column `spent` in Q1; its columns are `country`, `revenue`"],
    );
    check("It was {{Q1: revenue}}.", &["3 rows of Q1 have a `revenue`"]);
}

#[test]
fn numbers_of_question_query_and_texts_are_traced() {
    check("The top 9 in 2024 are these.", &[]);
    check("A VIP spends at least 45.00 dollars.", &[]);
    check("1. Nothing else\n2. is known.", &[]);
    check("Nothing is known.", &[]);
}

/// Answers over `Q1` (country, orders, revenue) and the columns that they state; `*` if these are not certain.
const STATED: &[(&str, &[&str])] = &[
    ("Brazil has 12 orders [Q1].", &["country", "orders"]),
    ("Brazil has revenue of 1,234.5 [Q1].", &["country", "revenue"]),
    ("Brazil has 12 orders and 1234.5 of revenue [Q1].", &["country", "orders", "revenue"]),
    ("By country [Q1]:\n\n- Brazil: 12\n- Portugal: 8", &["country", "orders"]),
    ("By country [Q1]:\n\n- Brazil: 1234.5\n- Portugal: 765.5", &["country", "revenue"]),
    ("By country [Q1]:\n\n| country | orders |\n|---|---|\n| Brazil | 12 |\n| Portugal | 8 |", &["country", "orders"]),
    // Two columns contain the number: the header of a table decides, words do not.
    ("Sweden has 5 orders [Q1].", &["country", "orders", "revenue"]),
    ("By country [Q1]:\n\n| country | orders |\n|---|---|\n| Sweden | 5 |", &["country", "orders"]),
    ("Brazil has {{Q1: orders[Brazil]}} orders.", &["country", "orders"]),
    ("There are {{Q1: sum(orders)}} orders.", &["orders"]),
    ("Brazil has {{Q1: revenue[Brazil] / sum(revenue) as %}} of it.", &["country", "revenue"]),
    ("The orders by country [Q1]:\n\n{{Q1: columns country, orders}}", &["country", "orders"]),
    ("All of it [Q1]:\n\n{{Q1}}", &["country", "orders", "revenue"]),
    ("Brazil has 12 orders [Q1].\n\n{{Q1: columns country, revenue}}", &["country", "orders", "revenue"]),
    ("{{Q1: columns country, revenue}}\n\nBrazil has 12 orders [Q1].", &["country", "orders", "revenue"]),
    // Calculated numbers, and sentences without a value.
    ("Together 25 orders [Q1].", &["*"]),
    ("Brazil is ahead [Q1].", &["*"]),
    ("It grew [Q1]. Brazil has 12 orders [Q1].", &["*"]),
    ("Brazil is ahead [Q1]. By country [Q1]:\n\n- Brazil: 12", &["*"]),
];

fn countries(warned: &[&str]) -> Vec<DataQuestion> {
    let rows = json!([["Brazil", 12, 1234.5], ["Portugal", 8, 765.5], ["Sweden", 5, 5]]);
    let mut query = query("Q1", "SELECT x FROM t", &["country", "orders", "revenue"], &rows);
    let columns = warned.iter().map(|&name| name.to_owned()).collect();
    query.warnings.push(RowsWarning { message: "a join multiplies rows".into(), columns, ..RowsWarning::default() });
    vec![query]
}

#[test]
fn a_sentence_has_the_columns_that_it_states() {
    for (answer, expected) in STATED {
        let (tracing, marked) = trace_over(answer, "Orders?", &countries(&[]), "");
        assert!(tracing.ok, "{marked}");
        let found: BTreeSet<&str> =
            tracing.claims.iter().filter_map(|claim| claim.columns.get("Q1")).flatten().map(String::as_str).collect();
        let found = if found.contains(ALL) { BTreeSet::from([ALL]) } else { found };
        assert_eq!(found, expected.iter().copied().collect(), "{answer}");
    }
}

/// The share of answers whose status follows from the warned column: partial only if they state it.
#[test]
fn a_warned_column_makes_only_answers_partial_that_state_it() {
    let (mut right, mut all, mut relaxed) = (0, 0, 0);
    for (answer, stated) in STATED {
        for warned in [&["country"][..], &["orders"], &["revenue"], &["orders", "revenue"], &[]] {
            let questions = countries(warned);
            let (tracing, answer) = trace_over(answer, "Orders?", &questions, "");
            let classification = Classification::Data;
            let answered = Answered { answer, questions, tracing, classification, ..Answered::default() }.with_status();
            let is_stated = warned.is_empty() || warned.iter().any(|name| stated.contains(name) || stated == &[ALL]);
            let expected = if is_stated { AnswerStatus::Partial } else { AnswerStatus::Answered };
            assert_eq!(answered.notes.is_empty(), answered.status == AnswerStatus::Partial, "{answered:?}");
            all += 1;
            right += usize::from(answered.status == expected);
            relaxed += usize::from(answered.status == AnswerStatus::Answered);
        }
    }
    println!("{right} of {all} statuses are right, {relaxed} of them not partial");
    assert_eq!((right, all, relaxed), (all, 95, 11));
}

#[test]
fn a_tie_at_the_end_makes_only_answers_partial_that_state_its_rows() {
    for (answer, status) in [
        ("Brazil has 12 orders [Q1].", AnswerStatus::Answered),
        ("Brazil leads [Q1]. This is by orders [Q1].", AnswerStatus::Answered),
        ("By country [Q1]:\n\n- Brazil: 12\n- Portugal: 8", AnswerStatus::Answered),
        ("Brazil has {{Q1: orders[Brazil]}} orders.", AnswerStatus::Answered),
        ("Sweden has 5 orders [Q1].", AnswerStatus::Partial),
        ("Brazil is ahead of Sweden [Q1].", AnswerStatus::Partial),
        ("By country [Q1]:\n\n- Brazil: 12\n- Portugal: 8\n- Sweden: 5", AnswerStatus::Partial),
        ("Brazil has 12 orders [Q1].\n\n{{Q1: columns country}}", AnswerStatus::Partial),
        ("Together 25 orders [Q1].", AnswerStatus::Partial),
        ("There are 3 countries [Q1].", AnswerStatus::Partial),
        ("It grew [Q1].", AnswerStatus::Partial),
    ] {
        let mut questions = countries(&[]);
        questions[0].warnings[0].last_rows = 1;
        let (tracing, text) = trace_over(answer, "Orders?", &questions, "");
        assert!(tracing.ok, "{text}");
        let classification = Classification::Data;
        let answered =
            Answered { answer: text, questions, tracing, classification, ..Answered::default() }.with_status();
        assert_eq!(answered.status, status, "{answer}: {:?}", answered.caveats);
        assert_eq!(answered.notes.is_empty(), status == AnswerStatus::Partial, "{answer}: {:?}", answered.notes);
    }
}
