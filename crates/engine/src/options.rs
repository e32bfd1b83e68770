//! What an engine may use: folders, other processes, memory and time.

use std::path::PathBuf;

use sqlparser::ast::ObjectName;

pub use crate::cluster::Cluster;
pub use crate::limits::{Limits, SubsetMemory};
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
