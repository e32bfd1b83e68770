//! Statements that no source may run, and queries that every source runs: each through the guard and the source itself.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::support::{DATA, engine, files, mariadb, postgres, sqlite};
use prospector_connect::sql::Dialect;
use prospector_engine::{Engine, FailureCode, check};
use prospector_test_support::server;
use sqlx::{Connection, Row};

const COMMON: &str = include_str!("../corpus/common.sql");
const POSTGRES: &str = include_str!("../corpus/postgres.sql");
const MYSQL: &str = include_str!("../corpus/mysql.sql");
const SQLITE: &str = include_str!("../corpus/sqlite.sql");
const FILES: &str = include_str!("../corpus/files.sql");
const HARMLESS: &str = include_str!("../corpus/harmless.sql");

/// Splits a corpus into statements, one per line.
fn statements(corpus: &str) -> Vec<String> {
    let lines = corpus.lines().filter(|line| !line.is_empty() && !line.starts_with("##"));
    lines.map(|line| line.replace("\\r", "\r").replace("\\n", "\n")).collect()
}

/// Checks that none of the statements is run, with or without the name of the database.
async fn check_refused(engine: &Arc<Engine>, own: &str) {
    let all = [statements(COMMON), statements(own)].concat();
    assert!(all.len() >= 150, "{}", all.len());
    let mut run = Vec::new();
    for sql in &all {
        // A statement that is valid in the dialect of joined queries is rejected by the source only.
        let (sql, places) = match sql.strip_prefix("source: ") {
            Some(sql) => (sql, &[Some("shop")] as &[Option<&str>]),
            None => (sql.as_str(), &[Some("shop"), None] as &[Option<&str>]),
        };
        for &database in places {
            match engine.run(sql, database, 50).await {
                Ok(outcome) => run.push(format!("{sql:?} {database:?} -> {:?}", outcome.rows)),
                Err(failure) => {
                    assert!(!failure.message.contains("s3cret"), "{sql:?}: {failure}");
                    let expected = [
                        FailureCode::Refused,
                        FailureCode::Syntax,
                        FailureCode::UnknownTable,
                        FailureCode::UnknownFunction,
                        FailureCode::UnknownColumn,
                    ];
                    if !expected.contains(&failure.code) {
                        run.push(format!("{sql:?} {database:?} -> {} {failure}", failure.code));
                    }
                    if failure.suggestion.is_none() {
                        run.push(format!("{sql:?} {database:?} -> no advice: {failure}"));
                    }
                }
            }
        }
    }
    assert!(run.is_empty(), "{} of {} were not refused:\n{}", run.len(), all.len(), run.join("\n"));
}

/// Checks that each of the queries runs and returns the rows of its line.
async fn check_harmless(engine: &Arc<Engine>, sources: &[&str]) {
    let mut wrong = Vec::new();
    let (mut count, mut open) = (0, true);
    for line in HARMLESS.lines().filter(|line| !line.is_empty()) {
        if let Some(wanted) = line.strip_prefix("## ") {
            open = wanted.split_whitespace().any(|word| sources.contains(&word));
            continue;
        }
        if !open {
            continue;
        }
        count += 1;
        let (sql, expected) = line.split_once(" --> ").unwrap();
        match engine.run(sql, Some("shop"), 50).await {
            Ok(outcome) => {
                let shown = serde_json::to_string(&outcome.rows.rows).unwrap();
                if shown != expected {
                    wrong.push(format!("{sql} --> {shown}, not {expected}"));
                }
            }
            Err(failure) => wrong.push(format!("{sql} --> {}: {failure}", failure.code)),
        }
    }
    assert!(count >= 40, "{count}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the bytes of all files.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
}

#[tokio::test]
async fn sqlite_only_reads() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine("shop", sqlite(folder.path(), DATA).await).await;
    let before = contents(folder.path());
    check_refused(&engine, SQLITE).await;
    check_harmless(&engine, &["all", "sqlite"]).await;
    assert!(contents(folder.path()) == before);
}

#[tokio::test]
async fn files_are_only_read() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine("shop", files(folder.path())).await;
    let before = contents(folder.path());
    check_refused(&engine, FILES).await;
    check_harmless(&engine, &["all", "files"]).await;
    assert!(contents(folder.path()) == before);
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn postgres_only_reads() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let (own, connector) = postgres(&url, "engine_corpus", DATA).await;
    let state = async || {
        let mut connection = sqlx::PgConnection::connect(own.as_str()).await.unwrap();
        let sql = "SELECT (SELECT string_agg(p::text, ';' ORDER BY id) FROM people p), \
             (SELECT string_agg(s::text, ';' ORDER BY id) FROM secret s), \
             (SELECT string_agg(relname, ';' ORDER BY oid) FROM pg_class WHERE oid >= 16384), \
             (SELECT string_agg(rolname, ';' ORDER BY oid) FROM pg_roles WHERE rolname !~ '^prospector_.*_(reader|session)$'), \
             (SELECT count(*) FROM pg_largeobject_metadata)::text";
        let row = sqlx::query(sql).fetch_one(&mut connection).await.unwrap();
        (0..5).map(|at| row.get::<Option<String>, _>(at)).collect::<Vec<_>>()
    };
    let engine = engine("shop", connector).await;
    let before = state().await;
    check_refused(&engine, POSTGRES).await;
    check_harmless(&engine, &["all", "postgres"]).await;
    assert_eq!(state().await, before);
}

#[test]
fn refuses_text_search_configurations_with_a_schema() {
    for (call, is_allowed) in [
        ("ts_headline('english', 'A. B', to_tsquery('b'))", true),
        ("ts_headline('A. B', to_tsquery('b'))", true),
        ("ts_headline(CAST('A. B' AS text), to_tsquery('b'), 'MaxWords=3')", true),
        ("to_tsvector('A. B')", true),
        ("to_tsvector(name)", true),
        ("ts_headline('hidden.x', 'A. B', to_tsquery('b'))", false),
        ("to_tsvector(('hidden.x'), 'A')", false),
        ("to_tsvector('hidden.x' COLLATE \"C\", 'A')", false),
        ("pg_catalog.websearch_to_tsquery($$hidden.x$$, 'A')", false),
    ] {
        let sql = format!("SELECT {call} FROM people");
        assert_eq!(check(Dialect::Postgres, &sql).is_ok(), is_allowed, "{sql}");
    }
}

/// The text of such a value is the name of an object, whether or not the role may see it, and any number is cast to one.
/// Names of text search configurations are only taken.
#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn no_function_of_postgres_returns_names_of_objects() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let lines = include_str!("../../src/functions/postgres.txt").lines().filter(|line| !line.starts_with('#'));
    let allowed: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    assert!(allowed.contains(&"lower"));
    let mut connection = sqlx::PgConnection::connect(url.as_str()).await.unwrap();
    let sql = "SELECT DISTINCT p.proname || ' ' || t.typname FROM pg_proc p JOIN pg_type t \
             ON t.oid = p.prorettype OR t.oid = ANY (p.proargtypes) OR t.oid = ANY (p.proallargtypes) \
         WHERE p.pronamespace = 'pg_catalog'::regnamespace AND t.typnamespace = 'pg_catalog'::regnamespace \
             AND p.proname = ANY ($1) AND t.typname ~ '^_?reg' \
             AND (t.typname <> 'regconfig' OR t.oid = p.prorettype)";
    let found = sqlx::query(sql).bind(allowed).fetch_all(&mut connection).await.unwrap();
    let found: Vec<String> = found.iter().map(|row| row.get(0)).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn mariadb_only_reads() {
    let Some(url) = server("PROSPECTOR_TEST_MARIADB") else { return };
    let (own, connector) = mariadb(&url, "prospector_corpus", DATA).await;
    let state = async || {
        let url = own.as_str().replacen("mariadb://", "mysql://", 1);
        let mut connection = sqlx::MySqlConnection::connect(&url).await.unwrap();
        let sql = "SELECT (SELECT group_concat(id, name ORDER BY id) FROM people), \
             (SELECT group_concat(id, password) FROM secret), \
             (SELECT group_concat(table_schema, table_name ORDER BY 1) FROM information_schema.tables \
              WHERE table_schema LIKE '%corpus%'), \
             (SELECT group_concat(User, Host ORDER BY User, Host) FROM mysql.user)";
        let row = sqlx::query(sql).fetch_one(&mut connection).await.unwrap();
        (0..4).map(|at| row.get::<Option<String>, _>(at)).collect::<Vec<_>>()
    };
    let engine = engine("shop", connector).await;
    let before = state().await;
    check_refused(&engine, MYSQL).await;
    check_harmless(&engine, &["all", "mysql"]).await;
    assert_eq!(state().await, before);
}

#[test]
fn what_is_too_long_or_too_deep_is_refused_and_nothing_overflows() {
    let nested =
        |open: &str, close: &str, times: usize| format!("SELECT {}1{}", open.repeat(times), close.repeat(times));
    let texts = [
        nested("(", ")", 1_900),
        nested("(SELECT ", ")", 900),
        nested("abs(", ")", 900),
        nested("- ", "", 1_900),
        nested("NOT ", "", 1_900),
        nested("CASE WHEN 1 = 1 THEN ", " END", 300),
        "x".repeat(1 << 20),
    ];
    for dialect in Dialect::ALL {
        for text in &texts {
            assert!(check(dialect, text).is_err(), "{dialect:?} {}", &text[..40]);
        }
        // Long without nesting in the grammar, but deep in the syntax tree.
        for text in [nested("1 + ", "", 900), nested("1 UNION ALL SELECT ", "", 600), nested("1 AND ", "", 900)] {
            let _ = check(dialect, &text);
        }
    }
}

#[test]
fn queries_of_bigquery_only_read_plain_tables() {
    for sql in [
        "DELETE FROM shop.people WHERE true",
        "MERGE shop.people p USING shop.new n ON p.id = n.id WHEN MATCHED THEN DELETE",
        "CREATE TABLE shop.t AS SELECT 1",
        "SELECT 1; DROP TABLE shop.people",
        "EXPORT DATA OPTIONS(uri='gs://x/*.csv', format='CSV') AS SELECT * FROM shop.people",
        "EXECUTE IMMEDIATE 'DROP TABLE shop.people'",
        "CALL shop.remove()",
        "DECLARE x INT64 DEFAULT 1",
        "LOAD DATA INTO shop.t FROM FILES (format='CSV', uris=['gs://x'])",
        "SELECT * FROM EXTERNAL_QUERY('connection', 'SELECT 1')",
        "SELECT * FROM APPENDS(TABLE shop.secret)",
        "SELECT * FROM ML.PREDICT(MODEL shop.m, TABLE shop.secret)",
        "SELECT * FROM shop.made_here(1)",
        "SELECT shop.f(id) FROM shop.people",
        "SELECT 'it\\'; DROP TABLE shop.people",
    ] {
        assert!(check(Dialect::Bigquery, sql).is_err(), "{sql}");
    }
    for sql in [
        "SELECT p.address.city, COUNTIF(p.age > 17) FROM `shop.people` AS p GROUP BY 1",
        "SELECT i.sku FROM shop.orders, UNNEST(items) AS i WHERE i.sku = 'O\\'Brien'",
        "SELECT EXTRACT(YEAR FROM at) FROM `shop.events_*` WHERE _TABLE_SUFFIX >= '20240101'",
        "SELECT * FROM shop.people WHERE true QUALIFY ROW_NUMBER() OVER (PARTITION BY age ORDER BY id) = 1",
    ] {
        assert!(check(Dialect::Bigquery, sql).is_ok(), "{sql} {:?}", check(Dialect::Bigquery, sql));
    }
}
