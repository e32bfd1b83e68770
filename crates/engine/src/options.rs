//! What an engine may use: folders, other processes, memory and time.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqlparser::ast::ObjectName;

pub use crate::worker::{Worker, Workers};
use crate::{Failure, FailureCode};

/// What an engine may use besides the memory of this process: by default nothing.
///
/// Queries over several databases, or over files, are planned and computed by DataFusion. With [`EngineOptions::workers`]
/// that happens in another process, which is limited by the operating system and killed when its time is over.
///
/// Without workers it happens in this process, and less is bounded: [`Limits::memory`] bounds what operators hold between
/// batches, but neither one large value (`repeat('x', 1000000000)`) nor what planning allocates, and an allocation that
/// fails aborts the process; [`Limits::time`] is tested between batches, but planning and one long call of a function
/// cannot be interrupted, and go on after the query was answered. Use it for statements that you trust.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// A folder for what does not fit into memory, and for rows that a cluster reads. It is made when it is needed, and
    /// what is put there is taken away after the query. Without it a query that needs it fails.
    pub scratch: Option<PathBuf>,
    /// What computes the queries over several databases, or over files, in the place of this process.
    pub cluster: Option<Cluster>,
    /// Tables, as `database.table`, that are known while their rows are elsewhere: a query over them is told so.
    pub described: Vec<String>,
    /// The processes that plan and compute the queries over several databases, or over files; with a cluster, those that
    /// plan them and wait for it. Clones share them. Only on Unix: elsewhere, this process does it.
    pub workers: Option<Workers>,
    /// What one query may take.
    pub limits: Limits,
    /// What the subsets of all sessions may hold together. Clones share the count.
    pub subsets: SubsetMemory,
}

/// What one query over several databases, or over files, may take. Beyond a limit it fails, and says which.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The time from its first to its last row: 60 s by default.
    pub time: Duration,
    /// What DataFusion's operators may hold, in bytes: 1 GiB by default, and never more than half of
    /// [`Worker::memory`].
    pub memory: usize,
    /// What it may write to the scratch folder, in bytes: 8 GiB by default.
    pub scratch_bytes: u64,
    /// The rows of one table as a source sends them, in bytes of this process's memory: 256 MiB by default. It holds for
    /// the rows of [`crate::Engine::load`] too.
    pub source_bytes: usize,
    /// One value of the answer, in bytes of text: 1 MiB by default. A model is shown 500 characters of it.
    pub cell_bytes: usize,
    /// The answer, in bytes of text: 16 MiB by default.
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

/// The memory that the subsets of several sessions share.
#[derive(Debug, Clone)]
pub struct SubsetMemory {
    most: usize,
    taken: Arc<AtomicUsize>,
}

impl SubsetMemory {
    /// All subsets together may take so many bytes.
    pub fn new(most: usize) -> Self {
        SubsetMemory { most, taken: Arc::default() }
    }

    /// Takes so many bytes of it; nothing where they are not to be had.
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

/// What was taken of a [`SubsetMemory`]; given back when it is dropped.
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

impl EngineOptions {
    /// What is said of the first of these names that is known only.
    pub(crate) fn only_described(&self, names: &[ObjectName]) -> Option<Failure> {
        let parts = |name: &ObjectName| -> Vec<String> {
            name.0.iter().filter_map(|part| part.as_ident()).map(|part| part.value.to_lowercase()).collect()
        };
        let names = names.iter().map(|name| parts(name).join("."));
        let of = |name: &str| {
            let is_same = |known: &&String| {
                let known = known.to_lowercase();
                known == name || known.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
            };
            self.described.iter().find(is_same)
        };
        names.filter(|name| !name.is_empty()).find_map(|name| of(&name).cloned()).map(|known| absent(&known))
    }

    /// The same of a database.
    pub(crate) fn only_described_database(&self, name: &str) -> Option<Failure> {
        let is_of = |known: &&String| known.split('.').next().is_some_and(|first| first.eq_ignore_ascii_case(name));
        self.described.iter().find(is_of).map(|_| absent(name))
    }
}

fn absent(name: &str) -> Failure {
    Failure::new(
        FailureCode::Unavailable,
        format!("`{name}` is described, but the catalog does not say where its rows are"),
    )
    .advise("query the database that holds them, if it is another one of the catalog")
}

/// The scheduler of a [Ballista](https://datafusion.apache.org/ballista/) cluster of the version that this crate is built
/// with, 55.
///
/// Its executors read data files, and the scratch folder, under the same paths as this process: on several machines both
/// lie on a file system that all of them share. What other sources hold is read by this process, by the same rules as
/// without a cluster, and handed over in the scratch folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    host: String,
    port: u16,
}

impl Cluster {
    /// The port of a scheduler where nobody says.
    pub const PORT: u16 = 50050;

    /// `http://HOST:PORT`, as the scheduler is called.
    #[cfg(feature = "ballista")]
    pub(crate) fn scheduler(&self) -> String {
        format!("http://{}:{}", self.host, self.port)
    }
}

impl std::fmt::Display for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "df://{}:{}", self.host, self.port)
    }
}

impl FromStr for Cluster {
    type Err = Failure;

    /// `df://HOST` or `df://HOST:PORT`; an address of IPv6 stands in brackets.
    fn from_str(url: &str) -> Result<Self, Failure> {
        let wrong = |what: &str| {
            let failure = Failure::new(FailureCode::InvalidArguments, format!("`{url}` is no engine: {what}"));
            failure.advise(format!("write the scheduler of a Ballista cluster, such as df://127.0.0.1:{}", Self::PORT))
        };
        if cfg!(not(feature = "ballista")) {
            let failure = Failure::new(FailureCode::InvalidArguments, "this program was built without Ballista");
            return Err(failure.advise("build it with the feature `ballista`"));
        }
        let place = url.strip_prefix("df://").ok_or_else(|| wrong("it does not begin with df://"))?;
        let place = place.strip_suffix('/').unwrap_or(place);
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| wrong("what follows the colon is no port"))?)
            }
            _ => (place, Self::PORT),
        };
        let is_bracketed = host.starts_with('[') && host.ends_with(']');
        let is_named = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
        if !is_named && !is_bracketed {
            return Err(wrong("there is no host, or more than a host and a port"));
        }
        Ok(Cluster { host: host.to_owned(), port })
    }
}

#[cfg(all(test, feature = "ballista"))]
mod tests {
    use super::Cluster;

    #[test]
    fn a_cluster_is_a_host_and_a_port() {
        let check = |url: &str, expected: &str| {
            let said = url.parse::<Cluster>().map_or_else(|failure| failure.message, |cluster| cluster.to_string());
            assert_eq!(said, expected);
        };
        check("df://10.0.0.7:50060", "df://10.0.0.7:50060");
        check("df://scheduler/", "df://scheduler:50050");
        check("df://[::1]", "df://[::1]:50050");
        check("http://scheduler", "`http://scheduler` is no engine: it does not begin with df://");
        check("df://host:port", "`df://host:port` is no engine: what follows the colon is no port");
        check("df://", "`df://` is no engine: there is no host, or more than a host and a port");
        check("df://a@b", "`df://a@b` is no engine: there is no host, or more than a host and a port");
    }
}
