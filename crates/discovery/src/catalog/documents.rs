//! The documents of a catalog.

use std::path::Path;

use prospector_core::Problem;
use prospector_documents::{
    DocumentDiscovery, DocumentSource, Origin,
    refresh::{Refreshed, Snapshot},
};
use prospector_fetch::Request;

use super::{
    cache::Cache,
    confluence,
    file::DocumentEntry,
    files,
    web::{self, Web},
};

/// Loads every document that the catalog names, several at once. What was made of files that have not changed comes from
/// the cache.
pub(super) async fn load(
    catalog: &Path,
    base: &Path,
    entries: Vec<DocumentEntry>,
    cache: &Cache,
    web: &Web,
    progress: &(dyn Fn(usize, usize) + Sync),
    problems: &mut Vec<Problem>,
) -> (DocumentDiscovery, Refreshed) {
    let requests = entries.iter().filter_map(|entry| entry.url.as_ref());
    let requests = requests.map(|url| Request::get(url).accepting(web::DOCUMENT_TYPES)).collect();
    let mut copies = web.copies(requests).await;
    let mut fetched = 0..;
    let mut sources: Vec<DocumentSource> = Vec::new();
    for entry in entries {
        let place = format!("{}:{}", catalog.display(), entry.line);
        let description = (!entry.description.is_empty()).then_some(entry.description);
        if entry.url.is_some() {
            let copy = fetched.next().and_then(|at| copies.remove(&at));
            let Some(saved) = copy.and_then(|copy| web::used(&place, copy, problems)) else { continue };
            let origin = Origin::Url { url: saved.url, copy: saved.path };
            sources.push(DocumentSource { name: entry.name, origin, description, tags: entry.tags });
            continue;
        }
        if let Some(wiki) = &entry.wiki {
            let (pages, more) = confluence::pages(&place, wiki, web).await;
            problems.extend(more);
            let prefix = entry.name.map(|name| format!("{name}/")).unwrap_or_default();
            sources.extend(pages.into_iter().map(|(title, origin)| DocumentSource {
                name: Some(format!("{prefix}{title}")),
                origin,
                description: None,
                tags: entry.tags.clone(),
            }));
            continue;
        }
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
