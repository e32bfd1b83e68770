//! Size limits of PostgreSQL messages for every statement: errors with detail, hint and context, notices, and rows of
//! many values.

use std::process::Command;
use std::sync::Arc;

use prospector_connect::error::Cause;
use prospector_connect::{ConnectError, Connector};
use serde_json::json;

use crate::postgres_sessions::made;
use crate::support::{connector, query};

/// Functions and types whose errors and notices quote a whole text.
const FUNCTIONS: &str = "
    CREATE TYPE mood AS ENUM ('sad');
    CREATE TABLE t (c text); INSERT INTO t SELECT repeat('x', 20000000);
    CREATE FUNCTION fail(message text, detail text, hint text) RETURNS int LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION USING MESSAGE = message, DETAIL = detail, HINT = hint, ERRCODE = 'P0042'; END $$;
    CREATE FUNCTION fail_of(name text) RETURNS int LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION USING MESSAGE = 'short', TABLE = name, COLUMN = name, CONSTRAINT = name, DATATYPE = name,
            SCHEMA = name; END $$;
    CREATE FUNCTION notify(message text) RETURNS int LANGUAGE plpgsql AS $$
        BEGIN RAISE NOTICE '%', message; RAISE WARNING '%', message; RETURN 1; END $$;
    CREATE FUNCTION run(statement text) RETURNS int LANGUAGE plpgsql AS $$
        BEGIN EXECUTE statement; RETURN 1; END $$";

/// Returns statements that fail with a text of that many letters, each with its SQLSTATE.
fn failing(letters: usize) -> Vec<(String, &'static str)> {
    let text = format!("repeat('x', {letters})");
    // Not constant for the planner.
    let from = format!("FROM (SELECT repeat('x', n) AS c FROM generate_series({letters}, {letters}) n) s");
    let literal = "x".repeat(letters.min(5_000_000));
    vec![
        // While parsing.
        (format!("SELECT '{literal}"), "42601"),
        (format!("SELECT '{literal}'::int"), "22P02"),
        (format!("SELECT nosuch('{literal}')"), "42883"),
        // While planning, because the value is constant.
        (format!("SELECT {text}::date"), "22007"),
        (format!("SELECT {text}::int"), "22P02"),
        (format!("SELECT {text}::uuid"), "22P02"),
        (format!("SELECT 1 WHERE {text}::mood = 'sad'"), "22P02"),
        (format!("SELECT repeat('ä', {})::numeric", letters / 2), "22P02"),
        // While executing.
        (format!("SELECT c::date {from}"), "22007"),
        (format!("SELECT c::inet {from}"), "22P02"),
        (format!("SELECT c::mood {from}"), "22P02"),
        (format!("SELECT c::regclass {from}"), "42P01"),
        (format!("SELECT current_setting(c) {from}"), "42704"),
        (format!("SELECT now() AT TIME ZONE c {from}"), "22023"),
        (format!("SELECT ('[' || c)::jsonb {from}"), "22P02"),
        ("SELECT c::interval FROM t".to_owned(), "22007"),
        // Raised by a function with its own texts.
        (format!("SELECT fail(c, 'b', 'c') {from}"), "P0042"),
        (format!("SELECT fail('a', c, 'c') {from}"), "P0042"),
        (format!("SELECT fail('a', 'b', c) {from}"), "P0042"),
        (format!("SELECT fail(c, c, c) {from}"), "P0042"),
        (format!("SELECT fail_of(c) {from}"), "P0001"),
        // Raised in a statement of a function, which becomes the context.
        (format!("SELECT run('SELECT 1 / 0 --' || c) {from}"), "22012"),
        (format!("SELECT run('SELEC ' || c) {from}"), "42601"),
    ]
}

async fn backend(source: &Arc<dyn Connector>) -> serde_json::Value {
    query(source.as_ref(), "SELECT pg_backend_pid()", 1).await.unwrap().rows[0][0].clone()
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn limits_errors_and_keeps_the_connection() {
    let Some(mut url) = made("message_errors", FUNCTIONS).await else { return };
    for mode in ["sslmode=disable", "sslmode=prefer"] {
        url.set_query(Some(mode));
        let source = connector(&url, &[]);
        let before = backend(&source).await;
        for (sql, state) in failing(5_000_000) {
            let shown: String = sql.chars().take(80).collect();
            let error = query(source.as_ref(), &sql, 5).await.unwrap_err();
            let ConnectError::Read { code: Some(code), reason, source: driver, .. } = &error else {
                panic!("{shown}: {error:?}")
            };
            assert_eq!(&**code, state, "{shown}: {reason}");
            assert!(error.to_string().len() < 5_000, "{shown}: {error}");
            // The driver received no more.
            let length = format!("{:?}", driver.as_ref().unwrap().get()).len();
            assert!(length < 100_000, "{shown}: {length} bytes");
            if reason.chars().count() > 1_000 {
                assert!(reason.ends_with("… (truncated to 2000 characters)"), "{shown}: {reason}");
            }
            assert_eq!(backend(&source).await, before, "{shown}");
        }
    }
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn ignores_notices_of_any_length() {
    let Some(url) = made("message_notices", FUNCTIONS).await else { return };
    let source = connector(&url, &[]);
    let before = backend(&source).await;
    let sql = "SELECT notify(repeat('x', n)) FROM generate_series(20000000, 20000003) n";
    assert_eq!(query(source.as_ref(), sql, 5).await.unwrap().rows, vec![[json!(1)]; 4]);
    assert_eq!(backend(&source).await, before);
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn limits_rows_of_many_values() {
    let Some(url) = made("message_rows", "").await else { return };
    let source = connector(&url, &[]);
    let before = backend(&source).await;
    let number = "repeat('9', 131072)::numeric";
    let wide = format!("SELECT {} FROM generate_series(1, 3)", vec![number; 300].join(", "));
    match query(source.as_ref(), &wide, 5).await {
        Err(error @ ConnectError::TooLarge { column: None, limit, .. }) => {
            assert_eq!((limit, error.cause()), (32 << 20, Cause::TooLarge));
        }
        other => panic!("{:?}", other.map(|rows| rows.rows.len())),
    }
    assert_eq!(backend(&source).await, before);
    // The maximum number of columns, with names of maximum length.
    let names: Vec<String> = (0..1_600).map(|at| format!("1 AS \"{at:0>4}{}\"", "ä".repeat(5_000))).collect();
    let rows = query(source.as_ref(), &format!("SELECT {}", names.join(", ")), 5).await.unwrap();
    assert_eq!((rows.columns.len(), rows.columns[0].len()), (1_600, 62));
}

/// Returns the peak memory of this process in kilobytes, if the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn takes_little_memory_for_an_error_of_400_mb() {
    // Runs in a separate process without other allocations.
    const CHILD: &str = "PROSPECTOR_TEST_PEAK_OF_MESSAGES";
    if std::env::var_os(CHILD).is_none() {
        let name = "postgres_messages::takes_little_memory_for_an_error_of_400_mb";
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output =
            child.args(["--exact", name, "--include-ignored", "--nocapture"]).env(CHILD, "1").output().unwrap();
        let shown = [output.stdout, output.stderr].concat();
        let shown = String::from_utf8_lossy(&shown);
        assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
        return;
    }
    let Some(mut url) = made("message_peak", FUNCTIONS).await else { return };
    let from = "FROM (SELECT repeat('x', n) AS c FROM generate_series(400000000, 400000000) n) s";
    for (mode, sql, state) in [
        ("sslmode=disable", "SELECT repeat('x', 400000000)::date".to_owned(), "22007"),
        ("sslmode=prefer", format!("SELECT fail('a', c, 'c') {from}"), "P0042"),
    ] {
        url.set_query(Some(mode));
        let source = connector(&url, &[]);
        let expected = backend(&source).await;
        let Some(before) = peak_memory() else { return };
        match query(source.as_ref(), &sql, 5).await {
            Err(ConnectError::Read { code, .. }) => assert_eq!(code.as_deref(), Some(state), "{sql}"),
            other => panic!("{sql}: {other:?}"),
        }
        assert_eq!(backend(&source).await, expected, "{mode}");
        let grown = peak_memory().unwrap() - before;
        assert!(grown < 100_000, "{mode}: {grown} kB more");
    }
}
