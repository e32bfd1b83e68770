//! Resource limits of queries and subsets: memory, time and disk space.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The limits of one query over several databases, or over files. A query that exceeds one fails with an error that names the
/// limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The time until the last row: 60 s by default.
    pub time: Duration,
    /// The memory that DataFusion's operators may hold, in bytes: 1 GiB by default, and never more than half of
    /// [`crate::options::Worker::memory`].
    pub memory: usize,
    /// What the query may write to the scratch folder, in bytes: 8 GiB by default.
    pub scratch_bytes: u64,
    /// The memory use of the rows that a source sends of one table, in bytes: 256 MiB by default. This also limits
    /// [`crate::Engine::load`].
    pub source_bytes: usize,
    /// The size of one value of the answer, in bytes of text: 1 MiB by default. Models are shown the first 500 characters.
    pub cell_bytes: usize,
    /// The size of the whole answer, in bytes of text: 16 MiB by default.
    pub answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            time: Duration::from_secs(60),
            memory: 1 << 30,
            scratch_bytes: 8 << 30,
            source_bytes: 256 << 20,
            cell_bytes: 1 << 20,
            answer_bytes: 16 << 20,
        }
    }
}

/// A shared limit on the memory of the loaded subsets and recent answers of several sessions.
#[derive(Debug, Clone)]
pub struct SubsetMemory {
    most: usize,
    taken: Arc<AtomicUsize>,
}

impl SubsetMemory {
    /// Creates a limit of `most` bytes for all subsets and answers together.
    pub fn new(most: usize) -> Self {
        SubsetMemory { most, taken: Arc::default() }
    }

    /// Reserves bytes; `None` if not enough are left.
    pub(crate) fn take(&self, bytes: usize) -> Option<SubsetShare> {
        let add = |taken: usize| taken.checked_add(bytes).filter(|sum| *sum <= self.most);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok()?;
        Some(SubsetShare { of: self.clone(), bytes })
    }
}

impl Default for SubsetMemory {
    /// 1 GiB.
    fn default() -> Self {
        SubsetMemory::new(1 << 30)
    }
}

/// Memory reserved from a [`SubsetMemory`]; released when dropped.
#[derive(Debug)]
pub(crate) struct SubsetShare {
    of: SubsetMemory,
    bytes: usize,
}

impl Drop for SubsetShare {
    fn drop(&mut self) {
        self.of.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
