//! Statements in words: each with the exact sentence, in all dialects.

use prospector_connect::rows::Rows;
use prospector_engine::query::Labels;
use serde_json::json;

use crate::support::described::engine;

mod statements;

/// The natural names of a few columns and codes in every database.
struct Names;

impl Labels for Names {
    fn column(&self, id: &str) -> Option<String> {
        let name = match id.rsplit('.').next()? {
            "invoice_date" => "invoice date",
            "stat_cd" => "status",
            "bill_cntry" => "country",
            _ => return None,
        };
        Some(name.to_owned())
    }

    fn value(&self, column_id: &str, value: &str) -> Option<String> {
        let meaning = match (column_id.rsplit('.').next()?, value) {
            ("stat_cd", "P") => "paid",
            ("stat_cd", "O") => "open",
            _ => return None,
        };
        Some(meaning.to_owned())
    }
}

#[tokio::test]
async fn explains_every_statement_exactly() {
    let engine = engine();
    let rows = Rows {
        columns: vec!["customer_id".into(), "spend".into()],
        rows: vec![vec![json!(1), json!(9.5)]],
        has_more: false,
    };
    engine.keep("step_1", &rows, "step 1").unwrap();
    let all: Vec<_> = statements::ALL.iter().flat_map(|cases| cases.iter()).collect();
    let mut wrong = Vec::new();
    for (sql, expected) in &all {
        let text = match engine.explain(sql, None, &Names).await {
            Ok(text) => text,
            Err(failure) => format!("{}: {failure}", failure.code),
        };
        if text != *expected {
            wrong.push(format!("{sql}\n  is       {text}\n  expected {expected}"));
        }
    }
    assert!(all.len() >= 60, "{}", all.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

#[tokio::test]
async fn limits_long_and_deep_statements() {
    let engine = engine();
    let many = (0..400).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let deep = format!("{}total{}", "CASE WHEN total > 1 THEN ".repeat(30), " ELSE 0 END".repeat(30));
    let columns = (0..300).map(|n| format!("total * {n}")).collect::<Vec<_>>().join(", ");
    for sql in [
        format!("SELECT invoice_id FROM store.invoices WHERE invoice_id IN ({many})"),
        format!("SELECT {deep} FROM store.invoices"),
        format!("SELECT {columns} FROM store.invoices"),
        format!("SELECT 1 FROM store.invoices WHERE {}", vec!["total > 1"; 200].join(" AND ")),
    ] {
        let text = engine.explain(&sql, None, &()).await.unwrap();
        assert!(!text.is_empty() && text.chars().count() <= 1_501, "{} {text}", text.chars().count());
    }
}

#[tokio::test]
async fn rejects_statements_that_may_not_run() {
    let engine = engine();
    assert!(engine.explain("DELETE FROM store.invoices", None, &()).await.is_err());
    assert!(engine.explain("SELECT 1 FROM store.nowhere", None, &()).await.is_err());
}
