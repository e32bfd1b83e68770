//! The documents of a catalog: files, inline texts, web pages and wikis.

mod confluence;

use std::{path::PathBuf, sync::Arc};

use prospector_documents::{
    DocumentDiscovery, DocumentSource, Origin,
    refresh::{Refreshed, Snapshot},
};
use prospector_fetch::Request;

use self::confluence::Wiki;
use super::{
    entry::Fields,
    file_schema,
    paths::{files, watch},
    section::{Folders, Opening, Section},
    web,
};

/// The documents.
pub(super) struct Documents;

/// An entry of `documents`: a path, a text, a URL or a wiki.
#[derive(Debug)]
pub(super) struct DocumentEntry {
    pub(super) line: u64,
    pub(super) name: Option<String>,
    pub(super) path: Option<String>,
    pub(super) content: Option<String>,
    /// With values from the environment; must not be shown.
    pub(super) url: Option<String>,
    pub(super) wiki: Option<Wiki>,
    pub(super) description: Option<String>,
    pub(super) tags: Vec<String>,
}

/// Checks an entry.
pub(super) fn check(fields: &mut Fields<'_>, written: file_schema::DocumentEntry) -> Option<DocumentEntry> {
    let entry = DocumentEntry {
        line: fields.line(),
        wiki: confluence::read(fields, &written),
        name: fields.name(written.name),
        path: written.path.and_then(|path| fields.path("the file", Some(path))),
        content: written.content,
        url: fields.address("url", written.url),
        description: written.description,
        tags: written.tags.unwrap_or_default(),
    };
    let given = [&entry.path, &entry.content, &entry.url].into_iter().flatten().count();
    if given + usize::from(entry.wiki.is_some()) != 1 && !fields.has_failed() {
        let reason = format!("{} needs exactly one of `path`, `content`, `url` and `confluence`", fields.what);
        fields.fail(entry.line, reason, "write one of them");
    } else if entry.content.is_some() && entry.name.is_none() {
        let reason = format!("{} has `content` but no `name`", fields.what);
        fields.fail_missing(entry.line, reason, "write `name: some_name`");
    }
    Some(entry)
}

impl Section for Documents {
    type Entry = DocumentEntry;
    /// The documents, and the number of those changed since the catalog was last opened.
    type Loaded = (Arc<DocumentDiscovery>, Refreshed);

    fn files(entries: &[DocumentEntry], folders: &Folders<'_>) -> Option<Vec<PathBuf>> {
        if entries.iter().any(|entry| entry.url.is_some() || entry.wiki.is_some()) {
            return None;
        }
        let mut watched = Vec::new();
        for pattern in entries.iter().filter_map(|entry| entry.path.as_ref()) {
            for path in files(folders.base, "", pattern, folders.cancel, &mut Vec::new())? {
                watch(&path, folders.cancel, &mut watched)?;
            }
        }
        Some(watched)
    }

    /// Converts several documents concurrently; unchanged files come from the cache.
    async fn load(self, entries: Vec<DocumentEntry>, opening: &mut Opening<'_>) -> Self::Loaded {
        let requests = entries.iter().filter_map(|entry| entry.url.as_ref());
        let requests = requests.map(|url| Request::get(url).accepting(web::DOCUMENT_TYPES)).collect();
        let mut copies = opening.web.copies(requests).await.into_iter();
        let mut sources: Vec<DocumentSource> = Vec::new();
        for entry in entries {
            let place = opening.place(entry.line);
            let description = entry.description.filter(|description| !description.is_empty());
            if entry.url.is_some() {
                let Some(saved) = copies.next().and_then(|copy| web::note_copy(&place, copy, &mut opening.problems))
                else {
                    continue;
                };
                let origin = Origin::Url { url: saved.url, copy: saved.path };
                sources.push(DocumentSource { name: entry.name, origin, description, tags: entry.tags });
                continue;
            }
            if let Some(wiki) = &entry.wiki {
                let (pages, more) = confluence::pages(&place, wiki, &opening.web).await;
                opening.problems.extend(more);
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
                    let Folders { base, cancel, .. } = opening.folders;
                    let Some(files) = files(base, &place, &path, cancel, &mut opening.problems) else { continue };
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
        let on_document = |done, total| (opening.progress)("documents", done, total);
        let mut snapshot: Snapshot = opening.cache.get("documents", "").unwrap_or_default();
        let before = snapshot.clone();
        let cancel = opening.folders.cancel;
        let is_wanted = || !cancel.is_cancelled();
        let loaded = DocumentDiscovery::refresh_while(&sources, &mut snapshot, &on_document, &is_wanted);
        // A cancelled load is discarded: see `Opening::check_wanted`.
        let (documents, refreshed, more) =
            loaded.unwrap_or_else(|| (DocumentDiscovery::new(Vec::new()).0, Refreshed::default(), Vec::new()));
        opening.problems.extend(more);
        if snapshot != before && is_wanted() {
            opening.cache.put("documents", "", &snapshot);
        }
        (Arc::new(documents), refreshed)
    }
}
