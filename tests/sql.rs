//! `planner sql` over the sample estate: one source in its own SQL, two in one query, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use serde_json::{Value, json};
use support::Estate;

fn check(sql: &str, exit: i32, executed: &str, rows: Value) {
    let answer = Estate::sample().run(["sql", sql]).json(exit);
    assert_eq!((&answer[0]["executed"], &answer[0]["rows"]), (&json!(executed), &rows), "{answer:#}");
}

#[test]
fn one_database_answers_in_its_own_sql() {
    check("SELECT COUNT(*) FROM music_store.customers WHERE country_cd = 'BR'", 0, "native", json!([[69]]));
}

#[test]
fn two_sources_are_joined() {
    let sql = "SELECT c.country_cd, COUNT(DISTINCT c.customer_id) AS customers, COUNT(DISTINCT w.channel) AS channels \
               FROM music_store.customers c JOIN web_metrics.web_metrics w ON w.country = c.country_cd \
               WHERE w.country IN ('US', 'DE') GROUP BY c.country_cd ORDER BY customers DESC";
    check(sql, 0, "joined", json!([["US", 175, 5], ["DE", 86, 5]]));
}

#[test]
fn what_writes_or_names_what_is_not_there_is_refused() {
    for (sql, error) in [
        ("DROP TABLE music_store.customers", "refused"),
        ("SELECT 1; DELETE FROM music_store.customers", "refused"),
        ("SELECT nam FROM music_store.genres", "unknown_column"),
        ("SELECT * FROM music_store.custmers", "unknown_table"),
    ] {
        let answer = Estate::sample().run(["sql", sql]).json(1);
        assert_eq!(answer[0]["error"], error, "{answer:#}");
        assert!(answer[0]["message"].is_string(), "{answer:#}");
    }
}
