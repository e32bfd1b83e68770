//! CPU-bound work does not block other requests.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use prospector_serve::Options;
use serde_json::{Value, json};

use crate::support::{self, Running};

/// Number of concurrent requests.
const CLIENTS: usize = 16;

/// Limit on the time of a health check: if searches blocked the threads that answer, it would take minutes.
const HEALTHY: Duration = Duration::from_secs(10);

/// As much text as a body may contain.
fn text(part: &str) -> String {
    part.repeat(950_000 / part.len())
}

fn calls() -> Vec<(&'static str, Value)> {
    let clauses = text("revenue by country,");
    let longest: String = clauses.chars().take(10_000).collect();
    let names: String = (0..2_000).map(|n| format!("w{n} ")).collect();
    vec![
        ("search", json!({"query": clauses})),
        ("search", json!({"query": longest})),
        ("search", json!({"query": names})),
        ("search", json!({"query": text("a"), "kinds": ["table"]})),
        ("resolve_fact", json!({"question": clauses})),
        ("resolve_fact", json!({"text": &text("No. 5 ")[..99_000]})),
        ("resolve_fact", json!({"text": format!("# {}\n\n{}", &text("word ")[..50_000], &text("A b. ")[..45_000])})),
        ("describe", json!({"ids": [&text("orders.")[..400_000], &text("a")[..400_000]]})),
        ("sample", json!({"column": text("orders.a.")})),
    ]
}

/// Two threads, as on a small machine: 16 clients send large searches, and each health check must respond meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_checks_respond_during_large_searches() {
    let server = Arc::new(Running::new(support::offline(), Options::default()).await);
    let done = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let server = server.clone();
            tokio::spawn(async move {
                let calls = calls();
                let (tool, arguments) = &calls[client % calls.len()];
                let said = server.post(&format!("/v1/tools/{tool}"), arguments).await;
                // Only texts that are too long are refused.
                assert!(matches!(said.status, 200 | 400 | 404 | 422), "{tool}: {} {}", said.status, said.body);
            })
        })
        .collect();
    let watched = {
        let (server, done) = (server.clone(), done.clone());
        tokio::spawn(async move {
            let (mut slowest, mut checks) = (Duration::ZERO, 0);
            while !done.load(Ordering::Relaxed) {
                let began = Instant::now();
                assert_eq!(server.get("/healthz").await.status, 200);
                slowest = slowest.max(began.elapsed());
                checks += 1;
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            (slowest, checks)
        })
    };
    for client in clients {
        client.await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    let (slowest, checks) = watched.await.unwrap();
    assert!(slowest < HEALTHY && checks > 0, "{slowest:?} of {checks}");
    assert_eq!(server.get("/readyz").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_too_long_query() {
    let server = Running::usual().await;
    let said = server.post("/v1/tools/search", &json!({"query": text("orders ")})).await;
    let error = &said.json();
    assert_eq!(error["error"], "invalid_arguments", "{error}");
    assert!(said.body.contains("the limit is 10000") && said.body.len() < 1_000, "{}", said.body);
}
