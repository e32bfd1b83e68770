//! Queries over several sources and over files run in a process with limits on memory and time.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Estate;
use serde_json::{Value, json};

const ENDLESS: &str = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) \
     SELECT count(*) + (SELECT count(*) FROM web_metrics.web_metrics) FROM n";

/// Checks the output of `planner sql` with 4 GB of address space.
fn check(estate: &Estate, sql: &str, error: &str) {
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 4194304; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_planner"), "sql", sql])
        .args(["--catalog", "catalog/catalog.yaml", "--state"])
        .arg(estate.state())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(output.status.code(), Some(1), "{sql}: {answer:#}");
    assert_eq!(answer[0]["error"], error, "{sql}: {answer:#}");
    assert!(answer[0]["suggestion"].is_string(), "{sql}: {answer:#}");
}

#[test]
fn expensive_queries_fail_in_isolation() {
    let estate = Estate::sample();
    let doubled = (1..=40).map(|level| {
        let below = level - 1;
        format!("a{level} AS (SELECT l.x FROM a{below} l JOIN a{below} r ON l.x = r.x)")
    });
    let doubled = doubled.collect::<Vec<_>>().join(", ");
    for (sql, error) in [
        ("SELECT array_repeat(1, 1000000000)", "unknown_function"),
        ("SELECT repeat('x', 1500000000)", "memory"),
        ("SELECT lpad(channel, 2000000000, 'x') FROM web_metrics.web_metrics", "memory"),
        ("SELECT repeat(channel, 1000000) FROM web_metrics.web_metrics LIMIT 1", "too_large"),
        (
            &format!("WITH a0 AS (SELECT channel AS x FROM web_metrics.web_metrics), {doubled} SELECT * FROM a40"),
            "too_large",
        ),
    ] {
        check(&estate, sql, error);
    }
}

/// Returns the children of a process.
fn children(id: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |child: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(&id.to_string())
    };
    ids.filter(is_child).collect()
}

fn until<T>(what: &str, found: impl Fn() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_worker_has_no_secrets_and_ends_with_its_parent() {
    let estate = Estate::sample();
    estate.run(["sql", "SELECT count(*) FROM web_metrics.web_metrics"]).json(0);
    let mut planner = Command::new(env!("CARGO_BIN_EXE_planner"))
        .args(["sql", ENDLESS, "--catalog", "catalog/catalog.yaml", "--state"])
        .arg(estate.state())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("ANTHROPIC_API_KEY", "sk-secret-of-anthropic")
        .env("PROSPECTOR_TOKEN", "a-token-that-nobody-may-know")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let read = |id: u32, what: &str| std::fs::read(format!("/proc/{id}/{what}")).unwrap_or_default();
    let is_worker = |id: &u32| String::from_utf8_lossy(&read(*id, "cmdline")).contains("query-worker");
    let worker = until("there is no worker", || children(planner.id()).into_iter().find(is_worker));
    assert_eq!(String::from_utf8_lossy(&read(worker, "cmdline")), "planner\0query-worker\0");
    assert_eq!(String::from_utf8_lossy(&read(worker, "environ")), "MALLOC_ARENA_MAX=2\0");
    planner.kill().unwrap();
    planner.wait().unwrap();
    until("the worker is an orphan", || read(worker, "cmdline").is_empty().then_some(()));
}

#[test]
fn the_worker_is_not_a_public_command() {
    let estate = Estate::sample();
    assert!(!estate.run(["--help"]).out.contains("query-worker"));
    let said = estate.bare().arg("query-worker").output().unwrap();
    assert_eq!(said.status.code(), Some(2));
    let wrong = estate.planner().args(["sql", "SELECT 1"]).env("PROSPECTOR_QUERY_MEMORY", "7").output().unwrap();
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("PROSPECTOR_QUERY_MEMORY is `7`"));
    let asked = ["sql", "SELECT repeat('x', 600000000)"];
    let less = estate.planner().args(asked).env("PROSPECTOR_QUERY_MEMORY", "512").output().unwrap();
    let answer: Value = serde_json::from_slice(&less.stdout).unwrap();
    assert_eq!(answer[0]["error"], json!("memory"));
    assert!(answer[0]["message"].as_str().unwrap().contains("512 MB"), "{answer:#}");
}
