//! Streamed answers: every row once, and no more than the receiver accepts.

use std::sync::Arc;

use prospector_connect::Connector;
use prospector_engine::Engine;
use prospector_engine::query::Rows;
use prospector_test_support::server;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::{files, source, sqlite};

/// Returns a query for the numbers from 0 with a text: a few megabytes.
fn numbers(count: usize) -> String {
    format!(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {}) \
         SELECT i, '0123456789012345678901234567890123456789012345678901234567890123456789' AS t FROM n",
        count - 1
    )
}

/// Returns the blocks of an answer, and checks the outcome.
async fn stream(engine: &Arc<Engine>, sql: &str, database: Option<&str>, limit: Option<usize>) -> Vec<Rows> {
    let (sender, mut receiver) = mpsc::channel(2);
    let read = async move {
        let read = engine.stream(sql, database, limit, &sender).await;
        drop(sender);
        read
    };
    let collect = async {
        let mut blocks = Vec::new();
        while let Some(block) = receiver.recv().await {
            blocks.push(block);
        }
        blocks
    };
    let (read, blocks) = tokio::join!(read, collect);
    read.unwrap();
    blocks
}

/// Checks that an answer of this many rows arrives completely, in several blocks, and stops at a limit.
async fn check(engine: &Arc<Engine>, sql: &str, database: Option<&str>, count: usize) {
    let blocks = stream(engine, sql, database, None).await;
    assert!(blocks.len() > 2, "{} blocks", blocks.len());
    assert!(blocks.iter().all(|block| block.columns == ["i", "t"] && !block.has_more), "{sql}");
    let mut found: Vec<i64> = blocks.iter().flat_map(|block| &block.rows).filter_map(|row| row[0].as_i64()).collect();
    found.sort_unstable();
    assert_eq!(found, (0..count as i64).collect::<Vec<_>>());
    for limit in [0, 1, count - 1, count] {
        let blocks = stream(engine, sql, database, Some(limit)).await;
        let rows: usize = blocks.iter().map(|block| block.rows.len()).sum();
        assert_eq!((rows, blocks.last().unwrap().has_more), (limit, limit < count), "{sql}: {limit}");
    }
    // Dropping the receiver ends the query.
    let (sender, receiver) = mpsc::channel(1);
    drop(receiver);
    engine.stream(sql, database, None, &sender).await.unwrap();
}

#[tokio::test]
async fn streams_every_row_of_a_source_once() {
    let folder = tempfile::tempdir().unwrap();
    let connector = sqlite(folder.path(), "CREATE TABLE people (id INTEGER)").await;
    let engine = super::over(vec![source("shop", connector).await]);
    check(&engine, &numbers(40_000), Some("shop"), 40_000).await;
}

#[tokio::test]
async fn streams_every_row_of_files_once() {
    let folder = tempfile::tempdir().unwrap();
    let engine = super::over(vec![source("crm", files(folder.path())).await]);
    let text = "0123456789".repeat(7);
    let tens = "(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 \
                UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)";
    let crossed = format!(
        "SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS i, '{text}' AS t FROM {tens} a CROSS JOIN {tens} b \
         CROSS JOIN {tens} c CROSS JOIN {tens} e CROSS JOIN (SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2) f"
    );
    check(&engine, &crossed, None, 30_000).await;
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn streams_every_row_of_a_server_once() {
    let data = "CREATE TABLE people (id INTEGER)";
    if let Some(url) = server("PROSPECTOR_TEST_POSTGRES") {
        let (_, connector) = crate::support::postgres(&url, "engine_streamed", data).await;
        check_server(connector, &numbers(40_000)).await;
    }
    if let Some(url) = server("PROSPECTOR_TEST_MARIADB") {
        let (_, connector) = crate::support::mariadb(&url, "engine_streamed", data).await;
        // MariaDB limits the depth of a recursion to a thousand.
        let thousand = numbers(200);
        let sql = format!("SELECT a.i + 200 * b.i AS i, a.t AS t FROM ({thousand}) a CROSS JOIN ({thousand}) b");
        check_server(connector, &sql).await;
    }
}

async fn check_server(connector: Arc<dyn Connector>, sql: &str) {
    let engine = super::over(vec![source("shop", connector).await]);
    check(&engine, sql, Some("shop"), 40_000).await;
}

#[tokio::test]
async fn streamed_blocks_equal_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let engine = super::over(vec![source("crm", files(folder.path())).await]);
    let sql = "SELECT name AS Name FROM crm.people ORDER BY name";
    let whole = engine.run(sql, None, 100).await.unwrap();
    let blocks = stream(&engine, sql, None, None).await;
    assert_eq!(blocks, [whole.rows]);
    let none = stream(&engine, "SELECT name FROM crm.people WHERE name = 'nobody'", None, None).await;
    assert_eq!(
        (none.len(), none[0].columns.as_slice(), none[0].rows.as_slice()),
        (1, &["name".to_owned()][..], &[][..] as &[Vec<Value>])
    );
    let shown = engine.run("SHOW TABLES", None, 10).await.unwrap();
    assert_eq!(shown.rows.rows[0][..2], [json!("crm"), json!("people")]);
}
