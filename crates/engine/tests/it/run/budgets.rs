//! Size limits: answers and the rows of sources are limited in bytes, and nothing is truncated silently.

use prospector_engine::options::{Limits, SubsetMemory};
use prospector_engine::scope::Subset;
use prospector_engine::{FailureCode, tools};
use serde_json::json;

use crate::support::{files, source, sqlite};

/// A hundred rows with a text of a thousand bytes each.
const NOTES: &str = "CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT); \
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) \
     INSERT INTO notes SELECT i, printf('%.*c', 1000, 'x') FROM n;";

/// Checks the number of rows of a query with these limits, or its code and message.
async fn check(sql: &str, limits: Limits, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let sources =
        vec![source("shop", sqlite(folder.path(), NOTES).await).await, source("crm", files(folder.path())).await];
    let said = match super::limited(sources, limits).run(sql, None, 1000).await {
        Ok(outcome) => format!("{} rows", outcome.rows.rows.len()),
        Err(failure) => format!("{}: {failure}", failure.code),
    };
    assert!(said.contains(expected), "{sql}: {said}");
}

#[tokio::test]
async fn reports_the_column_that_exceeds_a_size_limit() {
    let joined = "SELECT p.id, n.Note, n.note AS again FROM shop.notes n JOIN crm.people p ON p.id <= n.id";
    let usual = Limits::default();
    check(joined, usual.clone(), "297 rows").await;
    let cells = |most| Limits { cell_bytes: most, ..Limits::default() };
    check(joined, cells(1000), "297 rows").await;
    check(joined, cells(999), "too_large: a value of the column note has more than 999 bytes").await;
    check(joined, cells(999), "left(\"note\", 1000)").await;
    let list = "SELECT array_agg(n.note) AS all_notes FROM shop.notes n, crm.people p";
    check(list, usual.clone(), "1 rows").await;
    check(list, cells(300_000), "too_large: a value of the column all_notes").await;
    let answers = |most| Limits { answer_bytes: most, ..Limits::default() };
    check(joined, answers(700_000), "297 rows").await;
    check(joined, answers(300_000), "too_large: the answer has more than 300000 bytes, most of them in the column")
        .await;
    // Columns that are not selected do not count.
    check(&joined.replace("n.note AS again", "length(n.note)").replace("n.Note, ", ""), answers(10_000), "297 rows")
        .await;
}

#[tokio::test]
async fn reports_the_source_that_exceeds_the_memory_limit() {
    let joined = "SELECT count(*) FROM shop.notes n JOIN crm.people p ON p.id = n.id WHERE n.note <> ''";
    check(joined, Limits::default(), "1 rows").await;
    let few = Limits { source_bytes: 90_000, ..Limits::default() };
    let said = "the required rows of shop.notes take more than";
    check(&joined.replace("p.id = n.id", "p.id < n.id"), few, said).await;
}

#[tokio::test]
async fn subsets_share_the_memory_of_all_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let sources = vec![source("shop", sqlite(folder.path(), NOTES).await).await];
    let options = prospector_engine::options::EngineOptions {
        subsets: SubsetMemory::new(300_000),
        limits: Limits { source_bytes: 1 << 20, ..Limits::default() },
        ..Default::default()
    };
    let engine = prospector_engine::Engine::with(sources, options);
    let other = engine.session();
    let load = |alias: &str| Subset::new(alias, "shop", "notes");
    engine.load(&load("a")).await.unwrap();
    other.load(&load("a")).await.unwrap();
    let full = other.load(&load("b")).await.unwrap_err();
    assert_eq!((full.code, full.message.contains("all sessions")), (FailureCode::Memory, true), "{full}");
    // Memory of an unloaded subset, or of a dropped session, is available to others.
    assert!(engine.unload("a"));
    other.load(&load("b")).await.unwrap();
    drop(other);
    engine.load(&load("a")).await.unwrap();
    engine.session().load(&load("a")).await.unwrap();
}

#[tokio::test]
async fn rejects_long_questions() {
    let folder = tempfile::tempdir().unwrap();
    let engine = super::limited(vec![source("crm", files(folder.path())).await], Limits::default());
    for (characters, is_accepted) in [(1_000, true), (1_001, false)] {
        let query = json!({"question": "ä".repeat(characters), "sql": "SELECT count(*) FROM people"});
        let answer = tools(&engine).call("execute_sql", json!({"queries": [query]})).await;
        assert_eq!(answer.is_ok(), is_accepted, "{characters}");
    }
}

#[tokio::test]
async fn limits_the_bytes_of_a_subset() {
    let folder = tempfile::tempdir().unwrap();
    let sources = vec![source("shop", sqlite(folder.path(), NOTES).await).await];
    let engine = super::limited(sources, Limits { source_bytes: 90_000, ..Limits::default() });
    let much = engine.load(&Subset::new("a", "shop", "notes")).await.unwrap_err();
    assert_eq!(much.code, FailureCode::TooLarge, "{much}");
    let few = Subset { limit: 50, ..Subset::new("a", "shop", "notes") };
    assert_eq!(engine.load(&few).await.unwrap().row_count, 50);
    assert_eq!(json!(engine.run("SELECT count(*) FROM a", None, 5).await.unwrap().rows.rows), json!([[50]]));
}
