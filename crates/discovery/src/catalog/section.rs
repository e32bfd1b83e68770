//! What every section of a catalog does, one section a kind of thing: it reads its entries, says which files they stand
//! for, loads them, and gives the records that are indexed.
//!
//! A new kind of thing is a module with a type that implements [`Section`], a field of
//! [`CatalogFile`](super::file::CatalogFile), and a line in [`Catalog::open`](super::Catalog::open) and in
//! [`fingerprint`](super::current::fingerprint).

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use prospector_core::Problem;
use prospector_core::record::Record;
use tokio_util::sync::CancellationToken;

use super::{cache::Cache, entry::EntryReader, environment::Environment, error::CatalogError, node::Placed, web::Web};

/// One kind of thing that a catalog names.
pub(super) trait Section {
    /// The key of its entries in the catalog file.
    const KEY: &'static str;
    /// What one entry says.
    type Entry;
    /// What finds the things that were loaded, and shows them.
    type Discovery;
    /// What else comes of loading them: what reads or calls them, what changed.
    type Extra;

    /// Reads the entry at that place of the list; `None`, with the problem noted, where it is wrong.
    fn read(reader: &mut EntryReader<'_>, at: usize, entry: Placed) -> Option<Self::Entry>;

    /// The files that the entries stand for, those inside of folders too: while none of them changes, neither do the
    /// records. `None` where files cannot tell: something is on a server, or cannot be read.
    fn files(entries: &[Self::Entry], folders: &Folders<'_>) -> Option<Vec<PathBuf>>;

    /// Loads what the entries name. What could not be read, or not fully, is among the problems of `opening`.
    async fn load(self, entries: Vec<Self::Entry>, opening: &mut Opening<'_>) -> (Arc<Self::Discovery>, Self::Extra);

    /// What of it is indexed.
    fn records(discovery: &Self::Discovery) -> Vec<Record>;
}

/// Where the files of a catalog are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folders<'a> {
    /// What its paths are relative to.
    pub(super) base: &'a Path,
    /// The state folder.
    pub(super) state: &'a Path,
    /// The home folder of the user, whose skills count too.
    pub(super) home: Option<&'a Path>,
    /// Whether the usual folders of skills count, beside the catalog and in the home folder.
    pub(super) usual_skills: bool,
    /// Set once they need not be looked through any more.
    pub(super) cancel: &'a CancellationToken,
}

/// A catalog that is being opened: what its sections are loaded with, and what is wrong with them.
pub(super) struct Opening<'a> {
    /// The catalog file.
    pub(super) file: &'a Path,
    /// Where its files are.
    pub(super) folders: Folders<'a>,
    /// What was described before.
    pub(super) cache: Cache,
    /// What fetches things from servers.
    pub(super) web: Web,
    /// Environment variables.
    pub(super) lookup: Environment<'a>,
    /// Whether MCP servers are asked for their lists again.
    pub(super) relist: bool,
    /// Told what is done of how many.
    pub(super) progress: &'a (dyn Fn(&'static str, usize, usize) + Sync),
    /// What could not be read, or not fully.
    pub(super) problems: Vec<Problem>,
}

impl Opening<'_> {
    /// That what was loaded is all of it.
    ///
    /// # Errors
    /// [`CatalogError::Cancelled`] where loading was cancelled, and may have stopped anywhere.
    pub(super) fn check_wanted(&self) -> Result<(), CatalogError> {
        if self.folders.cancel.is_cancelled() { Err(CatalogError::Cancelled) } else { Ok(()) }
    }

    /// The place of a line of the catalog file, for problems.
    pub(super) fn place(&self, line: u64) -> String {
        format!("{}:{line}", self.file.display())
    }
}
