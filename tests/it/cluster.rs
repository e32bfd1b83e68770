//! `planner sql --engine`: a scheduler and two executors run cross-source queries of the sample catalog.

use crate::support::Estate;
use prospector_test_support::ballista;
use serde_json::{Value, json};

/// The entry point of the processes of the cluster.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process of the cluster"]
async fn member() {
    ballista::member().await;
}

const JOIN: &str = "SELECT c.country_cd, COUNT(DISTINCT c.customer_id) AS customers, COUNT(DISTINCT w.channel) AS channels \
    FROM music_store.customers c JOIN web_metrics.web_metrics w ON w.country = c.country_cd \
    WHERE w.country IN ('US', 'DE') GROUP BY c.country_cd ORDER BY customers DESC";

fn check(engine: &str, sql: &str, exit: i32, part: &str, expected: Value) {
    let answer = Estate::sample().run(["sql", "--engine", engine, sql]).json(exit);
    assert_eq!(answer[0][part], expected, "{answer:#}");
}

#[test]
fn cluster_joins_match_local_joins() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = ballista::Ballista::start("cluster::member", 2, folder.path());
    check(&cluster.url, JOIN, 0, "rows", json!([["US", 175, 5], ["DE", 86, 5]]));
    check(&cluster.url, JOIN, 0, "executed", json!("cluster"));
    check(
        &cluster.url,
        "SELECT COUNT(*) FROM music_store.customers WHERE country_cd = 'BR'",
        0,
        "executed",
        json!("native"),
    );
}

#[test]
fn unreachable_cluster_is_reported() {
    check("df://127.0.0.1:9", JOIN, 1, "error", json!("unavailable"));
    let said = Estate::sample().run(["sql", "--engine", "http://x", JOIN]).complaint(2).to_owned();
    assert!(said.contains("it does not start with df://") && said.contains("df://127.0.0.1:50050"), "{said}");
}
