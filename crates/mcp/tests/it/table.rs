//! Runs the hostile behaviours of `behaviours`, each with a server of its own.

use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use prospector_mcp::McpError;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{
    Scripted,
    behaviours::{Case, contents, demands, descriptions, floods, frames, lists, names, results, schemas},
    endings::processes,
};

/// How long a request of a server that does not answer may take.
const SHORT: Duration = Duration::from_secs(2);
/// How long a case may take on a busy machine; without limits it would take minutes or never end.
const MAX_CASE: Duration = Duration::from_secs(60);
/// Bytes of a record: whatever a server lists.
const MAX_RECORD: u64 = 12 << 20;
/// Cases of all tests that run at once.
static RUNNING: Semaphore = Semaphore::const_new(6);

/// Runs a case; again with a longer limit where a busy machine did not get as far as the behaviour.
async fn run(case: Case) -> Result<(), String> {
    let _permit = RUNNING.acquire().await.unwrap();
    let is_short = case.kind.contains("Timeout") || case.kind.contains("Closed");
    if !is_short {
        return attempt(&case, super::LIMIT).await;
    }
    match attempt(&case, SHORT).await {
        Err(reason) if reason.contains("Timeout") => attempt(&case, super::LIMIT / 2).await,
        done => done,
    }
}

async fn attempt(case: &Case, limit: Duration) -> Result<(), String> {
    let scripted = Scripted::within(case.script.clone(), limit);
    let started = Instant::now();
    let outcome = match (scripted.server.refresh().await, case.call) {
        (Err(error), _) => describe(&Err(error)),
        (Ok(_), Some(name)) if scripted.names().iter().any(|known| known == name) => {
            describe(&scripted.call(name, json!({"a": "x".repeat(40)})).await)
        }
        (Ok(_), call) => {
            let record = scripted.record();
            let shown: Vec<String> = record.tools().map(|tool| tool.sanitize().to_string()).collect();
            let kind = if call.is_some() { "Missing" } else { "Listed" };
            format!("{kind} [{}] {} {}", scripted.names().join(", "), record.problems.join("; "), shown.join(" "))
        }
    };
    let shown: String = outcome.chars().take(600).collect();
    println!("{} ms, {}: {}", started.elapsed().as_millis(), case.name, shown.chars().take(160).collect::<String>());
    let wrong = |what: &str| Err(format!("{}: {what}: {shown}", case.name));
    if !case.kind.split('|').any(|kind| outcome.starts_with(kind)) {
        return wrong(case.kind);
    }
    if let Some(part) = case.parts.iter().find(|part| !outcome.contains(**part)) {
        return wrong(&format!("no {part:?}"));
    }
    if let Some(part) = case.without.iter().find(|part| outcome.contains(**part)) {
        return wrong(&format!("{part:?}"));
    }
    if started.elapsed() > MAX_CASE {
        return wrong("took too long");
    }
    let size = |entry: std::fs::DirEntry| entry.metadata().unwrap().len();
    if std::fs::read_dir(scripted.records()).unwrap().flatten().map(size).any(|size| size > MAX_RECORD) {
        return wrong("the record is too large");
    }
    let child = std::fs::read_to_string(scripted.folder().join("child"));
    drop(scripted);
    match child {
        Ok(id) if !ends(&id).await => wrong("a child survived"),
        _ => Ok(()),
    }
}

/// Whether a process ends soon; a zombie has ended.
pub(crate) async fn ends(id: &str) -> bool {
    for _ in 0..100 {
        let status = std::fs::read_to_string(format!("/proc/{id}/stat"));
        if status.map_or(true, |status| status.contains(") Z")) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

fn describe(result: &Result<Value, McpError>) -> String {
    match result {
        Ok(value) => format!("Ok {value}"),
        Err(error) => {
            let debug = format!("{error:?}");
            let kind: String = debug.chars().take_while(char::is_ascii_alphanumeric).collect();
            format!("{kind} {error}")
        }
    }
}

async fn check(cases: Vec<Case>) {
    let wrong: Vec<String> = stream::iter(cases.into_iter().map(run))
        .buffer_unordered(6)
        .filter_map(|done| async { done.err() })
        .collect()
        .await;
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn hostile_texts_are_sanitized() {
    check(descriptions()).await;
}

#[tokio::test]
async fn imitated_names_are_rejected() {
    check(names()).await;
}

#[tokio::test]
async fn hostile_schemas_are_bounded() {
    check(schemas()).await;
}

#[tokio::test]
async fn hostile_lists_are_bounded() {
    check(lists()).await;
}

#[tokio::test]
async fn hostile_frames_do_no_harm() {
    check(frames()).await;
    check(floods()).await;
}

#[tokio::test]
async fn demands_of_a_server_are_refused() {
    check(demands()).await;
}

#[tokio::test]
async fn hostile_results_are_rejected() {
    check(results()).await;
    check(contents()).await;
}

#[tokio::test]
async fn hostile_processes_end_in_time() {
    check(processes()).await;
}
