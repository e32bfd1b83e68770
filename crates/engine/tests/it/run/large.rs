//! Files with more rows than a source sends are scanned in place.

use prospector_engine::query::Way;
use serde_json::json;

use super::tables::{self, ORDERS, VISITS};

#[tokio::test]
async fn reads_a_large_file_completely() {
    let folder = tempfile::tempdir().unwrap();
    let engine = super::over(tables::all(folder.path()).await);
    let check = async |sql: &str, expected: serde_json::Value| {
        let outcome = engine.run(sql, None, 50).await.unwrap();
        assert_eq!(outcome.way, Way::Joined);
        assert_eq!(json!(outcome.rows.rows), expected, "{sql}");
    };
    let total = |first: i64, step: i64| -> f64 {
        (0..i64::from(ORDERS)).filter(|n| n % 1000 % 4 % step == first).map(|n| (n % 50) as f64).sum()
    };
    let quarter = ORDERS / 4;
    check(
        tables::QUERIES[0],
        json!([
            ["DK", 2 * quarter, total(0, 1) - total(0, 4) - total(1, 4)],
            ["NO", quarter, total(0, 4)],
            ["SE", quarter, total(1, 4)]
        ]),
    )
    .await;
    check(tables::QUERIES[1], json!([[ORDERS]])).await;
    // The ninth page has one visit fewer: the last one is of another page.
    check(tables::QUERIES[2], json!([["0", VISITS / 10], ["1", VISITS / 10], ["2", VISITS / 10]])).await;
    check(tables::QUERIES[3], json!([[249049, "9"], [249099, "9"], [249149, "9"], [249199, "9"], [249249, "9"]])).await;
    let dear = (0..1000).filter(|customer| customer % 4 == 0 && customer % 50 > 24).count();
    check(tables::QUERIES[4], json!([[dear]])).await;
    check(tables::QUERIES[5], json!([[0, 0.0, 1], [0, 0.0, 2], [0, 0.0, 3], [0, 0.0, 4]])).await;
    check(tables::QUERIES[6], json!([[3, "[3,7]"], [299_999, "[299999,7]"]])).await;
    let noted = |rest: fn(i32) -> bool| (0..VISITS).filter(|n| n % 1000 < 500 && rest(*n)).count();
    check(tables::QUERIES[7], json!([["a", noted(|n| n % 3 == 0)], ["b", noted(|n| n % 3 != 0)]])).await;
    check("SELECT id FROM log.visits WHERE page = 'start'", json!([[VISITS - 1]])).await;
}
