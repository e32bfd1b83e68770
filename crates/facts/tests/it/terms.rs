//! Terms marked by the structure of documents, in all kinds of questions.

use std::sync::Arc;

use async_trait::async_trait;
use prospector_facts::{
    Fact, FactDiscovery, Resolution,
    evidence::{Evidence, Passage},
    model::Origin,
};

const SWEEP: &str = "A driver makes a clean sweep when he starts from the first place and wins. Sprints have none.";
const ACTIVE: &str =
    "A customer is an active customer if he ordered within 180 days. Payments play no role. Nor do returns.";
const STORES: &str = "The store named Online is our web shop; every other store is a physical one.";

/// A glossary with a section per term.
struct Glossary;

#[async_trait]
impl Evidence for Glossary {
    fn passages(&self) -> Vec<Passage> {
        let section = |(term, text): (&str, &str)| Passage {
            source_type: "document".into(),
            name: format!("glossary#{term}"),
            heading: term.into(),
            text: text.into(),
        };
        let all = [
            ("Clean sweep", SWEEP),
            ("Active customer", ACTIVE),
            ("Online and physical stores", STORES),
            ("Orders", "How orders are taken."),
            ("Money", "**Bed revenue** is the price of all crates. **Net yield** is what is left of it."),
        ];
        all.into_iter().map(section).collect()
    }

    fn is_ordinary(&self, word: &str) -> bool {
        matches!(word, "money" | "orders" | "customers" | "store")
    }

    fn is_of_schema(&self, term: &str) -> bool {
        matches!(term.to_lowercase().trim_end_matches('s'), "order" | "customer" | "store")
    }
}

async fn resolve(facts: Vec<Fact>, question: &str) -> Resolution {
    let (discovery, problems) = FactDiscovery::open(None, facts, Some(Arc::new(Glossary))).await;
    assert!(problems.is_empty());
    discovery.resolve(question).await
}

/// Checks the whole definition of each term found, the answer first.
async fn check(question: &str, expected: &[&str]) {
    let got = resolve(vec![], question).await;
    assert!(!got.needs_clarification, "{got:#?}");
    let answer = got.definition.clone().or(got.answer.clone());
    let found: Vec<String> = answer.into_iter().chain(got.related.iter().map(|one| one.definition.clone())).collect();
    assert_eq!(found, expected, "{question}: {got:#?}");
}

#[tokio::test]
async fn finds_terms_in_all_phrasings() {
    for question in [
        "What is a clean sweep?",
        "clean sweep",
        "define clean sweep",
        "How many clean sweeps were there in 2025?",
        "Which Formula One drivers made a clean sweep in 2025, and how often?",
        "Show the clean sweeps of each season",
        "Who has had the most clean sweeps?",
        "What was the number of clean sweeps in 2020?",
    ] {
        check(question, &[SWEEP]).await;
    }
    check("active customers", &[ACTIVE]).await;
    check("online and physical stores", &[STORES]).await;
    check("What percentage was cancelled, in online and physical stores?", &[STORES]).await;
    check("How many active customers bought in online and physical stores?", &[STORES, ACTIVE]).await;
}

#[tokio::test]
async fn ordinary_words_need_no_definition() {
    for question in [
        "How many customers live in Brazil?",
        "customer",
        "Which store has the most orders?",
        "How did sales develop from month to month?",
        "How much money did restaurants pay us?",
        "What share of the movies pass the test?",
        "In which month was the most money taken in?",
        "customer spend on horror movies",
    ] {
        let got = resolve(vec![], question).await;
        assert!(got.answer.is_none() && got.related.is_empty() && !got.needs_clarification, "{got:#?}");
        assert_eq!(
            got.note.as_deref(),
            Some("no defined term in this text; search documents for related wording, in the language of the catalog")
        );
    }
    // Explicit questions get the definition, and unknown terms a clarification.
    check("What are orders?", &["How orders are taken."]).await;
    assert!(resolve(vec![], "What is a grand slam?").await.needs_clarification);
}

#[tokio::test]
async fn user_facts_override_marked_terms() {
    let fact = Fact::new("active customer", "Ordered within a year.", Origin::User);
    let got = resolve(vec![fact], "How many active customers are there?").await;
    assert_eq!(got.answer.as_deref(), Some("Ordered within a year."));
    assert_eq!(got.sources[0].source_type, "user");
}

#[tokio::test]
async fn renders_each_definition_once() {
    let (discovery, _) = FactDiscovery::open(None, Vec::new(), Some(Arc::new(Glossary))).await;
    let tools = Arc::new(discovery).tools();
    let render = async |question: &str| {
        let answer = tools.call("resolve_fact", serde_json::json!({"question": question})).await.unwrap();
        answer.text().to_string()
    };
    let expected = format!("term: Clean sweep\ndefinition: {SWEEP}\nsource: glossary#Clean sweep\nconfidence: .95");
    assert_eq!(render("How many clean sweeps were there in 2025?").await, expected);
    let none = "definition: none\nnote: no defined term in this text; search documents for related wording, in the language of the catalog";
    assert_eq!(render("How many customers live in Brazil?").await, none);
}
