//! `planner query-worker`: computes queries for the `planner` that started it, and does nothing else. It reads no catalog, no
//! settings and no environment.

use std::process::ExitCode;

use crate::{Exit, output};

/// `planner query-worker`
pub(crate) fn query_worker() -> ExitCode {
    let Err(error) = prospector_engine::worker::serve_worker(std::io::stdin(), std::io::stdout());
    output::error(&anyhow::Error::from(error).context("this is started by planner itself"));
    ExitCode::from(Exit::Usage as u8)
}
