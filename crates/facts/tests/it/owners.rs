//! Facts of several owners: visibility, attribution and approval.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use prospector_core::Owner;
use prospector_facts::{
    Fact, FactDiscovery,
    evidence::{Evidence, Passage},
    model::{Keeping, Origin},
    review::Review,
};
use serde_json::{Value, json};

/// A source with one sentence that defines VIP customers.
struct Handbook;

#[async_trait]
impl Evidence for Handbook {
    fn passages(&self) -> Vec<Passage> {
        vec![Passage {
            source_type: "document".into(),
            name: "handbook#Customers".into(),
            text: "A VIP customer is a customer whose total spending is at least 45.00.".into(),
            heading: "Customers".into(),
        }]
    }
}

async fn open(store: Option<&Path>) -> FactDiscovery {
    let (facts, problems) = FactDiscovery::open(store.map(Path::to_owned), vec![], Some(Arc::new(Handbook))).await;
    assert!(problems.is_empty(), "{problems:?}");
    facts
}

fn owner(name: &str) -> Owner {
    Owner::new(format!("id-of-{name}"), name)
}

/// Returns the views of two owners whose facts need approval.
fn two(facts: &FactDiscovery) -> [FactDiscovery; 2] {
    ["ann", "ben"].map(|name| facts.seen_by(owner(name), Keeping::Apart))
}

async fn add(facts: &FactDiscovery, term: &str, definition: &str) -> Fact {
    facts.add(Fact { confidence: 0.95, ..Fact::new(term, definition, Origin::User) }).await.unwrap().fact
}

async fn definitions(facts: &FactDiscovery) -> Vec<String> {
    facts.facts().await.unwrap().into_iter().map(|fact| fact.definition).collect()
}

#[tokio::test]
async fn pending_facts_are_private_until_approved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.sqlite");
    let facts = open(Some(&path)).await;
    let [ann, ben] = two(&facts);
    assert!(add(&ann, "churn", "No order for 90 days.").await.pending);
    assert!(add(&ben, "churn", "No order for 10 days.").await.pending);
    assert_eq!(definitions(&ann).await, ["No order for 90 days."]);
    assert_eq!(definitions(&ben).await, ["No order for 10 days."]);
    assert!(definitions(&facts).await.is_empty(), "nobody else sees either");
    assert_eq!(ann.resolve("What is churn?").await.answer.as_deref(), Some("No order for 90 days."));
    assert!(facts.resolve("What is churn?").await.answer.is_none());
    // Only shared facts are indexed and listed in maps.
    assert!(facts.records().is_empty());
    assert_eq!(ann.records().len(), 1);

    let review = Review::new(path);
    let waiting = review.facts().await.unwrap();
    assert!(waiting.iter().all(|fact| fact.pending), "{waiting:?}");
    let of_ann = waiting.iter().find(|fact| fact.said_by == "ann").unwrap();
    let approved = review.approve(&of_ann.id).await.unwrap().unwrap();
    assert!(!approved.pending);
    assert_eq!(definitions(&facts).await, ["No order for 90 days."]);
    // Ben keeps his own fact, which takes precedence.
    assert_eq!(ben.resolve("What is churn?").await.sources[0].source_type, "user");
    let seen = ben.facts().await.unwrap();
    let of_ann = seen.iter().find(|fact| fact.said_by == "ann").unwrap();
    assert_eq!((of_ann.source.as_str(), of_ann.confidence), ("said by ann", 0.9));
    assert!(ann.facts().await.unwrap().iter().all(|fact| fact.said_by.is_empty() && !fact.pending));
}

#[tokio::test]
async fn facts_of_other_users_are_labelled_and_do_not_override_documents() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.sqlite");
    let facts = open(Some(&path)).await;
    let [ann, ben] = two(&facts);
    add(&ann, "VIP customer", "A customer whose total spending is at least 1.00.").await;
    let own = ann.resolve("What is a VIP customer?").await;
    assert_eq!(own.answer.as_deref(), Some("A customer whose total spending is at least 1.00."));
    let review = Review::new(path);
    let id = review.facts().await.unwrap()[0].id.clone();
    review.approve(&id).await.unwrap().unwrap();

    let seen = ben.resolve("What is a VIP customer?").await;
    let said = serde_json::to_value(&seen).unwrap();
    assert_eq!(said["needs_clarification"], true, "{said}");
    let sources = said["sources"].as_array().unwrap();
    let of_ann = sources.iter().find(|source| source["name"] == "said by ann").unwrap_or_else(|| panic!("{said}"));
    assert_eq!(of_ann["type"], "other_user");
    assert!(sources.iter().any(|source| source["type"] == "document"), "{said}");
    assert!(!sources.iter().any(|source| source["type"] == "user"), "{said}");
}

#[tokio::test]
async fn author_cannot_impersonate_another_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.sqlite");
    let facts = open(Some(&path)).await;
    let [ann, ben] = two(&facts);
    let fact =
        Fact { source: "handbook#Customers".into(), ..Fact::new("gold member", "Anyone who asks.", Origin::User) };
    ann.add(fact).await.unwrap();
    let review = Review::new(path);
    review.approve(&review.facts().await.unwrap()[0].id).await.unwrap().unwrap();
    let seen = ben.resolve("What is a gold member?").await;
    assert_eq!(seen.sources[0].name, "said by ann, citing handbook#Customers");
}

#[tokio::test]
async fn single_user_facts_are_shared_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.sqlite");
    let facts = open(Some(&path)).await;
    let sole = facts.seen_by(owner("ann"), Keeping::ForAll);
    assert!(!add(&sole, "churn", "No order for 90 days.").await.pending);
    assert_eq!(definitions(&facts).await, ["No order for 90 days."]);
    add(&facts, "zone", "An area.").await;
    let seen = sole.facts().await.unwrap();
    assert!(seen.iter().all(|fact| fact.said_by.is_empty() && fact.confidence == 0.95), "{seen:?}");
    let said: Vec<(String, String)> =
        Review::new(path).facts().await.unwrap().into_iter().map(|fact| (fact.fact.term, fact.said_by)).collect();
    assert_eq!(said, [("churn".into(), "ann".into()), ("zone".into(), "the local user".to_owned())]);
}

#[tokio::test]
async fn open_questions_are_private() {
    let facts = open(None).await;
    let [ann, ben] = two(&facts);
    assert!(ann.resolve("What is a flurb?").await.needs_clarification);
    assert_eq!(ann.open_questions().await.unwrap().len(), 1);
    assert!(ben.open_questions().await.unwrap().is_empty());
    // Ben's facts answer his questions, and do not close those of others.
    let added = ben.add(Fact::new("flurb", "A thing.", Origin::User)).await.unwrap();
    assert!(added.answers.is_empty(), "{added:?}");
    assert_eq!(ann.open_questions().await.unwrap().len(), 1);
    let answered = ann.add(Fact::new("flurb", "Another thing.", Origin::User)).await.unwrap();
    assert_eq!(answered.answers, ["What is a flurb?"]);
}

#[tokio::test]
async fn does_not_approve_facts_changed_since_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.sqlite");
    let facts = open(Some(&path)).await;
    let [ann, _] = two(&facts);
    let review = Review::new(path);
    add(&ann, "churn", "Harmless.").await;
    let shown = review.facts().await.unwrap()[0].id.clone();
    add(&ann, "churn", "Something else.").await;
    assert_eq!(review.approve(&shown).await.unwrap(), None);
    assert_eq!(review.remove(&shown).await.unwrap(), None);
    let now = review.facts().await.unwrap()[0].id.clone();
    assert!(review.remove(&now).await.unwrap().is_some());
    assert!(definitions(&ann).await.is_empty() && review.facts().await.unwrap().is_empty());
    assert_eq!(review.approve("0000000000000000").await.unwrap(), None);
}

#[tokio::test]
async fn tools_report_pending_facts() {
    let facts = open(None).await;
    let [ann, ben] = two(&facts).map(|view| Arc::new(view).tools());
    let said: Value = ann
        .call("add_fact", json!({"term": "churn", "definition": "No order for 90 days."}))
        .await
        .unwrap()
        .into_json();
    assert_eq!(said["pending"], true, "{said}");
    let listed = ann.call("list_known_facts", json!({})).await.unwrap().into_json();
    assert_eq!(listed[0]["pending"], true, "{listed}");
    let of_ben = ben.call("list_known_facts", json!({"contains": "churn"})).await.unwrap().into_json();
    assert_eq!(of_ben["items"], json!([]), "{of_ben}");
    assert!(!of_ben.to_string().contains("90 days"));
}
