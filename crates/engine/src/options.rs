//! The resources that an engine may use: folders, other processes, memory and time.

use std::path::PathBuf;
use std::sync::Arc;

use prospector_core::mark::redact::Redactor;
use sqlparser::ast::ObjectName;

pub use crate::limits::{Limits, SubsetMemory};
pub use crate::named::{NamedQuery, NamedSchema};
use crate::source::{Source, unknown_database};
pub use crate::worker::{Worker, Workers};
use crate::{Failure, FailureCode};

/// The resources that an engine may use besides the memory of this process; nothing by default.
///
/// Queries over several databases, or over files, are planned and computed by DataFusion. With
/// [`EngineOptions::workers`] this happens in another process, which the operating system limits and which is killed
/// when its time is over.
///
/// Without workers it happens in this process, with weaker limits. [`Limits::memory`] limits what operators hold between
/// batches, but neither a single large value (`repeat('x', 1000000000)`) nor what planning allocates, and a failed allocation
/// aborts the process. [`Limits::time`] is checked between batches, but planning and long function calls cannot be interrupted
/// and continue after the query was answered. Run only trusted statements in this way.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// A folder for spilled data. It is created on demand, and its contents are removed after each query. Without a folder, a
    /// query that needs one fails.
    pub scratch: Option<PathBuf>,
    /// Tables, as `database.table`, that are described although their rows are not available here. A query over such a table
    /// fails with that explanation.
    pub described: Vec<String>,
    /// Queries that statements read as tables, such as `FROM segments.vip_customer`.
    pub named: Vec<NamedQuery>,
    /// The processes that plan and compute queries over several databases, or over files. Clones share the processes. Ignored
    /// except on Unix, where this process does the work instead.
    pub workers: Option<Workers>,
    /// The limits of one query.
    pub limits: Limits,
    /// The memory that the loaded subsets of all sessions share. Clones share the count.
    pub subsets: SubsetMemory,
    /// Removes details of the server from failures that are shown to clients.
    pub redactor: Option<Arc<Redactor>>,
}

impl EngineOptions {
    /// Returns the failure with details of the server removed.
    pub(crate) fn redact(&self, failure: Failure) -> Failure {
        let Some(redactor) = &self.redactor else { return failure };
        let shown = |text: String| redactor.redact(&text).into_owned();
        Failure { message: shown(failure.message), suggestion: failure.suggestion.map(shown), ..failure }
    }

    /// Returns the failure for the first of these tables that is described without rows.
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

    /// Returns the index of the source of that name, ignoring case.
    ///
    /// # Errors
    /// If the name is unknown, with the nearest names, or if the database is described without rows.
    pub(crate) fn find_source(&self, sources: &[Arc<Source>], name: &str) -> Result<usize, Failure> {
        let is_of = |known: &String| known.split('.').next().is_some_and(|first| first.eq_ignore_ascii_case(name));
        let found = sources.iter().position(|source| source.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| match self.described.iter().any(is_of) {
            true => absent(name),
            false => unknown_database(sources, name),
        })
    }
}

fn absent(name: &str) -> Failure {
    Failure::new(FailureCode::Unavailable, format!("`{name}` is described, but the catalog has no source for its rows"))
        .advise("query the database that contains them, if the catalog has it")
}
