//! The documents of a catalog.

use std::path::Path;

use prospector_core::Problem;
use prospector_documents::{Document, DocumentDiscovery, DocumentSource, Origin};

use super::{
    cache::{Cache, fingerprint},
    file::DocumentEntry,
    files,
};

/// Loads every document that the catalog names.
pub(super) fn load(
    catalog: &Path,
    base: &Path,
    entries: Vec<DocumentEntry>,
    cache: &Cache,
    problems: &mut Vec<Problem>,
) -> DocumentDiscovery {
    let mut documents: Vec<Document> = Vec::new();
    for entry in entries {
        let place = format!("{}:{}", catalog.display(), entry.line);
        let description = (!entry.description.is_empty()).then_some(entry.description);
        let sources: Vec<DocumentSource> = match (entry.path, entry.content) {
            (Some(path), _) => {
                let Some(files) = files(base, &place, &path, problems) else { continue };
                let one = files.len() == 1;
                files
                    .into_iter()
                    .map(|file| DocumentSource {
                        name: entry.name.clone().filter(|_| one),
                        description: description.clone(),
                        tags: entry.tags.clone(),
                        ..DocumentSource::path(file)
                    })
                    .collect()
            }
            (None, Some(content)) => vec![DocumentSource {
                description,
                tags: entry.tags,
                ..DocumentSource::inline(entry.name.unwrap_or_default(), content)
            }],
            (None, None) => continue,
        };
        for source in sources {
            let (loaded, more) = cached(&source, cache);
            documents.extend(loaded);
            problems.extend(more);
        }
    }
    let (documents, more) = DocumentDiscovery::new(documents);
    problems.extend(more);
    documents
}

/// A single file comes from the cache while it has not changed; a folder is walked, and inline text is at hand.
fn cached(source: &DocumentSource, cache: &Cache) -> (Vec<Document>, Vec<Problem>) {
    let Origin::Path(path) = &source.origin else { return source.load() };
    if !path.is_file() {
        return source.load();
    }
    let key = format!("document {} {}", path.display(), source.name.as_deref().unwrap_or_default());
    let stamp = fingerprint(&[path], &format!("{source:?}"));
    if let Some(loaded) = cache.get(&key, &stamp) {
        return loaded;
    }
    let loaded = source.load();
    cache.put(&key, &stamp, &loaded);
    loaded
}
