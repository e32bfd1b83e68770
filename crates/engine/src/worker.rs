//! Worker processes, which plan and compute statements in the place of this process.
//!
//! Planning folds constants, an operator copies large values beside the memory pool, and an allocation that fails aborts:
//! no thread can be held to its memory or its time. A process can. [`Workers`] starts the program that it is told, which
//! runs [`serve_worker`] and nothing else: its address space, its processor time, its files and its core dumps are limited
//! before it reads a statement, its environment is empty, and it is killed when the time of its query is over or when nobody
//! waits any more. It knows no server and no password: rows of a source are asked of this process, which asks the source.
//! Local data files it reads itself.
//!
//! A worker that is done answers the next query. One that ended, for whatever reason, is a failure of the query that it
//! computed; no query is computed twice, and none in this process instead.

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

/// Both sides are of this version.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "/2");

/// All that a worker finds in its environment. Each arena of glibc reserves 64 MB of the address space.
const ENVIRONMENT: [(&str, &str); 1] = [("MALLOC_ARENA_MAX", "2")];

/// How a worker process is started, and what it may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The program to start. It gets an almost empty environment and has to call [`serve_worker`].
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The name of the process in process lists; `program` if there is none.
    pub name: Option<OsString>,
    /// The address space that it may take beside the program itself, in bytes: 2 GiB by default. A query that needs more
    /// fails.
    pub memory: u64,
    /// The size of the largest file that it may write, in bytes: 8 GiB by default.
    pub scratch_bytes: u64,
    /// How many workers compute at the same time: 2 by default. Further queries wait.
    pub at_once: usize,
    /// How long a query waits for a worker before it fails: 30 s by default.
    pub max_wait: Duration,
}

impl Worker {
    /// A worker with the default limits.
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
    /// A pool whose processes are started when they are needed.
    pub fn new(worker: Worker) -> Self {
        Workers(Arc::new(Pool::new(worker)))
    }

    /// Plans the statement in a worker, and computes it there where that is wanted.
    pub(crate) async fn compute(
        &self,
        statement: Statement<'_>,
        act: (Action, TakeBlock<'_>),
        means: Allowance,
    ) -> Result<Rows, ComputeError> {
        let mut lease = self.0.lease().await?;
        let process = lease.process();
        let folder = make_folder(means.scratch).await;
        let means = Allowance {
            scratch: folder.as_ref().map(|folder| folder.path().to_owned()),
            cluster: means.cluster,
            limits: self.limits(&means.limits),
        };
        process.hold(folder);
        // A cluster is told by the worker that nobody waits.
        process.is_cancelled_first = means.cluster.is_some();
        let asked = ask::ask(process, statement, act, &means);
        let Ok((answer, is_reusable)) = tokio::time::timeout(means.limits.time, asked).await else {
            return Err(ComputeError::timeout());
        };
        if is_reusable {
            process.is_cancelled_first = false;
            process.hold(None);
            lease.give_back();
        }
        answer
    }

    /// The limits, as far as a worker allows them.
    fn limits(&self, limits: &Limits) -> Limits {
        let worker = &self.0.worker;
        Limits {
            memory: limits.memory.min(usize::try_from(worker.memory / 2).unwrap_or(usize::MAX)),
            scratch_bytes: limits.scratch_bytes.min(worker.scratch_bytes),
            ..limits.clone()
        }
    }
}

/// A folder of the query's own in the scratch folder. What a killed worker leaves there is removed with it.
async fn make_folder(scratch: Option<PathBuf>) -> Option<TempDir> {
    let scratch = scratch?;
    let made = tokio::task::spawn_blocking(move || {
        let scratch = std::path::absolute(scratch)?;
        std::fs::create_dir_all(&scratch)?;
        tempfile::Builder::new().prefix("worker-").tempdir_in(scratch)
    });
    // As without a worker, only a query that needs the folder fails without it.
    made.await.ok()?.ok()
}
