//! `planner query-worker`: executes queries for the `planner` process that started it. It reads no catalog, settings or environment.

use std::process::ExitCode;

use crate::{Exit, output};

/// `planner query-worker`
pub(crate) fn query_worker() -> ExitCode {
    let Err(error) = prospector_engine::worker::serve_worker(std::io::stdin(), std::io::stdout());
    output::error(&anyhow::Error::from(error).context("this command is started by planner itself"));
    ExitCode::from(Exit::Usage as u8)
}
