//! Matching of questions to queries by wording.

use std::path::Path;

use super::*;
use crate::file::parse;

const SALES: &str = "question: Which artists sold best in {country} in {year}?\nsynonyms:\n  - top artists by revenue in {country} for {year}\n\
    parameters:\n  country: {type: text, allowed: {BR: [Brazil], DE: [Germany], US: [United States]}}\n  year: {type: integer, allowed: [2024, 2025], default: 2025}";
const COUNT: &str = "question: How many VIP customers are there?\nsynonyms: [number of VIP customers, count of VIPs]";
const RATE: &str = "question: What is the exchange rate from {base} to {quote} on {day}?\nparameters:\n  base: {type: text, allowed: {EUR: [euro], GBP: [pound]}}\n  \
    quote: {type: text, allowed: {EUR: [euro], GBP: [pound]}}\n  day: {type: date}";
const TOP: &str = "question: What are the top {n} albums?\nparameters:\n  n: {type: integer, default: 10}";

fn query(name: &str, fields: &str) -> VerifiedQuery {
    let text = format!("---\n{fields}\n---\nSELECT 1");
    let (query, problems) = parse(name, Path::new("q.sql"), &text);
    assert!(problems.is_empty(), "{problems:?}");
    query.unwrap()
}

/// Checks which query answers the question with which values; `None` if no query does.
fn check(question: &str, expected: Option<(&str, &[(&str, &str)])>) {
    let queries =
        [("sales", SALES), ("count", COUNT), ("rate", RATE), ("top", TOP)].map(|(name, text)| query(name, text));
    let domain = |parameter: &Parameter| match parameter.allowed.as_slice() {
        [] => Domain::Any,
        some => Domain::OneOf(some.iter().map(|one| (one.value.clone(), one.words.clone())).collect()),
    };
    let all: Vec<(&VerifiedQuery, Vec<Domain>)> =
        queries.iter().map(|query| (query, query.parameters.iter().map(domain).collect())).collect();
    let ranked = rank(question, &all);
    let first = ranked.first().filter(|first| first.doubts.is_empty());
    let found = first.map(|first| {
        let values: Vec<(String, String)> =
            first.parameters.iter().map(|(name, value)| (name.clone(), crate::value::show(value))).collect();
        (first.query.name.clone(), values)
    });
    let expected = expected.map(|(name, values)| {
        (name.to_owned(), values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    });
    assert_eq!(found, expected, "{question}: {ranked:?}");
}

#[test]
fn extracts_values_and_compares_the_rest() {
    check("Which artists sold best in Brazil in 2024?", Some(("sales", &[("country", "BR"), ("year", "2024")])));
    check("Best-selling artists in the United States in 2025", Some(("sales", &[("country", "US"), ("year", "2025")])));
    check("top artists by revenue in Germany", Some(("sales", &[("country", "DE")])));
    check("how many vip customers do we have", Some(("count", &[])));
    check("top five albums", Some(("top", &[("n", "5")])));
}

#[test]
fn rejects_questions_that_ask_for_more_or_less() {
    for question in [
        "Which artists sold best in Brazil in 2019?",
        "Which artists sold best in Brazil and Germany in 2025?",
        "Which artists sold best in Brazil in 2024 and 2025?",
        "Which artists sold best outside Brazil in 2025?",
        "Which artists sold worst in Brazil in 2025?",
        "Which artists sold best in Brazil on vinyl in 2025?",
        "Which artists from Brazil sold best in 2025?",
        "Which artists did not sell in Brazil in 2025?",
        "Which artists sold best in 2025?",
        "How many customers are there?",
        "How many VIP customers are there in Brazil?",
        "How many VIP customers were there in 2023?",
        "How many VIP customers churned?",
        "artists",
        "",
    ] {
        check(question, None);
    }
}

#[test]
fn assigns_values_of_one_type_by_adjacent_words() {
    let values: &[(&str, &str)] = &[("base", "EUR"), ("quote", "GBP"), ("day", "2024-03-05")];
    check("What is the exchange rate from euro to pound on 5 March 2024?", Some(("rate", values)));
    check("exchange rate to pound from euro on 2024-03-05", Some(("rate", values)));
    check("exchange rate euro pound on 2024-03-05", None);
    check(
        "exchange rate from euro to euro on 2024-03-05",
        Some(("rate", &[("base", "EUR"), ("quote", "EUR"), ("day", "2024-03-05")])),
    );
}
