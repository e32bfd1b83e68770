//! The verified queries of a catalog: SQL files.

use std::{path::PathBuf, sync::Arc};

use prospector_engine::Engine;
use prospector_queries::{VerifiedQueries, list_files};

use super::{
    file_schema::FolderEntry,
    section::{Folders, Opening, Section},
};

/// The verified queries, as returned by [`read_queries`], with the engine they are checked against.
pub(super) struct Verified {
    pub(super) engine: Arc<Engine>,
    pub(super) queries: VerifiedQueries,
}

impl Section for Verified {
    type Entry = FolderEntry;
    type Loaded = Arc<VerifiedQueries>;

    fn files(entries: &[FolderEntry], folders: &Folders<'_>) -> Option<Vec<PathBuf>> {
        let paths = entries.iter().map(|entry| folders.base.join(&entry.path));
        // The folder itself changes when a file is added or removed.
        Some(paths.flat_map(|path| list_files(&path).into_iter().chain([path])).collect())
    }

    async fn load(mut self, _: Vec<FolderEntry>, opening: &mut Opening<'_>) -> Self::Loaded {
        opening.problems.extend(self.queries.check(&self.engine).await);
        Arc::new(self.queries)
    }
}

/// Reads the queries of the entries, without checking them, and returns the folder for approved queries.
pub(super) fn read_queries(entries: &[FolderEntry], opening: &mut Opening<'_>) -> (VerifiedQueries, Option<PathBuf>) {
    let (mut files, mut folder) = (Vec::new(), None);
    for entry in entries {
        let path = opening.folders.base.join(&entry.path);
        if !path.exists() {
            opening.report_missing(entry.line, &path);
            continue;
        }
        files.extend(list_files(&path));
        if path.is_dir() {
            folder.get_or_insert(path);
        }
    }
    let (queries, problems) = VerifiedQueries::read(&files);
    opening.problems.extend(problems);
    (queries, folder)
}
