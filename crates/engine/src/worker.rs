//! Worker processes, which plan and compute statements instead of this process.
//!
//! Planning folds constants, operators copy large values outside of the memory pool, and a failed allocation aborts: no thread
//! can be held to a memory or time limit, but a process can. [`Workers`] starts the configured program, which runs only
//! [`serve_worker`]: its address space, CPU time, files and core dumps are limited before it reads a statement, its environment
//! is empty, and it is killed when the time of its query is over or the query is cancelled. It has no connection and no
//! password: rows of a source are requested from this process, which asks the source. A worker reads local data files itself.
//!
//! A worker that has finished answers the next query. If a worker ends, for any reason, the query that it computed fails; no
//! query is computed twice, and none in this process instead.

mod ask;
mod frame;
mod limit;
mod message;
mod output;
mod pool;
mod process;
mod remote;
mod serve;
mod value;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prospector_connect::rows::Rows;
use tempfile::TempDir;

use crate::joined::{Action, Allowance, ComputeError, Statement, TakeBlock};
use crate::limits::Limits;
use pool::Pool;
pub use serve::serve_worker;

/// The protocol version, which must be the same on both sides.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "/4");

/// The whole environment of a worker. Each arena of glibc reserves 64 MB of the address space.
const ENVIRONMENT: [(&str, &str); 1] = [("MALLOC_ARENA_MAX", "2")];

/// How a worker process is started, and its limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The program to start. It gets an almost empty environment and must call [`serve_worker`].
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The name of the process in process lists; defaults to `program`.
    pub name: Option<OsString>,
    /// The address space that it may use in addition to the program itself, in bytes: 2 GiB by default. A query that needs more
    /// fails.
    pub memory: u64,
    /// The size of the largest file that it may write, in bytes: 8 GiB by default.
    pub scratch_bytes: u64,
    /// The number of workers that compute at the same time: 2 by default. Further queries wait.
    pub at_once: usize,
    /// How long a query waits for a worker before it fails: 30 s by default.
    pub max_wait: Duration,
}

impl Worker {
    /// Creates a worker with the default limits.
    pub fn new(program: impl Into<PathBuf>, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Worker {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            name: None,
            memory: 2 << 30,
            scratch_bytes: 8 << 30,
            at_once: 2,
            max_wait: Duration::from_secs(30),
        }
    }
}

/// A pool of worker processes. Clones share the pool, and so do the engines that use them. Idle processes end with the
/// last clone.
#[derive(Debug, Clone)]
pub struct Workers(Arc<Pool>);

impl Workers {
    /// Creates a pool whose processes are started on demand.
    pub fn new(worker: Worker) -> Self {
        Workers(Arc::new(Pool::new(worker)))
    }

    /// Plans the statement in a worker, and computes it there if requested.
    pub(crate) async fn compute(
        &self,
        statement: Statement<'_>,
        act: Action,
        take: Option<TakeBlock<'_>>,
        means: Allowance,
    ) -> Result<Rows, ComputeError> {
        let mut lease = self.0.lease().await?;
        let process = lease.process();
        let folder = make_folder(means.scratch).await;
        let means = Allowance {
            scratch: folder.as_ref().map(|folder| folder.path().as_os_str().to_owned()),
            limits: self.limits(&means.limits),
        };
        process.hold(folder);
        let asked = ask::ask(process, statement, act, take, &means);
        let Ok((answer, is_reusable)) = tokio::time::timeout(means.limits.time, asked).await else {
            return Err(ComputeError::timeout());
        };
        if is_reusable {
            process.hold(None);
            lease.give_back();
        }
        answer
    }

    /// Returns the limits, reduced to those of a worker.
    fn limits(&self, limits: &Limits) -> Limits {
        let worker = &self.0.worker;
        Limits {
            memory: limits.memory.min(usize::try_from(worker.memory / 2).unwrap_or(usize::MAX)),
            scratch_bytes: limits.scratch_bytes.min(worker.scratch_bytes),
            ..limits.clone()
        }
    }
}

/// Creates a folder for the query in the scratch folder. Files that a killed worker leaves are removed with it.
async fn make_folder(scratch: Option<OsString>) -> Option<TempDir> {
    let scratch = scratch?;
    let made = tokio::task::spawn_blocking(move || {
        let scratch = std::path::absolute(scratch)?;
        std::fs::create_dir_all(&scratch)?;
        tempfile::Builder::new().prefix("worker-").tempdir_in(scratch)
    });
    // As without a worker, only a query that needs the folder fails without it.
    made.await.ok()?.ok()
}
