//! Extraction of facts by a model, over the wire: quoted facts are kept, others are dropped and reported.

use std::sync::Arc;

use prospector_agent::extraction::ModelExtractor;
use prospector_facts::FactDiscovery;
use prospector_llm::providers;
use prospector_test_support::provider::{FakeProvider, Turn};
use serde_json::{Value, json};

const TEXT: &str =
    "Anyone who has not bought for half a year we regard as dormant. Dormant accounts get\nno newsletter.";

async fn check(answer: Turn, terms: &[&str], note: Option<&str>) {
    let fake = FakeProvider::start([answer]).await;
    let model = providers::connect("claude-sonnet-4-5", &fake.settings()).unwrap();
    let (facts, _) = FactDiscovery::open(None, vec![], None).await;
    facts.extract_with(Arc::new(ModelExtractor::new(model)));
    let tools = Arc::new(facts).tools();
    let got = tools.call("extract_facts_from_text", json!({"text": TEXT})).await.unwrap().into_json();
    let items = got.as_array().or_else(|| got["items"].as_array()).unwrap();
    assert_eq!(items.iter().map(|item| item["term"].as_str().unwrap()).collect::<Vec<_>>(), terms, "{got:#}");
    for item in items {
        assert!(TEXT.contains(item["evidence"].as_str().unwrap()), "{item:#}");
    }
    match note {
        Some(note) => assert!(got["note"].as_str().unwrap().contains(note), "{got:#}"),
        None => assert_eq!(got.get("note"), None, "{got:#}"),
    }
    fake.assert_clean();
}

fn fact(term: &str, definition: &str, evidence: &str) -> Value {
    json!({"term": term, "definition": definition, "kind": "definition", "evidence": evidence})
}

fn answer(facts: &[Value]) -> Turn {
    Turn::text(json!({"facts": facts}).to_string())
}

#[tokio::test]
async fn facts_without_a_quotation_are_dropped() {
    let quoted = "Anyone who has not bought for half a year we regard as dormant.";
    let good = fact("dormant", "has not bought for half a year", quoted);
    check(answer(std::slice::from_ref(&good)), &["dormant"], None).await;
    let made_up = fact("dormant", "no login", "Dormant means that nobody logs in.");
    let reworded = fact("dormant accounts", "no newsletter", "Dormant accounts get no newsletter.");
    let number = fact("dormant", "has not bought for 180 days", quoted);
    check(answer(&[made_up, good, reworded, number]), &["dormant"], Some("3 facts from the model skipped")).await;
}

#[tokio::test]
async fn falls_back_to_rules_and_reports_it() {
    check(Turn::text("No terms found."), &[], Some("without the model")).await;
    check(Turn::failure(400), &[], Some("without the model")).await;
}
