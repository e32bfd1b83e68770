//! Determines from files alone whether the index is current, so that a search need not open the catalog.
//!
//! After each complete refresh, the cache records the version of the resulting index, with the fingerprint of the files before it. It is a
//! hint: in any doubt, the catalog is opened as usual.

use std::path::{Path, PathBuf};

use prospector_search::embed::Embedder;

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

/// The key of the version of the index in the cache.
pub(super) const INDEX: &str = "index";

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
