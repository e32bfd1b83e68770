//! The tools as a caller sees them: shapes, correctable errors, and the names that answers reveal.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use prospector_core::tool::Toolset;
use prospector_facts::{
    Fact, FactDiscovery,
    evidence::{Evidence, Passage},
    model::Origin,
};
use serde_json::{Value, json};

struct Texts;

#[async_trait]
impl Evidence for Texts {
    fn passages(&self) -> Vec<Passage> {
        let passage = |source_type: &str, name: &str, heading: &str, text: &str| Passage {
            source_type: source_type.into(),
            name: name.into(),
            heading: heading.into(),
            text: text.into(),
        };
        vec![
            passage(
                "document",
                "rules#Customers",
                "Customers",
                "A big spender is a customer who paid at least 100 in all.",
            ),
            passage("table", "shop.invoices", "invoices", "One row for each sale. Drafts are left out."),
            passage("column", "shop.invoices.net_total", "net total", "The sum of all lines without tax."),
        ]
    }
}

async fn tools(store: Option<&Path>, catalog: Vec<Fact>) -> Toolset {
    let (facts, _) = FactDiscovery::open(store.map(Path::to_owned), catalog, Some(Arc::new(Texts))).await;
    Arc::new(facts).tools()
}

async fn check(tools: &Toolset, name: &str, args: Value, expected: Value) -> Vec<String> {
    let (mut got, reveals) = match tools.call(name, args).await {
        Ok(answer) => (answer.json().clone(), answer.reveals()),
        Err(error) => (error.to_json(), Vec::new()),
    };
    // Times differ between runs.
    if let Some(time) = got.get_mut("recorded_at") {
        assert!(time.as_str().is_some_and(|t| t.ends_with('Z') && t.contains('T')), "{time}");
        *time = json!("now");
    }
    assert_eq!(got, expected);
    reveals.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn lists_the_tools() {
    let tools = tools(None, vec![]).await;
    let names: Vec<&str> = tools.names().collect();
    assert_eq!(
        names,
        ["add_fact", "extract_facts_from_text", "get_unresolved_facts", "list_known_facts", "resolve_fact"]
    );
    for spec in tools.specs() {
        assert!(prospector_core::tokens::estimate(&spec.description) <= 60, "{}", spec.description);
    }
}

#[tokio::test]
async fn resolution_reveals_term_and_source() {
    let tools = tools(None, vec![]).await;
    let reveals = check(
        &tools,
        "resolve_fact",
        json!({"question": "what is a big spender?"}),
        json!({
            "question": "what is a big spender?",
            "term": "big spender",
            "answer": "A big spender is a customer who paid at least 100 in all.",
            "confidence": 0.9,
            "sources": [{"type": "document", "name": "rules#Customers", "confidence": 0.9,
                         "excerpt": "A big spender is a customer who paid at least 100 in all."}],
            "needs_clarification": false,
            "is_whole": true
        }),
    )
    .await;
    assert_eq!(reveals, ["fact `big spender`", "document `rules`"]);
    let column = tools.call("resolve_fact", json!({"question": "net total"})).await.unwrap();
    assert_eq!(column.json()["answer"], "The sum of all lines without tax.");
    let reveals: Vec<String> = column.reveals().iter().map(ToString::to_string).collect();
    assert_eq!(
        reveals,
        ["fact `net total`", "table `shop.invoices`", "database `shop`", "column `shop.invoices.net_total`"]
    );
}

#[tokio::test]
async fn remembers_unresolved_questions_until_answered() {
    let tools = tools(None, vec![]).await;
    let reveals = check(
        &tools,
        "resolve_fact",
        json!({"question": "What is a quorum call?"}),
        json!({
            "question": "What is a quorum call?",
            "needs_clarification": true,
            "clarification": "No definition of `quorum call`. Use its general meaning, or ask the user if it has several."
        }),
    )
    .await;
    assert!(reveals.is_empty());
    tools.call("resolve_fact", json!({"question": "what is a quorum call"})).await.unwrap();
    let open = tools.call("get_unresolved_facts", json!({})).await.unwrap().into_json();
    assert_eq!((open.as_array().unwrap().len(), &open[0]["times"]), (1, &json!(2)));
    let reveals = check(
        &tools,
        "add_fact",
        json!({"term": "quorum call", "definition": "A count of members.", "source": "the user"}),
        json!({
            "term": "quorum call",
            "definition": "A count of members.",
            "source": "the user",
            "confidence": 0.95,
            "recorded_at": "now",
            "origin": "user",
            "answers": ["what is a quorum call"]
        }),
    )
    .await;
    assert_eq!(reveals, ["fact `quorum call`"]);
    check(&tools, "get_unresolved_facts", json!({}), json!([])).await;
    let known = tools.call("resolve_fact", json!({"question": "What is a quorum call?"})).await.unwrap();
    assert_eq!((&known.json()["answer"], &known.json()["confidence"]), (&json!("A count of members."), &json!(0.95)));
}

#[tokio::test]
async fn correction_reports_the_replaced_definition() {
    let tools = tools(None, vec![]).await;
    let add = |definition: &str| tools.call("add_fact", json!({"term": "big spenders", "definition": definition}));
    assert!(add("Paid 50.").await.unwrap().json().get("replaced").is_none());
    assert_eq!(add("Paid 60.").await.unwrap().json()["replaced"], "Paid 50.");
}

#[tokio::test]
async fn lists_facts_with_paging_and_filter() {
    let fact = |term: &str, text: &str| Fact::new(term, text, Origin::Catalog);
    let tools = tools(None, vec![fact("zone", "An area."), fact("basket", "One purchase.")]).await;
    let all = json!([
        {"term": "basket", "definition": "One purchase.", "confidence": 1.0, "origin": "catalog"},
        {"term": "zone", "definition": "An area.", "confidence": 1.0, "origin": "catalog"}
    ]);
    let reveals = check(&tools, "list_known_facts", json!({}), all.clone()).await;
    assert_eq!(reveals, ["fact `basket`", "fact `zone`"]);
    check(&tools, "list_known_facts", json!({"contains": "PURCHASE"}), json!([all[0].clone()])).await;
    check(
        &tools,
        "list_known_facts",
        json!({"limit": 1}),
        json!({"items": [all[0].clone()], "truncated": true, "total": 2, "next": "call again with offset=1"}),
    )
    .await;
    check(
        &tools,
        "list_known_facts",
        json!({"contains": "baskit"}),
        json!({"items": [], "note": "no known fact contains `baskit`", "nearest": ["basket"]}),
    )
    .await;
}

#[tokio::test]
async fn extracts_without_storing() {
    let tools = tools(None, vec![]).await;
    check(
        &tools,
        "extract_facts_from_text",
        json!({"text": "Churn means that a customer left."}),
        json!([{"term": "Churn", "definition": "Churn means that a customer left.", "kind": "definition",
                "evidence": "Churn means that a customer left.", "confidence": 0.85}]),
    )
    .await;
    check(
        &tools,
        "extract_facts_from_text",
        json!({"text": ""}),
        json!({"items": [], "note": "the text contains no definitions"}),
    )
    .await;
    check(&tools, "list_known_facts", json!({}), json!([])).await;
}

/// A text that can be changed.
struct Changing(Mutex<&'static str>);

#[async_trait]
impl Evidence for Changing {
    fn passages(&self) -> Vec<Passage> {
        Vec::new()
    }

    fn text(&self, source: &str) -> Option<String> {
        (source == "rules#Churn").then(|| self.0.lock().unwrap().to_string())
    }
}

#[tokio::test]
async fn facts_are_stale_while_their_source_differs() {
    let (old, new) = ("Churn means no order for 90 days.", "Churn means no order for 60 days.");
    let text = Arc::new(Changing(Mutex::new(old)));
    let (facts, _) = FactDiscovery::open(None, vec![], Some(text.clone())).await;
    let tools = Arc::new(facts).tools();
    let check = async |answer: &str, stale: bool| {
        let got = tools.call("resolve_fact", json!({"question": "What is churn?"})).await.unwrap().into_json();
        assert_eq!((&got["answer"], &got["needs_clarification"]), (&json!(answer), &json!(stale)), "{got:#}");
        assert_eq!((got["sources"][0]["stale"] == true, got.get("note").is_some()), (stale, stale), "{got:#}");
    };
    let extract = async || tools.call("extract_facts_from_text", json!({"source": "rules#Churn"})).await.unwrap();
    extract().await;
    check(old, false).await;
    *text.0.lock().unwrap() = new;
    check(old, true).await;
    extract().await;
    check(new, false).await;
    let missing = tools.call("extract_facts_from_text", json!({"source": "rules#Nothing"})).await.unwrap_err();
    assert_eq!(missing.to_json()["error"], "invalid_arguments");
}

#[tokio::test]
async fn rejects_invalid_arguments() {
    let tools = tools(None, vec![]).await;
    let invalid = |message: &str| json!({"error": "invalid_arguments", "message": message});
    check(&tools, "add_fact", json!({"term": " ", "definition": "x"}), invalid("the term is empty")).await;
    check(&tools, "add_fact", json!({"term": "x", "definition": "?"}), invalid("the definition is empty")).await;
    check(
        &tools,
        "add_fact",
        json!({"term": "x", "definition": "y", "confidence": 7}),
        invalid("the confidence is not between 0 and 1"),
    )
    .await;
    let empty = tools.call("resolve_fact", json!({"question": " ? "})).await.unwrap_err().to_json();
    assert_eq!(empty["error"], "invalid_arguments");
}

#[tokio::test]
async fn damaged_store_does_not_affect_other_sources() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.db");
    std::fs::write(&path, vec![b'x'; 4096]).unwrap();
    let catalog = vec![Fact::new("zone", "An area.", Origin::Catalog)];
    let (facts, problems) = FactDiscovery::open(Some(path.clone()), catalog, None).await;
    assert_eq!(problems.len(), 1);
    assert!(problems[0].place.ends_with("facts.db") && problems[0].advice.is_some(), "{problems:?}");
    assert_eq!(facts.records().len(), 1);
    let tools = Arc::new(facts).tools();
    let zone = tools.call("resolve_fact", json!({"question": "zone"})).await.unwrap().into_json();
    assert_eq!(zone["answer"], "An area.");
    assert!(zone["note"].as_str().unwrap().contains("the fact store cannot be read"), "{zone}");
    let refused = tools.call("add_fact", json!({"term": "a", "definition": "b"})).await.unwrap_err().to_json();
    assert_eq!(refused["error"], "unavailable");
    assert_eq!(std::fs::read(&path).unwrap(), vec![b'x'; 4096]);
}

#[tokio::test]
async fn other_processes_see_new_facts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.db");
    let (one, two) = (tools(Some(&path), vec![]).await, tools(Some(&path), vec![]).await);
    check(&two, "list_known_facts", json!({}), json!([])).await;
    assert!(!path.exists());
    one.call("add_fact", json!({"term": "zone", "definition": "An area."})).await.unwrap();
    let seen = two.call("resolve_fact", json!({"question": "define zone"})).await.unwrap().into_json();
    assert_eq!(seen["answer"], "An area.");
    let (three, _) = FactDiscovery::open(Some(path), vec![], None).await;
    assert_eq!(three.records()[0].description, "An area.");
}

#[tokio::test]
async fn reports_invalid_catalog_facts() {
    let fact = |term: &str, text: &str| Fact::new(term, text, Origin::Catalog);
    let catalog = vec![fact("", "x"), fact("zone", "One."), fact("zones", "Two."), fact("zone", "One.")];
    let (facts, problems) = FactDiscovery::open(None, catalog, None).await;
    let reasons: Vec<&str> = problems.iter().map(|p| p.reason.as_str()).collect();
    assert_eq!(reasons, ["the term is empty", "the term has several definitions"]);
    assert_eq!(facts.facts().await.unwrap().len(), 2);
}
