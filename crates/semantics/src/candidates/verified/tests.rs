//! Which verified query is the best candidate for a question, with which values.

use super::super::tests::Words;
use super::super::{ACCEPT, Conversation, NamedValue};
use super::*;

fn query(name: &str, wordings: &[&str], parameters: Vec<QueryParameter>) -> VerifiedQuery {
    let wordings = wordings.iter().map(|text| (*text).to_owned()).collect();
    VerifiedQuery { name: name.into(), wordings, parameters, ..VerifiedQuery::default() }
}

fn parameter(name: &str, values: ParameterValues, is_optional: bool) -> QueryParameter {
    QueryParameter { name: name.into(), values, is_optional }
}

fn vocabulary() -> Vocabulary {
    let currencies = || {
        let currency = |code: &str, name: &str| (code.to_owned(), vec![name.to_owned()]);
        ParameterValues::Texts(vec![currency("EUR", "euro"), currency("GBP", "pound")])
    };
    let sales = [
        "Which artists sold best in {country} in {year}?",
        "best-selling artists in {country} in {year}",
        "top artists by revenue in {country} for {year}",
    ];
    let country = || parameter("country", ParameterValues::Column("shop.countries.name".into()), false);
    let year = parameter("year", ParameterValues::Numbers(vec![2024.0, 2025.0]), true);
    let count = ["How many VIP customers are there?", "number of VIP customers", "count of VIPs"];
    let rate = ["What is the exchange rate from {base} to {quote} on {day}?"];
    let pair = ["base", "quote"].map(|name| parameter(name, currencies(), false));
    let day = parameter("day", ParameterValues::Days, false);
    let top = parameter("n", ParameterValues::Numbers(Vec::new()), true);
    let named = parameter("text", ParameterValues::Quoted, false);
    let value = |value: &str| NamedValue { table: "shop.countries".into(), column: "name".into(), value: value.into() };
    Vocabulary {
        values: ["Brazil", "Germany", "United States"].map(value).into(),
        queries: vec![
            query("sales", &sales, vec![country(), year]),
            query("orders", &["How many orders are there in {country}?"], vec![country()]),
            query("vip-count", &count, Vec::new()),
            query("rate", &rate, pair.into_iter().chain([day]).collect()),
            query("top", &["What are the top {n} albums?"], vec![top]),
            query("titles", &["Which titles contain {text}?"], vec![named]),
        ],
        ..Vocabulary::default()
    }
}

/// Checks which query answers the question with which values; `None` if no query does.
fn check(question: &str, expected: Option<(&str, Value)>) {
    let found = Conversation::read(question, NaiveDate::default(), &Words::default())
        .map(|asked| list(&asked.question, &vocabulary(), NaiveDate::default(), &Words::default()));
    let found = found.unwrap_or_default();
    let best = found.iter().max_by(|a, b| a.score.total_cmp(&b.score)).filter(|best| best.score >= ACCEPT);
    let answer = best.map(|best| match &best.query {
        CandidateQuery::Verified { name, parameters, .. } => (name.as_str(), json!(parameters)),
        other => panic!("{other:?}"),
    });
    assert_eq!(answer, expected, "{question}: {found:#?}");
}

#[test]
fn extracts_values_and_compares_the_rest() {
    let brazil = json!({"country": "Brazil", "year": 2024});
    check("Which artists sold best in Brazil in 2024?", Some(("sales", brazil)));
    let states = json!({"country": "United States", "year": 2025});
    check("Best-selling artists in the United States in 2025", Some(("sales", states)));
    check("top artists by revenue in Germany", Some(("sales", json!({"country": "Germany"}))));
    check("how many vip customers do we have", Some(("vip-count", json!({}))));
    check("How many orders do we have in Brazil?", Some(("orders", json!({"country": "Brazil"}))));
    check("How many orders are there in the United States?", Some(("orders", json!({"country": "United States"}))));
    check("top five albums", Some(("top", json!({"n": 5}))));
    check("Which titles contain “Blue Note”?", Some(("titles", json!({"text": "Blue Note"}))));
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
        "How many orders from Brazil are there?",
        "Which titles contain Blue Note?",
        "artists",
        "",
    ] {
        check(question, None);
    }
}

#[test]
fn assigns_values_of_one_type_by_adjacent_words() {
    let values = json!({"base": "EUR", "quote": "GBP", "day": "2024-03-05"});
    check("What is the exchange rate from euro to pound on 5 March 2024?", Some(("rate", values.clone())));
    check("exchange rate to pound from euro on 2024-03-05", Some(("rate", values)));
    check("exchange rate euro pound on 2024-03-05", None);
    let same = json!({"base": "EUR", "quote": "EUR", "day": "2024-03-05"});
    check("exchange rate from euro to euro on 2024-03-05", Some(("rate", same)));
    check("exchange rate from euro to pound on 31 February 2024", None);
}
