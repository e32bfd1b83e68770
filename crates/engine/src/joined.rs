//! Queries over several sources, and over files: each source sends the columns and rows that are needed, and DataFusion
//! does the rest, in a worker process, in this one, or on a cluster. Large files are scanned where they lie.

#[cfg(feature = "ballista")]
pub(crate) mod cluster;
pub(crate) mod column;
mod compute;
mod filter;
mod keys;
pub(crate) mod measure;
mod place;
mod provider;
mod rename;
mod shown;
mod trouble;

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use prospector_connect::{Rows, Table};

use crate::Failure;
use crate::guard::Checked;
use crate::options::EngineOptions;
use crate::source::Found;
use crate::view::View;
pub(crate) use compute::{Act, Means, compute};
pub(crate) use provider::{MAX_ROWS, RowsError};
pub(crate) use trouble::Trouble;

/// A statement that was judged, and the tables that its names mean.
#[derive(Clone, Copy)]
pub(crate) struct Statement<'a> {
    /// As it was judged: judging it again gives the same.
    pub(crate) sql: &'a str,
    pub(crate) view: &'a View,
    pub(crate) checked: &'a Checked,
    /// The table of each name of [`Checked::reads`].
    pub(crate) found: &'a [Found],
}

/// The answer to a query, at most `cap` rows.
///
/// # Errors
/// What went wrong, and what to do about it.
pub(crate) async fn run(statement: Statement<'_>, cap: usize, options: &EngineOptions) -> Result<Rows, Failure> {
    perform(statement, Act::Run { cap }, options).await
}

/// Names and types alone; no source is asked.
///
/// # Errors
/// As for [`run`].
pub(crate) async fn validate(statement: Statement<'_>, options: &EngineOptions) -> Result<(), Failure> {
    perform(statement, Act::Validate, options).await.map(drop)
}

async fn perform(statement: Statement<'_>, act: Act, options: &EngineOptions) -> Result<Rows, Failure> {
    let Statement { view, checked, found, .. } = statement;
    let done = match &options.workers {
        Some(workers) if cfg!(unix) => workers.compute(statement, act, options).await,
        _ => {
            let means = Means {
                scratch: options.scratch.clone(),
                cluster: options.cluster.clone(),
                limits: options.limits.clone(),
            };
            let computed = AssertUnwindSafe(compute(view, checked, found, act, &means)).catch_unwind();
            computed.await.unwrap_or_else(|panic| Err(Trouble::of_panic(panic.as_ref())))
        }
    };
    done.map_err(|trouble| {
        let tables: Vec<&Table> = found.iter().map(|found| &view[found.source].tables[found.table]).collect();
        trouble.into_failure(&tables)
    })
}
