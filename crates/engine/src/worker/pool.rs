//! The pool of idle workers, and the queue of queries.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Worker;
use super::process::Process;
use crate::joined::ComputeError;

/// The number of queries after which a worker is replaced.
const MAX_ANSWERED: usize = 200;

/// Workers of one kind.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) worker: Worker,
    places: Arc<Semaphore>,
    idle: Mutex<Vec<Process>>,
}

impl Pool {
    pub(super) fn new(worker: Worker) -> Self {
        let places = Arc::new(Semaphore::new(worker.at_once.clamp(1, Semaphore::MAX_PERMITS)));
        Pool { worker, places, idle: Mutex::default() }
    }

    /// Returns a worker for one query, as soon as one is free.
    ///
    /// # Errors
    /// - [`ComputeError::Busy`] if none is free in time.
    /// - [`ComputeError::Unstarted`] if none can be started.
    pub(super) async fn lease(self: &Arc<Self>) -> Result<Lease, ComputeError> {
        let places = self.places.clone();
        let place = match tokio::time::timeout(self.worker.max_wait, places.acquire_owned()).await {
            Ok(Ok(place)) => place,
            Ok(Err(_)) => return Err(ComputeError::Unstarted("its queue is closed".to_owned())),
            Err(_) => return Err(ComputeError::Busy { seconds: self.worker.max_wait.as_secs() }),
        };
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let process = match idle {
                // An idle worker that was killed from outside is skipped.
                Some(mut process) => match process.is_idle().await {
                    true => process,
                    false => continue,
                },
                None => Process::start(&self.worker).await?,
            };
            return Ok(Lease { pool: self.clone(), process, _place: place });
        }
    }
}

/// A worker for one query; killed unless it is given back.
pub(super) struct Lease {
    pool: Arc<Pool>,
    // Dropped, and thereby killed, before another query may start.
    process: Process,
    _place: OwnedSemaphorePermit,
}

impl Lease {
    pub(super) fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Returns the worker to the pool, unless it has reached its maximum number of queries.
    pub(super) fn give_back(self) {
        let Lease { pool, mut process, .. } = self;
        process.answered += 1;
        if process.answered < MAX_ANSWERED {
            pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(process);
        }
    }
}
