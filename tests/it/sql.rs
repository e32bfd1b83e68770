//! `planner sql` over the sample estate: one source in its own SQL, two in one query, and what is refused.

use crate::support::Estate;
use serde_json::{Value, json};

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

#[test]
fn the_tools_that_run_queries_are_called_by_name_and_listed_when_asked_for() {
    let estate = Estate::sample();
    let sql = "SELECT COUNT(*) FROM music_store.customers WHERE country_cd = 'BR'";
    let answer = estate.call("execute_sql", &json!({"queries": [{"question": "?", "sql": sql}]})).json(0);
    assert_eq!((&answer[0]["rows"], &answer[0]["tables"]), (&json!([[69]]), &json!(["music_store.customers"])));
    let request = json!({"database": "music_store", "table": "customers", "measures": [{"aggregation": "count"}],
                         "filters": [{"column": "country_cd", "op": "eq", "value": "BR"}]});
    assert_eq!(estate.call("query_datasource", &request).json(0)["rows"], json!([[69]]));

    let names = |flags: &[&str]| -> Vec<String> {
        let specs = estate.run(["tools"].iter().chain(flags)).json(0);
        specs.as_array().unwrap().iter().map(|spec| spec["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!names(&[]).contains(&"execute_sql".to_owned()));
    let all = names(&["--queries"]);
    for name in ["build_query", "execute_sql", "get_datasource_metadata", "load_scoped", "query_datasource"] {
        assert!(all.contains(&name.to_owned()), "{name} is not in {all:?}");
    }
}

#[test]
fn the_answers_of_a_file_of_queries_are_written() {
    let estate = Estate::sample();
    let (queries, out) = (estate.state().join("../queries.jsonl"), estate.state().join("../answers.jsonl"));
    let lines = [
        json!({"id": "a", "database": "music_store", "sql": "SELECT COUNT(*) FROM customers WHERE country_cd = 'BR'"}),
        json!({"id": "b", "database": "music_store", "sql": "DELETE FROM customers"}),
        json!({"id": "c", "database": "elsewhere", "sql": "SELECT 1"}),
    ];
    std::fs::create_dir_all(estate.state()).unwrap();
    std::fs::write(&queries, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let (queries, out) = (queries.to_str().unwrap(), out.to_str().unwrap());
    let report = estate.run(["bench", "sql", "--queries", queries, "--out", out]).json(0);
    assert_eq!(report, json!({"queries": 3, "answered": 1, "left_out": 1, "failed": {"refused": 1}}));
    let written = std::fs::read_to_string(out).unwrap();
    let answers: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers[0]["rows"], json!([[69]]));
    assert_eq!(answers[1]["error"], "refused");
}
