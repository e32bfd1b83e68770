//! The verified queries of a catalog: SQL files.

use std::{path::PathBuf, sync::Arc};

use prospector_core::Problem;
use prospector_engine::Engine;
use prospector_queries::{VerifiedQueries, list_files};

use super::{
    entry::{EntryReader, path},
    file_schema,
    node::Placed,
    paths::nearest_file,
    section::{Folders, Opening, Section},
};

/// The verified queries, as returned by [`read_queries`], with the engine they are checked against.
pub(super) struct Verified {
    pub(super) engine: Arc<Engine>,
    pub(super) queries: VerifiedQueries,
}

#[derive(Debug)]
pub(super) struct VerifiedEntry {
    pub(super) line: u64,
    pub(super) path: String,
}

impl Section for Verified {
    type Entry = VerifiedEntry;
    type Loaded = Arc<VerifiedQueries>;

    fn read(reader: &mut EntryReader<'_>, at: usize, entry: Placed) -> Option<VerifiedEntry> {
        let lookup = reader.lookup;
        let mut fields = reader.fields::<file_schema::VerifiedEntry>(format!("verified_queries[{at}]"), entry)?;
        let path = path(&mut fields, "a folder of verified queries", lookup);
        let entry = VerifiedEntry { line: fields.line(), path: path? };
        (!fields.has_failed()).then_some(entry)
    }

    fn files(entries: &[VerifiedEntry], folders: &Folders<'_>) -> Option<Vec<PathBuf>> {
        let paths = entries.iter().map(|entry| folders.base.join(&entry.path));
        // The folder itself changes when a file is added or removed.
        Some(paths.flat_map(|path| list_files(&path).into_iter().chain([path])).collect())
    }

    async fn load(mut self, _: Vec<VerifiedEntry>, opening: &mut Opening<'_>) -> Self::Loaded {
        opening.problems.extend(self.queries.check(&self.engine).await);
        Arc::new(self.queries)
    }
}

/// Reads the queries of the entries, without checking them, and returns the folder for approved queries.
pub(super) fn read_queries(entries: &[VerifiedEntry], opening: &mut Opening<'_>) -> (VerifiedQueries, Option<PathBuf>) {
    let (mut files, mut folder) = (Vec::new(), None);
    for entry in entries {
        let path = opening.folders.base.join(&entry.path);
        if !path.exists() {
            let near = nearest_file(&path);
            let advice = near.map_or("correct the path".into(), |name| format!("did you mean `{name}`?"));
            let problem = Problem::error(opening.place(entry.line), format!("no such folder: {}", path.display()));
            opening.problems.push(problem.advise(advice));
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
