//! Where a statement over several sources is computed: in a worker process, or in this one.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::ready;
use prospector_connect::rows::Rows;
use prospector_connect::table::Table;

use crate::Failure;
use crate::joined::{Action, Allowance, ComputeError, Statement, TakeBlock, compute};
use crate::options::EngineOptions;

/// The answer to a query, at most `cap` rows.
///
/// # Errors
/// What went wrong, and what to do about it.
pub(crate) async fn run(statement: Statement<'_>, cap: usize, options: &EngineOptions) -> Result<Rows, Failure> {
    perform(statement, (Action::Run { cap }, &|_| ready(false).boxed()), options).await
}

/// The same, with the rows handed over in blocks while they are computed, however large all of them are. Returns those
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

/// Names and types alone; no source is asked.
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
    let means = Allowance {
        scratch: options.scratch.clone(),
        cluster: options.cluster.clone(),
        limits: options.limits.clone(),
    };
    let done = match &options.workers {
        Some(workers) if cfg!(unix) => workers.compute(statement, act, means).await,
        Some(_) | None => {
            let computed = AssertUnwindSafe(compute(view, checked, found, act, &means)).catch_unwind();
            computed.await.unwrap_or_else(|panic| Err(ComputeError::of_panic(panic.as_ref())))
        }
    };
    done.map_err(|trouble| {
        let tables: Vec<&Table> = found.iter().map(|found| &view[found.source].tables[found.table]).collect();
        options.redact(trouble.into_failure(&tables))
    })
}
