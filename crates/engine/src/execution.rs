//! Execution of a statement over several sources: in a worker process, or in this one.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use prospector_connect::rows::Rows;
use prospector_connect::table::Table;

use crate::Failure;
use crate::joined::{Action, Allowance, ComputeError, Statement, TakeBlock, compute};
use crate::options::EngineOptions;

/// Runs or validates a statement. With `take`, the rows are passed in blocks while they are computed, without a limit on their
/// total size, and the rows after the last block are returned.
///
/// # Errors
/// The failure and a suggestion.
pub(crate) async fn execute(
    statement: Statement<'_>,
    act: Action,
    take: Option<TakeBlock<'_>>,
    options: &EngineOptions,
) -> Result<Rows, Failure> {
    let Statement { view, found, .. } = statement;
    let means = Allowance { scratch: options.scratch.clone().map(Into::into), limits: options.limits.clone() };
    let done = match &options.workers {
        Some(workers) if cfg!(unix) => workers.compute(statement, act, take, means).await,
        Some(_) | None => {
            let computed = AssertUnwindSafe(compute(statement, act, take, &means)).catch_unwind();
            computed.await.unwrap_or_else(|panic| Err(ComputeError::of_panic(panic.as_ref())))
        }
    };
    done.map_err(|error| {
        let tables: Vec<&Table> = found.iter().map(|found| &view[found.source].tables[found.table]).collect();
        options.redact(error.into_failure(&tables))
    })
}
