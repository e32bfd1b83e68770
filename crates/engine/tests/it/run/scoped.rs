//! Loaded subsets.

use prospector_connect::filter::FilterCondition;
use prospector_engine::scope::Subset;
use prospector_engine::{Engine, tools};
use serde_json::{Value, json};

use crate::support::{DATA, files, source, sqlite};

async fn check(engine: &Engine, sql: &str, expected: Value) {
    let answer = match engine.run(sql, None, 50).await {
        Ok(outcome) => json!(outcome.rows.rows),
        Err(failure) => json!(failure.code),
    };
    assert_eq!(answer, expected, "{sql}");
}

fn conditions(value: Value) -> Vec<FilterCondition> {
    serde_json::from_value(value).unwrap()
}

#[tokio::test]
async fn subset_is_visible_in_its_session_only() {
    let folder = tempfile::tempdir().unwrap();
    let sources =
        vec![source("shop", sqlite(folder.path(), DATA).await).await, source("crm", files(folder.path())).await];
    let engine = super::over(sources);
    let subset = Subset {
        conditions: conditions(json!([{"column": "ID", "op": "gte", "value": 2}])),
        ..Subset::new("Late", "shop", "People")
    };
    let loaded = engine.load(&subset).await.unwrap();
    assert_eq!((loaded.alias.as_str(), loaded.row_count, loaded.truncated), ("late", 2, false));
    assert_eq!(loaded.first.rows, [[json!(2), json!("Bob")], [json!(3), json!("Cyd")]]);

    check(&engine, "SELECT Name FROM scoped.late ORDER BY id", json!([["Bob"], ["Cyd"]])).await;
    check(&engine, "SELECT late.name FROM LATE WHERE scoped.late.id = 3", json!([["Cyd"]])).await;
    let joined = "SELECT l.name, p.name FROM scoped.late l JOIN crm.people p ON p.id = l.id ORDER BY 1 LIMIT 1";
    check(&engine, joined, json!([["Bob", "Bob"]])).await;
    let outcome = engine.run(joined, Some("crm"), 50).await.unwrap();
    assert_eq!(outcome.tables, ["crm.people", "shop.people"]);
    assert_eq!(outcome.databases, ["crm", "shop"]);

    // An alias takes precedence over a table of that name, until it is unloaded.
    let first = Subset { limit: 1, ..Subset::new("people", "crm", "people") };
    assert!(engine.load(&first).await.unwrap().truncated);
    check(&engine, "SELECT count(*) FROM people", json!([[1]])).await;
    check(&engine, "SELECT count(*) FROM shop.people", json!([[3]])).await;
    let reconciled = "SELECT l.id FROM late l WHERE NOT EXISTS (SELECT 1 FROM scoped.people p WHERE p.id = l.id)";
    check(&engine, reconciled, json!([[2], [3]])).await;

    let other = engine.session();
    check(&other, "SELECT name FROM scoped.late", json!("unknown_table")).await;
    assert!(engine.unload("LATE"));
    check(&engine, "SELECT name FROM scoped.late", json!("unknown_table")).await;
}

#[tokio::test]
async fn compares_thousands_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let sql = "CREATE TABLE a (id INTEGER, total NUMERIC(10,2)); CREATE TABLE b (id INTEGER, total NUMERIC(10,2)); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) \
         INSERT INTO a SELECT i, i * 0.5 FROM n; \
         INSERT INTO b SELECT id, CASE WHEN id % 4000 = 0 THEN total + 1 ELSE total END FROM a WHERE id <> 7;";
    let engine = super::over(vec![source("shop", sqlite(folder.path(), sql).await).await]);
    for alias in ["a", "b"] {
        let subset = Subset { limit: 50_000, ..Subset::new(format!("{alias}_all"), "shop", alias) };
        let loaded = engine.load(&subset).await.unwrap();
        assert!(loaded.row_count > 11_000 && !loaded.truncated, "{}", loaded.row_count);
    }
    let sql = "SELECT a.id FROM scoped.a_all a LEFT JOIN scoped.b_all b ON b.id = a.id \
         WHERE b.id IS NULL OR b.total <> a.total ORDER BY 1";
    check(&engine, sql, json!([[7], [4000], [8000], [12000]])).await;
}

#[tokio::test]
async fn tool_returns_preview_and_failures() {
    let folder = tempfile::tempdir().unwrap();
    let engine = super::over(vec![source("shop", sqlite(folder.path(), DATA).await).await]);
    let tools = tools(&engine);
    let answer = tools
        .call("load_scoped", json!({"alias": "two", "database": "shop", "table": "people", "limit": 2}))
        .await
        .unwrap();
    assert_eq!(answer.json()["rows_loaded"], 2);
    assert_eq!(answer.json()["truncated"], true);
    assert!(answer.json()["advice"].as_str().unwrap().contains("scoped.two"), "{}", answer.json());
    let revealed: Vec<String> = answer.reveals().iter().map(ToString::to_string).collect();
    assert_eq!(revealed, ["database `shop`", "table `shop.people`"]);

    let injected = json!([{"column": "name", "op": "eq", "value": "x' OR '1'='1"}]);
    for (args, error) in [
        (json!({"alias": "two words", "database": "shop", "table": "people"}), "invalid_arguments"),
        (json!({"alias": "a", "database": "shop", "table": "poeple"}), "unknown_table"),
        (json!({"alias": "a", "database": "shop", "table": "secret"}), "unknown_table"),
        (json!({"alias": "a", "database": "shop", "table": "people", "columns": ["nam"]}), "unknown_column"),
        (json!({"alias": "a", "database": "shop", "table": "people", "limit": 1000000}), "too_large"),
    ] {
        let wrong = tools.call("load_scoped", args).await.unwrap_err().to_json();
        assert_eq!(wrong["error"], error, "{wrong}");
        assert!(wrong["suggestion"].is_string(), "{wrong}");
    }
    let none = tools
        .call("load_scoped", json!({"alias": "none", "database": "shop", "table": "people", "conditions": injected}))
        .await
        .unwrap();
    assert_eq!(none.json()["rows_loaded"], 0);
    check(&engine, "SELECT count(*) FROM none", json!([[0]])).await;

    // A lone alias also names the table to load.
    let conditions = json!([{"column": "name", "op": "like", "value": "%"}]);
    for alias in ["people", "shop.people"] {
        let loaded = tools.call("load_scoped", json!({"alias": alias, "conditions": conditions})).await.unwrap();
        assert_eq!((&loaded.json()["alias"], &loaded.json()["table"]), (&json!("people"), &json!("people")));
    }
    let unknown = tools.call("load_scoped", json!({"alias": "nobody", "conditions": []})).await.unwrap_err().to_json();
    assert_eq!(unknown["error"], "invalid_arguments");
}
