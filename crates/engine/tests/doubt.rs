//! Doubts about answers: which queries that return plausible nonsense are warned of, and which right ones wrongly.
//!
//! `doubt/shop.sql` and the files beside it hold the rows: blanks, cases, texts that are numbers, days in several forms, keys
//! that do not match, nulls. `doubt/nonsense.rs` are queries over them that somebody would believe, `doubt/right.rs` those that
//! say what they mean.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails, and says what it measured"
)]

use std::sync::Arc;

use prospector_engine::{Engine, tools};
use prospector_test_support::server;
use serde_json::{Value, json};

#[path = "doubt/nonsense.rs"]
mod nonsense;
#[path = "doubt/right.rs"]
mod right;
mod support;

use support::{postgres, source, sqlite};

/// The tables and rows, in SQL that SQLite and PostgreSQL read alike.
const ROWS: &str = include_str!("doubt/shop.sql");

/// Of the nonsense, so many in a hundred are warned of at least.
const MIN_WARNED: usize = 95;

/// Of the right queries, so many in a hundred are warned of at most.
const MAX_ALARMS: usize = 2;

/// The database `shop`, and files as `school`.
async fn engine(folder: &std::path::Path) -> Arc<Engine> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let files = vec![
        write("students.csv", include_str!("doubt/students.csv")),
        write("grades.csv", include_str!("doubt/grades.csv")),
    ];
    let place = prospector_connect::source::Source::files(prospector_connect::source::SourceKind::Csv, files);
    let school = prospector_connect::open(&place).unwrap();
    Engine::new(vec![source("shop", sqlite(folder, ROWS).await).await, source("school", school).await])
}

/// The answer of `execute_sql` to one query.
async fn answer(engine: &Arc<Engine>, sql: &str) -> Value {
    let answer = tools(engine).call("execute_sql", json!({"queries": [{"question": "?", "sql": sql}]})).await.unwrap();
    answer.json()[0].clone()
}

/// What the answer to one query is warned of.
async fn warnings(engine: &Arc<Engine>, sql: &str) -> Vec<String> {
    let answer = answer(engine, sql).await;
    assert!(answer["rows"].is_array(), "{sql}: {answer:#}");
    let texts = answer["warnings"].as_array().cloned().unwrap_or_default();
    texts.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn plausible_nonsense_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let mut warned = 0;
    let all: Vec<_> =
        nonsense::QUERIES.iter().flat_map(|(what, queries)| queries.iter().map(move |q| (*what, q))).collect();
    for (what, (sql, expected)) in &all {
        let texts = warnings(&engine, sql).await;
        // What is said must be about what is wrong.
        let is_warned = texts.iter().any(|text| text.contains(expected));
        if !is_warned {
            println!("{what}: silent: {sql}\n  {texts:?}");
        }
        warned += usize::from(is_warned);
    }
    println!("{warned} of {} queries that return nonsense are warned of", all.len());
    assert!(all.len() >= 60);
    assert!(warned * 100 >= all.len() * MIN_WARNED, "{warned} of {}", all.len());
}

#[tokio::test]
async fn right_queries_are_answered_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let queries = right::queries();
    let mut alarms = 0;
    for sql in &queries {
        let texts = warnings(&engine, sql).await;
        if !texts.is_empty() {
            println!("alarm: {sql}\n  {texts:?}");
            alarms += 1;
        }
    }
    println!("{alarms} false alarms for {} right queries", queries.len());
    assert!(queries.len() >= 200, "{}", queries.len());
    assert!(alarms * 100 <= queries.len() * MAX_ALARMS, "{alarms} of {}", queries.len());
}

#[tokio::test]
async fn a_warning_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for (sql, expected) in [
        (
            "SELECT COUNT(*) FROM shop.airports WHERE City = 'Aberdeen'",
            "no value 'Aberdeen' in `airports.City`: it holds 'Aberdeen ', with a trailing blank; compare TRIM(City)",
        ),
        (
            "SELECT COUNT(*) FROM shop.customers WHERE tier = 'VIP'",
            "no value 'VIP' in `customers.tier`: it holds 'vip', in another case; compare LOWER(tier)",
        ),
        (
            "SELECT COUNT(*) FROM shop.flights f JOIN shop.airports a ON f.dest = a.code",
            "the join on `f.dest = a.code` matches no row: `flights.dest` holds ' ABR', with a leading blank; join on TRIM()",
        ),
        (
            "SELECT v.id, a.code FROM shop.votes v JOIN shop.areas a ON v.state = a.state",
            "the join of `votes` with `areas` on `v.state = a.state` multiplies 9 rows to 15",
        ),
    ] {
        let texts = warnings(&engine, sql).await;
        assert!(texts.iter().any(|text| text.starts_with(expected)), "{sql}\n{texts:#?}");
    }
}

#[tokio::test]
async fn a_query_is_doubted_before_it_is_run_too() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let check = async |sql: &str, is_doubted: bool| {
        let answer = tools(&engine).call("validate_query", json!({"sql": sql})).await.unwrap().json().clone();
        assert_eq!(answer["valid"], true, "{sql}: {answer:#}");
        assert_eq!(answer["warnings"].is_array(), is_doubted, "{sql}: {answer:#}");
    };
    check("SELECT name FROM shop.customers WHERE city = 'Oslo'", false).await;
    check("SELECT name FROM shop.customers WHERE city = 'Olso'", true).await;
}

#[tokio::test]
async fn what_may_not_be_read_is_not_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let answer = answer(&engine, "SELECT COUNT(*) FROM shop.secret WHERE word = 'x'").await;
    assert_eq!(answer["error"], "unknown_table");
    assert!(answer["warnings"].is_null(), "{answer:#}");
    assert!(!answer.to_string().contains("swordfish"));
}

#[tokio::test]
#[ignore = "needs a server: .ci/services"]
async fn postgres_is_doubted_alike() {
    let Some(url) = server("PROSPECTOR_TEST_POSTGRES") else { return };
    let (_, connector) = postgres(&url, "engine_doubt", ROWS).await;
    let engine = Engine::new(vec![source("shop", connector).await]);
    for (sql, expected) in [
        ("SELECT COUNT(*) FROM shop.customers WHERE tier = 'VIP'", "'vip'"),
        ("SELECT COUNT(*) FROM shop.flights f JOIN shop.airports a ON f.dest = a.code", "leading blank"),
        ("SELECT SUM(o.total) FROM shop.orders o JOIN shop.items i ON i.order_id = o.id", "multiplies"),
    ] {
        let texts = warnings(&engine, sql).await;
        assert!(texts.iter().any(|text| text.contains(expected)), "{sql}\n{texts:#?}");
    }
    for sql in ["SELECT COUNT(*) FROM shop.customers WHERE tier = 'vip'", "SELECT SUM(total) FROM shop.orders"] {
        assert_eq!(warnings(&engine, sql).await, Vec::<String>::new(), "{sql}");
    }
}
