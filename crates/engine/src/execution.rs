//! Execution of a statement over several sources: in a worker process, or in this one.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::ready;
use prospector_connect::rows::Rows;
use prospector_connect::table::Table;

use crate::Failure;
use crate::joined::{Action, Allowance, ComputeError, Statement, TakeBlock, compute};
use crate::options::EngineOptions;

/// Computes the answer to a query, at most `cap` rows.
///
/// # Errors
/// The failure and a suggestion.
pub(crate) async fn run(statement: Statement<'_>, cap: usize, options: &EngineOptions) -> Result<Rows, Failure> {
    perform(statement, (Action::Run { cap }, &|_| ready(false).boxed()), options).await
}

/// Like [`run`], but passes the rows in blocks while they are computed, without a limit on their total size. Returns the rows
/// after the last block.
///
/// # Errors
/// As for [`run`].
pub(crate) async fn stream(
    statement: Statement<'_>,
    cap: usize,
    take: TakeBlock<'_>,
    options: &EngineOptions,
) -> Result<Rows, Failure> {
    perform(statement, (Action::Stream { cap }, take), options).await
}

/// Checks names and types only; no source is asked.
///
/// # Errors
/// As for [`run`].
pub(crate) async fn validate(statement: Statement<'_>, options: &EngineOptions) -> Result<(), Failure> {
    perform(statement, (Action::Validate, &|_| ready(false).boxed()), options).await.map(drop)
}

async fn perform(
    statement: Statement<'_>,
    act: (Action, TakeBlock<'_>),
    options: &EngineOptions,
) -> Result<Rows, Failure> {
    let Statement { view, checked, found, .. } = statement;
    let means = Allowance { scratch: options.scratch.clone(), limits: options.limits.clone() };
    let done = match &options.workers {
        Some(workers) if cfg!(unix) => workers.compute(statement, act, means).await,
        Some(_) | None => {
            let computed = AssertUnwindSafe(compute(view, checked, found, act, &means)).catch_unwind();
            computed.await.unwrap_or_else(|panic| Err(ComputeError::of_panic(panic.as_ref())))
        }
    };
    done.map_err(|error| {
        let tables: Vec<&Table> = found.iter().map(|found| &view[found.source].tables[found.table]).collect();
        options.redact(error.into_failure(&tables))
    })
}
