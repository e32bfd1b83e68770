//! What an engine may use: folders, other processes, memory and time.

use std::path::PathBuf;
use std::sync::Arc;

use prospector_core::mark::redact::Redactor;
use sqlparser::ast::ObjectName;

pub use crate::cluster::Cluster;
pub use crate::limits::{Limits, SubsetMemory};
pub use crate::named::{NamedQuery, NamedSchema};
pub use crate::worker::{Worker, Workers};
use crate::{Failure, FailureCode};

/// What an engine may use besides the memory of this process. The default is nothing.
///
/// Queries over several databases, or over files, are planned and computed by DataFusion. With
/// [`EngineOptions::workers`] this happens in another process, which the operating system limits and which is killed
/// when its time is over.
///
/// Without workers it happens in this process, and less is bounded. [`Limits::memory`] bounds what operators hold
/// between batches, but neither a single large value (`repeat('x', 1000000000)`) nor what planning allocates, and an
/// allocation that fails aborts the process. [`Limits::time`] is checked between batches, but planning and a long call
/// of a function cannot be interrupted and continue after the query was answered. Run only statements that you trust in
/// this way.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// A folder for data that does not fit into memory and for rows that a cluster reads. It is created when it is
    /// needed, and its contents are removed after each query. Without a folder, a query that needs one fails.
    pub scratch: Option<PathBuf>,
    /// The cluster that computes queries over several databases, or over files, instead of this process.
    pub cluster: Option<Cluster>,
    /// Tables, as `database.table`, that are described although their rows are not available here. A query over such a
    /// table fails with that explanation.
    pub described: Vec<String>,
    /// Queries that statements read as tables, such as `FROM segments.vip_customer`.
    pub named: Vec<NamedQuery>,
    /// The processes that plan and compute queries over several databases, or over files; with a cluster, they plan the
    /// queries and wait for it. Clones share the processes. Ignored except on Unix, where this process does the work
    /// instead.
    pub workers: Option<Workers>,
    /// The limits of one query.
    pub limits: Limits,
    /// The memory that the loaded subsets of all sessions share. Clones share the count.
    pub subsets: SubsetMemory,
    /// What hides the surroundings of a server in failures, where its clients are shown them.
    pub redactor: Option<Arc<Redactor>>,
}

impl EngineOptions {
    /// The failure as whoever asked is shown it.
    pub(crate) fn redact(&self, failure: Failure) -> Failure {
        let Some(redactor) = &self.redactor else { return failure };
        let shown = |text: String| redactor.redact(&text).into_owned();
        Failure { message: shown(failure.message), suggestion: failure.suggestion.map(shown), ..failure }
    }

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
