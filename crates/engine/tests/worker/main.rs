//! Queries that are computed by worker processes: they return the same as without workers, no statement exceeds its memory and
//! time limits, and no process is left.
//!
//! This is a separate program: it measures its own peak memory, counts its own children, and runs tests of `it` over another
//! engine.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::ffi::OsString;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use prospector_engine::options::{EngineOptions, Limits};
use prospector_engine::worker::{Worker, Workers, serve_worker};
use prospector_engine::{Engine, Source};

mod attacks;
#[path = "../it/run/budgets.rs"]
mod budgets;
#[path = "../it/run/joined.rs"]
mod joined;
#[path = "../it/run/large.rs"]
mod large;
mod life;
#[path = "../it/run/scoped.rs"]
mod scoped;
#[path = "../it/support/mod.rs"]
mod support;
#[path = "../it/run/tables.rs"]
mod tables;
#[path = "../it/run/wrong.rs"]
mod wrong;

/// The test that runs as a worker process.
#[test]
#[ignore = "a worker process"]
fn query_worker() {
    // Serving ends the process; when all ignored tests run, there is no client.
    if std::env::args().any(|argument| argument == "--exact") {
        let _ = serve_worker(std::io::stdin(), std::io::stdout());
    }
}

/// Creates a worker whose command line contains `mark`.
fn worker(mark: &str) -> Worker {
    let mut args =
        ["--exact", "query_worker", "--ignored", "--nocapture", "--test-threads=1"].map(OsString::from).to_vec();
    args.extend(["--skip".into(), mark.into()]);
    Worker { max_wait: Duration::from_secs(200), ..Worker::new(std::env::current_exe().unwrap(), args) }
}

static WORKERS: LazyLock<Workers> = LazyLock::new(|| Workers::new(worker("shared")));

fn over(sources: Vec<Source>) -> Arc<Engine> {
    limited(sources, Limits::default())
}

fn limited(sources: Vec<Source>, limits: Limits) -> Arc<Engine> {
    Engine::with(sources, EngineOptions { workers: Some(WORKERS.clone()), limits, ..EngineOptions::default() })
}
