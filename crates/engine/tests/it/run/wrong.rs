//! Failures and their suggestions, and truncated answers.

use std::sync::Arc;

use async_trait::async_trait;
use prospector_connect::error::Cause;
use prospector_connect::rows::{Rows, SampleRequest, Samples, SqlQuery, Statistics};
use prospector_connect::source::SourceKind;
use prospector_connect::table::Table;
use prospector_connect::{ConnectError, Connector};
use prospector_core::Problem;
use prospector_engine::{Engine, Source, tools};
use prospector_test_support::server;
use serde_json::{Value, json};

use crate::support::{DATA, files, source, sqlite};

/// A server that fails every query with this reason.
struct Failing(Cause, &'static str);

#[async_trait]
impl Connector for Failing {
    fn kind(&self) -> SourceKind {
        SourceKind::Postgres
    }

    async fn describe(&self) -> Result<(Vec<Table>, Vec<Problem>), ConnectError> {
        Ok((vec![Table { name: "people".into(), ..Table::default() }], Vec::new()))
    }

    async fn sample(&self, _: &str, _: &str, _: &SampleRequest) -> Result<Samples, ConnectError> {
        Ok(Samples::default())
    }

    async fn statistics(&self, _: &str, _: &[String]) -> Result<Vec<Statistics>, ConnectError> {
        Ok(Vec::new())
    }

    async fn query(&self, _: &SqlQuery<'_>, _: usize) -> Result<Rows, ConnectError> {
        Err(ConnectError::read("x", "the answer", self.0, self.1))
    }
}

/// Returns the answer of `execute_sql` to one query.
async fn answer(engine: &Arc<Engine>, sql: &str) -> (Value, usize) {
    let answer = tools(engine).call("execute_sql", json!({"queries": [{"question": "?", "sql": sql}]})).await.unwrap();
    (answer.json()[0].clone(), answer.reveals().len())
}

async fn check(engine: &Arc<Engine>, sql: &str, error: &str, suggestion: &str) {
    let (answer, revealed) = answer(engine, sql).await;
    assert_eq!(answer["error"], error, "{sql}: {answer:#}");
    assert!(answer["message"].is_string(), "{sql}: {answer:#}");
    assert!(answer["suggestion"].as_str().unwrap().contains(suggestion), "{sql}: {answer:#}");
    assert_eq!(revealed, 0, "{sql}");
}

#[tokio::test]
async fn suggests_a_fix_for_an_invalid_query() {
    let folder = tempfile::tempdir().unwrap();
    let engine = super::over(vec![
        source("shop", sqlite(folder.path(), DATA).await).await,
        source("crm", files(folder.path())).await,
    ]);
    check(&engine, "SELEC name FROM shop.people", "syntax", "`SELECT` instead of `SELEC`").await;
    check(&engine, "SELECT name FROM shop.people WHERE id = 1 ORDR BY name", "syntax", "ORDER").await;
    check(&engine, "SELECT nmae FROM shop.people", "unknown_column", "`people.name`").await;
    check(&engine, "SELECT p.nmae FROM crm.people p", "unknown_column", "`people.name`").await;
    check(&engine, "SELECT * FROM shop.poeple", "unknown_table", "shop.people").await;
    // Unreadable tables are answered like missing ones.
    check(&engine, "SELECT * FROM shop.secret", "unknown_table", "SHOW TABLES").await;
    check(&engine, "SELECT * FROM shop.secrets", "unknown_table", "SHOW TABLES").await;
    check(&engine, "SELECT name FROM crm.people WHERE id > 'x'", "type_mismatch", "CAST").await;
    check(&engine, "SELECT nosuch(id) FROM shop.people", "unknown_function", "function").await;
    // Each source has its own dialect.
    check(&engine, "SELECT YEAR(name) FROM shop.people", "unknown_function", "strftime").await;
    check(&engine, "SELECT YEAR(name) FROM crm.people", "unknown_function", "EXTRACT").await;
}

#[tokio::test]
async fn suggests_a_fix_for_a_server_error() {
    for (cause, reason, error, suggestion) in [
        (Cause::TimedOut, "it took too long and was stopped", "timeout", "WHERE"),
        (Cause::TimedOut, "storniere Anfrage wegen Zeitüberschreitung der Anfrage", "timeout", "WHERE"),
        (Cause::Memory, "out of memory", "memory", "WHERE"),
        (Cause::Gone, "terminating connection due to administrator command", "unavailable", "again"),
        (Cause::TypeMismatch, "operator does not exist: integer = text", "type_mismatch", "CAST"),
        (Cause::OutOfRange, "bigint out of range", "type_mismatch", "DECIMAL(38, 0)"),
        (Cause::Refused, "permission denied for table people", "refused", "read-only"),
    ] {
        let tables = vec![prospector_connect::table::Table { name: "people".into(), ..Default::default() }];
        let connector = Arc::new(Failing(cause, reason));
        let engine = super::over(vec![Source { name: "shop".into(), tables, functions: Vec::new(), connector }]);
        check(&engine, "SELECT 1 FROM people", error, suggestion).await;
    }
}

#[tokio::test]
async fn a_locked_file_is_unavailable() {
    let tables = vec![Table { name: "people".into(), ..Table::default() }];
    let connector = Arc::new(Failing(Cause::Locked, "the file is locked"));
    let engine = super::over(vec![Source { name: "shop".into(), tables, functions: Vec::new(), connector }]);
    let (answer, _) = answer(&engine, "SELECT 1 FROM people").await;
    assert_eq!(answer["error"], "unavailable", "{answer:#}");
    assert_eq!(answer["message"], "cannot read the answer of x: the file is locked", "{answer:#}");
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn postgres_errors_have_suggestions() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let (_, connector) = crate::support::postgres(&url, "engine_wrong", DATA).await;
    let engine = super::over(vec![source("shop", connector).await]);
    check(&engine, "SELECT nmae FROM shop.people", "unknown_column", "`people.name`").await;
    check(&engine, "SELECT 1 FROM shop.people WHERE name = 5", "type_mismatch", "CAST").await;
    check(&engine, "SELECT nosuch(id) FROM shop.people", "unknown_function", "function").await;
}

#[tokio::test]
async fn truncates_a_long_answer_with_a_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    let data = "CREATE TABLE t (id INTEGER, note TEXT); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) \
         INSERT INTO t SELECT i, printf('%.*c', 600, 'x') FROM n;";
    let engine = super::over(vec![source("shop", sqlite(folder.path(), data).await).await]);
    for (sql, rows, has_more, next) in [
        ("SELECT id, id + 1 FROM shop.t ORDER BY id", 50, true, "OFFSET 50"),
        ("SELECT id, id + 1 FROM shop.t ORDER BY id LIMIT 50", 50, false, ""),
        ("SELECT id FROM shop.t ORDER BY id", 100, false, ""),
        ("SELECT note FROM shop.t LIMIT 1", 1, false, "substr"),
        ("SELECT id, note FROM shop.t", 19, true, "WHERE"),
    ] {
        let (answer, revealed) = answer(&engine, sql).await;
        assert_eq!((&answer["row_count"], &answer["has_more"]), (&json!(rows), &json!(has_more)), "{sql}");
        assert!(answer["next"].as_str().unwrap_or_default().contains(next), "{sql}: {}", answer["next"]);
        assert!(answer["rows"].to_string().chars().count() <= 10_000, "{sql}");
        let longest = answer["rows"].as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap());
        assert!(longest.filter_map(Value::as_str).all(|text| text.chars().count() <= 501), "{sql}");
        assert_eq!(revealed, 2, "{sql}");
    }
}
