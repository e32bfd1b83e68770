//! Whether the index still shows what the catalog names, told from the files alone: then a search needs nothing else.
//!
//! After each refresh that read everything, `current.json` in the state folder says what the files were before it, and
//! which state of the index came out. It is a hint: whenever anything is in doubt, the catalog is opened as usual.

use std::path::{Path, PathBuf};

use prospector_core::Problem;
use prospector_state::{remove_leftovers, replace, seal, unseal};
use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use super::{CatalogOptions, apis, cache, databases, file::CatalogFile, files, skill_folders};

/// With more files than this, looking at each takes as long as opening the catalog.
const MOST_FILES: usize = 100_000;

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
    base: &Path,
    state: &Path,
    options: &CatalogOptions<'_>,
) -> Option<String> {
    let mut problems: Vec<Problem> = Vec::new();
    let mut seen: Vec<PathBuf> = vec![path.to_owned(), state.join("facts.sqlite")];
    // Only a server itself can say whether it changed.
    if file.databases.iter().any(|entry| entry.server.is_some() || entry.service.is_some())
        || file.documents.iter().any(|entry| entry.url.is_some() || entry.wiki.is_some())
        || file.apis.iter().any(|entry| entry.fetched.is_some())
    {
        return None;
    }
    for entry in &file.databases {
        for found in databases::find(base, "", entry, &mut problems) {
            seen.extend(found.source.paths().iter().cloned());
            seen.extend(found.descriptions);
        }
    }
    let described = cache::Cache::new(state.join("sources"), false);
    for entry in &file.apis {
        for found in files(base, "", &entry.path, &mut problems)? {
            if found.is_file() {
                seen.extend(apis::referred(&described, &found));
            }
            add(&found, &mut seen)?;
        }
    }
    for pattern in file.documents.iter().filter_map(|d| d.path.as_ref()) {
        for found in files(base, "", pattern, &mut problems)? {
            add(&found, &mut seen)?;
        }
    }
    for folder in skill_folders(base, options.home.as_deref()) {
        if folder.path.exists() {
            add(&folder.path, &mut seen)?;
        }
    }
    for entry in &file.skills {
        add(&base.join(&entry.path), &mut seen)?;
    }
    if !problems.is_empty() || seen.len() > MOST_FILES {
        return None;
    }
    let embedder = options.embedder.as_ref().map(|embedder| embedder.model().clone());
    let paths: Vec<&Path> = seen.iter().map(PathBuf::as_path).collect();
    // The entries hold the values from the environment.
    Some(cache::fingerprint(&paths, &format!("{file:?} {embedder:?} {:?}", options.home)))
}

/// Adds a file, or a folder with all that is in it.
fn add(path: &Path, seen: &mut Vec<PathBuf>) -> Option<()> {
    for entry in WalkDir::new(path).follow_links(true).sort_by_file_name() {
        seen.push(entry.ok()?.into_path());
        if seen.len() > MOST_FILES {
            return None;
        }
    }
    Some(())
}
