//! The documents of a catalog.

use std::path::Path;

use prospector_core::Problem;
use prospector_documents::{DocumentDiscovery, DocumentSource, Refreshed, Snapshot};

use super::{cache::Cache, file::DocumentEntry, files};

/// Loads every document that the catalog names, several at once. What was made of files that have not changed comes from
/// the cache.
pub(super) fn load(
    catalog: &Path,
    base: &Path,
    entries: Vec<DocumentEntry>,
    cache: &Cache,
    progress: &(dyn Fn(usize, usize) + Sync),
    problems: &mut Vec<Problem>,
) -> (DocumentDiscovery, Refreshed) {
    let mut sources: Vec<DocumentSource> = Vec::new();
    for entry in entries {
        let place = format!("{}:{}", catalog.display(), entry.line);
        let description = (!entry.description.is_empty()).then_some(entry.description);
        match (entry.path, entry.content) {
            (Some(path), _) => {
                let Some(files) = files(base, &place, &path, problems) else { continue };
                let one = files.len() == 1;
                sources.extend(files.into_iter().map(|file| DocumentSource {
                    name: entry.name.clone().filter(|_| one),
                    description: description.clone(),
                    tags: entry.tags.clone(),
                    ..DocumentSource::path(file)
                }));
            }
            (None, Some(content)) => sources.push(DocumentSource {
                description,
                tags: entry.tags,
                ..DocumentSource::inline(entry.name.unwrap_or_default(), content)
            }),
            (None, None) => {}
        }
    }
    let mut snapshot: Snapshot = cache.get("documents", "").unwrap_or_default();
    let before = snapshot.clone();
    let (documents, refreshed, more) = DocumentDiscovery::refresh(&sources, &mut snapshot, progress);
    problems.extend(more);
    if snapshot != before {
        cache.put("documents", "", &snapshot);
    }
    (documents, refreshed)
}
