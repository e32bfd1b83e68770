//! Determines from files alone whether the index is current, so that a search need not open the catalog.
//!
//! After each complete refresh, `current.json` in the state folder records the fingerprint of the files before it and the version of the
//! resulting index. It is a hint: in any doubt, the catalog is opened as usual.

use std::path::{Path, PathBuf};

use prospector_search::embed::Embedder;
use prospector_state::{
    checksum::{seal, unseal},
    remove_leftovers, replace,
};
use serde::{Deserialize, Serialize};

use super::{
    apis::Apis,
    cache,
    databases::Databases,
    documents::Documents,
    facts::Facts,
    file::CatalogFile,
    mcp::Mcp,
    metrics::Metrics,
    paths::MAX_WATCHED,
    section::{Folders, Section},
    skills::Skills,
    verified::Verified,
};

/// The fingerprint of the files, and the version of the index built from them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Current {
    files: String,
    index: String,
}

impl Current {
    pub(super) fn new(files: String, index: String) -> Self {
        Current { files, index }
    }

    /// Reads the record of the last refresh; `None` if it is missing or unreadable.
    pub(super) fn read(state: &Path) -> Option<Current> {
        let bytes = std::fs::read(place(state)).ok()?;
        let content = unseal(&bytes).inspect_err(|broken| {
            tracing::debug!(state = %state.display(), reason = %broken, "cannot tell whether the index is current");
        });
        serde_json::from_slice(content.ok()?).ok()
    }

    /// Writes it atomically. A failure only costs time later.
    pub(super) fn write(&self, state: &Path) {
        let write = || -> std::io::Result<()> {
            remove_leftovers(state);
            replace(&place(state), &seal(&serde_json::to_vec(self)?))
        };
        if let Err(error) = write() {
            tracing::warn!(%error, state = %state.display(), "cannot record the state of the index");
        }
    }
}

pub(super) fn place(state: &Path) -> PathBuf {
    state.join("current.json")
}

/// Returns a fingerprint of the catalog, the settings, every file or folder it names, and the fact store. Returns `None` if it cannot be
/// determined.
pub(super) fn fingerprint(
    path: &Path,
    file: &CatalogFile,
    folders: &Folders<'_>,
    embedder: Option<&dyn Embedder>,
) -> Option<String> {
    let watched = [
        Databases::files(&file.databases, folders)?,
        Apis::files(&file.apis, folders)?,
        Mcp::files(&file.mcp, folders)?,
        Documents::files(&file.documents, folders)?,
        Skills::files(&file.skills, folders)?,
        Facts::files(&file.facts, folders)?,
        Metrics::files(&file.metrics, folders)?,
        Verified::files(&file.verified_queries, folders)?,
    ]
    .concat();
    if watched.len() > MAX_WATCHED {
        return None;
    }
    let files: Vec<&Path> = std::iter::once(path).chain(watched.iter().map(PathBuf::as_path)).collect();
    let embedder = embedder.map(Embedder::model);
    // The entries contain the values from the environment.
    Some(cache::fingerprint(&files, &format!("{file:?} {embedder:?} {:?}", folders.home)))
}
