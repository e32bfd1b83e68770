//! Whether the index still shows what the catalog names, told from the files alone: then a search needs nothing else.
//!
//! After each refresh that read everything, `current.json` in the state folder says what the files were before it, and
//! which state of the index came out. It is a hint: whenever anything is in doubt, the catalog is opened as usual.

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

/// What the files were, and which state of the index shows them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Current {
    files: String,
    index: String,
}

impl Current {
    pub(super) fn new(files: String, index: String) -> Self {
        Current { files, index }
    }

    /// What the last refresh wrote; `None` where it wrote nothing that can be read.
    pub(super) fn read(state: &Path) -> Option<Current> {
        let bytes = std::fs::read(place(state)).ok()?;
        let content = unseal(&bytes).inspect_err(|broken| {
            tracing::debug!(state = %state.display(), reason = %broken, "what the index shows is not known");
        });
        serde_json::from_slice(content.ok()?).ok()
    }

    /// Writes it; replaced at once. A failure costs only time later.
    pub(super) fn write(&self, state: &Path) {
        let write = || -> std::io::Result<()> {
            remove_leftovers(state);
            replace(&place(state), &seal(&serde_json::to_vec(self)?))
        };
        if let Err(error) = write() {
            tracing::warn!(%error, state = %state.display(), "what the index shows could not be noted");
        }
    }
}

pub(super) fn place(state: &Path) -> PathBuf {
    state.join("current.json")
}

/// What tells one state of everything that is indexed from the next: the catalog, the settings, every file that it names
/// or that is in a folder it names, and the fact store. `None` where that cannot be said.
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
    // The entries hold the values from the environment.
    Some(cache::fingerprint(&files, &format!("{file:?} {embedder:?} {:?}", folders.home)))
}
