//! Measures how many questions with defined terms get their definition, and how many ordinary questions get none.
//!
//! - `facts/sample.jsonl`: 64 questions with terms of the sample catalog and 60 ordinary ones, used to develop the matching.
//! - `facts/terms.jsonl`: 23 and 20 questions on `facts/terms_handbook.md`, held out.
//!
//! `expect` is a part of the definition, usually its end, with `|` between alternatives; empty for ordinary questions.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use prospector_discovery::{Catalog, CatalogOptions};
use prospector_facts::Resolution;
use prospector_search::StaticTable;
use serde::Deserialize;

#[derive(Deserialize)]
struct Question {
    question: String,
    expect: String,
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/facts").join(name)
}

async fn open(catalog: &Path, state: &Path) -> Catalog {
    let options = CatalogOptions {
        state: Some(state.to_owned()),
        embedder: Some(Arc::new(StaticTable::shipped().unwrap())),
        ..CatalogOptions::default()
    };
    Catalog::open(catalog, options).await.unwrap().0
}

/// Returns whether a definition with one of the parts is found or, for ordinary questions, none.
fn is_right(question: &Question, got: &Resolution) -> bool {
    let answer = got.definition.iter().chain(&got.answer);
    let found = answer.chain(got.related.iter().map(|one| &one.definition));
    let found: Vec<String> = found.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let has_part = |part: &str| found.iter().any(|text| text.contains(part));
    match question.expect.as_str() {
        "" => found.is_empty() && !got.needs_clarification,
        expect => !got.needs_clarification && expect.split('|').any(has_part),
    }
}

/// Fails if more than one in ten definitions is missed, or more than one in thirty ordinary questions gets one.
async fn check(catalog: &Catalog, asked: &str) {
    let text = fs::read_to_string(data(asked)).unwrap();
    let (mut missed, mut wrong, mut times) = (Vec::new(), Vec::new(), Vec::new());
    let (mut terms, mut ordinary) = (0, 0);
    for line in text.lines() {
        let question: Question = serde_json::from_str(line).unwrap();
        let started = Instant::now();
        let got = catalog.facts.resolve(&question.question).await;
        times.push(started.elapsed());
        let (count, failed) =
            if question.expect.is_empty() { (&mut ordinary, &mut wrong) } else { (&mut terms, &mut missed) };
        *count += 1;
        if !is_right(&question, &got) {
            failed.push(format!("{}: {got:?}", question.question));
        }
    }
    times.sort();
    let median = times[times.len() / 2];
    println!(
        "{asked}: {} of {terms} definitions found, none for {} of {ordinary} ordinary questions, median {median:?}:\n{}\n{}",
        terms - missed.len(),
        ordinary - wrong.len(),
        missed.join("\n"),
        wrong.join("\n")
    );
    assert!(missed.len() * 10 <= terms && wrong.len() * 30 <= ordinary);
    assert!(median < Duration::from_millis(100), "{median:?}");
}

#[tokio::test]
async fn finds_whole_definitions_in_the_sample() {
    let state = tempfile::tempdir().unwrap();
    let catalog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog/catalog.yaml");
    check(&open(&catalog, state.path()).await, "sample.jsonl").await;
}

#[tokio::test]
async fn finds_whole_definitions_in_a_handbook() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(data("terms_handbook.md"), folder.path().join("handbook.md")).unwrap();
    let catalog = folder.path().join("catalog.yaml");
    fs::write(&catalog, "documents:\n- {name: handbook, path: handbook.md}\n").unwrap();
    check(&open(&catalog, &folder.path().join("state")).await, "terms.jsonl").await;
}
