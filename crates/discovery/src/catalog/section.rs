//! The sections of a catalog, one per kind of entry. Each checks its entries, lists the files they refer to, and loads them.
//!
//! A new section is a module with a type that implements [`Section`], a field of [`CatalogFile`](super::file::CatalogFile), and a line in
//! [`Catalog::open`](super::Catalog::open) and in [`fingerprint`](super::current::fingerprint).

use std::path::{Path, PathBuf};

use prospector_core::Problem;
use prospector_mcp::ServerSessions;
use tokio_util::sync::CancellationToken;

use super::{cache::Cache, environment::Environment, error::CatalogError, paths::advise_path, web::Web};

/// A section of a catalog.
pub(super) trait Section {
    /// A checked entry.
    type Entry;
    /// Searches and describes the loaded entries, with connectors, callers or changes in some sections.
    type Loaded;

    /// Returns the files that the entries refer to, including those inside folders: the records do not change unless one of them does.
    /// Returns `None` if files are not sufficient, since a source is remote or unreadable.
    fn files(entries: &[Self::Entry], folders: &Folders<'_>) -> Option<Vec<PathBuf>>;

    /// Loads the entries. Sources that cannot be read, or only partially, are reported in `opening`.
    async fn load(self, entries: Vec<Self::Entry>, opening: &mut Opening<'_>) -> Self::Loaded;
}

/// The folders of a catalog.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folders<'a> {
    /// The folder to which its paths are relative.
    pub(super) base: &'a Path,
    /// The state folder.
    pub(super) state: &'a Path,
    /// The home folder of the user, whose skills are discovered too.
    pub(super) home: Option<&'a Path>,
    /// Whether skills are discovered in the default folders, next to the catalog and in the home folder.
    pub(super) usual_skills: bool,
    /// Cancels scans of the folders.
    pub(super) cancel: &'a CancellationToken,
}

/// The state of opening a catalog: what its sections are loaded with, and their problems.
pub(super) struct Opening<'a> {
    /// The catalog file.
    pub(super) file: &'a Path,
    /// The folders of the catalog.
    pub(super) folders: Folders<'a>,
    /// Cached descriptions.
    pub(super) cache: Cache,
    /// Fetches web pages and descriptions.
    pub(super) web: Web,
    /// Environment variables.
    pub(super) lookup: Environment<'a>,
    /// The sessions of MCP servers.
    pub(super) sessions: &'a ServerSessions,
    /// Whether the tools of MCP servers are listed again.
    pub(super) relist: bool,
    /// Receives the stage, the number done and the total.
    pub(super) progress: &'a (dyn Fn(&'static str, usize, usize) + Sync),
    /// Sources that could not be read, or only partially.
    pub(super) problems: Vec<Problem>,
}

impl Opening<'_> {
    /// Checks that loading is complete.
    ///
    /// # Errors
    /// [`CatalogError::Cancelled`] if loading was cancelled and may be incomplete.
    pub(super) fn check_wanted(&self) -> Result<(), CatalogError> {
        if self.folders.cancel.is_cancelled() { Err(CatalogError::Cancelled) } else { Ok(()) }
    }

    /// Reports a folder of an entry that does not exist.
    pub(super) fn report_missing(&mut self, line: u64, path: &Path) {
        let problem = Problem::error(self.place(line), format!("no such folder: {}", path.display()));
        self.problems.push(problem.advise(advise_path(path)));
    }

    /// Returns the location of a line of the catalog file, for problems.
    pub(super) fn place(&self, line: u64) -> String {
        format!("{}:{line}", self.file.display())
    }
}
