//! Statements that would exhaust memory or time.

use std::time::{Duration, Instant};

use prospector_engine::options::{EngineOptions, Limits};
use prospector_engine::worker::{Worker, Workers};
use prospector_engine::{Engine, Failure, FailureCode};
use serde_json::json;

use crate::life::peak_memory;
use crate::support::{files, source};

/// Each level reads the one below twice.
fn doubling(levels: usize) -> String {
    let below = (1..=levels).map(|level| {
        let below = level - 1;
        format!("a{level} AS (SELECT l.x FROM a{below} l UNION ALL SELECT r.x + 1 FROM a{below} r)")
    });
    format!("WITH a0 AS (SELECT 1 AS x), {} SELECT count(*) FROM a{levels}", below.collect::<Vec<_>>().join(", "))
}

/// Each level joins the one below to itself.
fn multiplying(levels: usize) -> String {
    let below = (1..=levels).map(|level| {
        let below = level - 1;
        format!("a{level} AS (SELECT l.x FROM a{below} l JOIN a{below} r ON l.x = r.x)")
    });
    format!(
        "WITH a0 AS (SELECT id AS x FROM crm.people), {} SELECT * FROM a{levels}",
        below.collect::<Vec<_>>().join(", ")
    )
}

/// Each level doubles the text.
fn lengthening(levels: usize, first: &str) -> String {
    let below = (1..=levels).map(|level| format!("a{level} AS (SELECT concat(x, x) AS x FROM a{})", level - 1));
    format!("WITH a0 AS ({first}), {} SELECT length(x) FROM a{levels}", below.collect::<Vec<_>>().join(", "))
}

fn attacks() -> Vec<String> {
    let list = (0..900).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let mut all = [
        "SELECT array_repeat(1, 1000000000)",
        "SELECT cardinality(array_repeat(array_repeat(1, 100000), 100000))",
        "SELECT array_repeat(name, 1000000000) FROM crm.people",
        "SELECT repeat('x', 1000000000)",
        "SELECT length(repeat(repeat('x', 100000), 100000))",
        "SELECT length(repeat(name, 1000000000)) FROM crm.people",
        "SELECT lpad('x', 2000000000, 'y')",
        "SELECT rpad(name, 2000000000, 'y') FROM crm.people",
        "SELECT length(replace(repeat('x', 100000), 'x', repeat('y', 100000)))",
        "SELECT length(translate(repeat('x', 1000000000), 'x', 'y'))",
        "SELECT length(regexp_replace(repeat('a', 50000000), '', repeat('b', 1000), 'g'))",
        "SELECT regexp_like(repeat('a', 50000), '((((a{0,50}){0,50}){0,50}){0,50}){0,50}$')",
        "SELECT regexp_match(repeat('ab', 5000000), '(a|b|ab)*c')",
        "SELECT string_agg(repeat(p.name, 100000), ',') FROM crm.people p, unnest(range(0, 100000)) r",
        "SELECT array_agg(l.x) FROM (SELECT unnest(range(0, 100000000)) AS x) l",
        "SELECT cardinality(range(0, 4000000000))",
        "SELECT count(*) FROM (SELECT unnest(range(0, 3000000)) AS x) a, (SELECT unnest(range(0, 3000000)) AS x) b, \
         (SELECT unnest(range(0, 3000000)) AS x) c",
        "SELECT a.x FROM (SELECT unnest(range(0, 1000000)) AS x) a, (SELECT unnest(range(0, 1000000)) AS x) b ORDER BY b.x, a.x",
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        "WITH RECURSIVE n AS (SELECT 'x' AS t UNION ALL SELECT concat(t, t) FROM n) SELECT max(length(t)) FROM n",
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT l.i + 1 FROM n l CROSS JOIN crm.people) SELECT count(*) FROM n",
        "SELECT median(x), count(DISTINCT x) FROM (SELECT unnest(range(0, 200000000)) AS x)",
    ]
    .map(str::to_owned)
    .to_vec();
    all.extend([doubling(40), multiplying(30)]);
    all.extend([30, 45].map(|levels| lengthening(levels, "SELECT name AS x FROM crm.people")));
    all.extend([30, 45].map(|levels| lengthening(levels, "SELECT 'x' AS x")));
    all.push(format!("SELECT count(*) FROM crm.people WHERE id + 1 IN ({list})"));
    all
}

/// The codes of failures that limit a statement.
const BOUNDED: [FailureCode; 7] = [
    FailureCode::Memory,
    FailureCode::Timeout,
    FailureCode::TooLarge,
    FailureCode::Failed,
    FailureCode::TypeMismatch,
    FailureCode::Refused,
    FailureCode::UnknownFunction,
];

#[tokio::test(flavor = "multi_thread")]
async fn statements_stay_within_memory_and_time_limits() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = folder.path().join("scratch");
    let workers = Workers::new(Worker { memory: 1 << 30, scratch_bytes: 64 << 20, ..crate::worker("attacks") });
    let limits =
        Limits { time: Duration::from_secs(4), memory: 128 << 20, scratch_bytes: 256 << 20, ..Limits::default() };
    let options =
        EngineOptions { workers: Some(workers), limits, scratch: Some(scratch.clone()), ..Default::default() };
    let engine = Engine::with(vec![source("crm", files(folder.path())).await], options);
    let before = peak_memory();
    let (mut bounded, mut answered) = (Vec::new(), 0);
    for sql in attacks() {
        let begin = Instant::now();
        let short: String = sql.chars().take(90).collect();
        match engine.run(&sql, None, 50).await {
            Ok(_) => answered += 1,
            Err(Failure { code, message, .. }) => {
                assert!(BOUNDED.contains(&code), "{short}: {code}: {message}");
                bounded.push((code, format!("{message}: {short}")));
            }
        }
        assert!(begin.elapsed() < Duration::from_secs(40), "{short} took {:?}", begin.elapsed());
        let next = engine.run("SELECT count(*) FROM crm.people", None, 5).await;
        assert_eq!(json!(next.unwrap_or_else(|failure| panic!("after {short}: {failure}")).rows.rows), json!([[3]]));
    }
    assert!(bounded.len() > 15, "{answered} were answered; bounded: {bounded:#?}");
    let grown = peak_memory().saturating_sub(before);
    assert!(grown < 600 << 20, "this process has grown by {} MB", grown >> 20);
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0, "something is left in the scratch folder");
}

#[tokio::test(flavor = "multi_thread")]
async fn planning_stays_within_the_same_limits() {
    let folder = tempfile::tempdir().unwrap();
    let workers = Workers::new(Worker { memory: 1 << 30, ..crate::worker("planning") });
    let limits = Limits { time: Duration::from_secs(6), ..Limits::default() };
    let options = EngineOptions { workers: Some(workers), limits, ..Default::default() };
    let engine = Engine::with(vec![source("crm", files(folder.path())).await], options);
    for sql in ["SELECT repeat('x', 1500000000)", &doubling(40)] {
        let failure = engine.validate(sql, None).await.unwrap_err();
        assert!(
            [FailureCode::Memory, FailureCode::Timeout, FailureCode::TooLarge].contains(&failure.code),
            "{failure}"
        );
        let (_, databases) = engine.validate("SELECT name FROM crm.people", None).await.unwrap();
        assert_eq!(databases, ["crm"]);
    }
    let memory = engine.validate("SELECT repeat('x', 1500000000)", None).await.unwrap_err();
    assert_eq!((memory.code, memory.message.contains("1024 MB")), (FailureCode::Memory, true), "{memory}");
    assert!(memory.suggestion.unwrap().contains("LIMIT"));
}
