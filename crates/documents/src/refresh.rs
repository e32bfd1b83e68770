//! Incremental reload: unchanged files are not converted again, and changes are counted.
//!
//! A file is unchanged if size and modification time are the same, or else if its BLAKE3 hash is. Texts are parsed each
//! time, as reading dominates; conversions of HTML, PDF and Office files are stored in the snapshot.

use std::{
    collections::BTreeMap,
    path::{Path, absolute},
    sync::atomic::{AtomicUsize, Ordering},
    time::UNIX_EPOCH,
};

use prospector_core::Problem;
use prospector_core::work::catch_panic;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    Document, DocumentDiscovery, DocumentSource, Format, formats,
    load::{Item, Origin, file_bytes, format_of_file},
    model::Converted,
    read::{self, FileStat},
};

/// Incremented whenever the conversion of a format changes.
const VERSION: u32 = 3;

/// State of the last load. The caller keeps it in memory or as JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    version: u32,
    files: BTreeMap<String, FileRecord>,
}

/// State of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FileRecord {
    /// Its display name, used in problems.
    #[serde(default)]
    place: String,
    bytes: u64,
    /// Nanoseconds since 1970.
    modified: Option<u64>,
    /// BLAKE3 hash of the content.
    hash: String,
    /// The conversion, for formats where it is expensive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<Conversion>,
}

/// The result of a conversion: format and text, or nothing, and problems.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Conversion {
    text: Option<(Format, Converted)>,
    problems: Vec<Problem>,
}

/// Number of texts that changed in a refresh.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refreshed {
    /// New texts.
    pub added: usize,
    /// Texts with changed content.
    pub updated: usize,
    /// Deleted texts.
    pub removed: usize,
    /// Texts with the same content.
    pub unchanged: usize,
}

impl DocumentSource {
    /// Loads the documents of this source, several files in parallel. Names may repeat;
    /// [`crate::DocumentDiscovery::new`] resolves that.
    pub fn load(&self) -> (Vec<Document>, Vec<Problem>) {
        let loaded = load(std::slice::from_ref(self), &mut Snapshot::default(), &|_, _| (), &|| true);
        let (documents, _, problems) = loaded.unwrap_or_default();
        (documents, problems)
    }
}

impl DocumentDiscovery {
    /// Loads all sources, several files in parallel.
    pub fn load(sources: &[DocumentSource]) -> (DocumentDiscovery, Vec<Problem>) {
        let refreshed = DocumentDiscovery::refresh_while(sources, &mut Snapshot::default(), &|_, _| (), &|| true);
        let (discovery, _, problems) = refreshed.unwrap_or_default();
        (discovery, problems)
    }

    /// Reloads all sources. `snapshot` is the state of the previous refresh, or empty, and is updated. `progress` is
    /// called with the number of finished texts and the total, and `is_wanted` before each file, both from several
    /// threads. Once `is_wanted` returns `false`, returns `None` and leaves the snapshot unchanged.
    pub fn refresh_while(
        sources: &[DocumentSource],
        snapshot: &mut Snapshot,
        progress: &(dyn Fn(usize, usize) + Sync),
        is_wanted: &(dyn Fn() -> bool + Sync),
    ) -> Option<(DocumentDiscovery, Refreshed, Vec<Problem>)> {
        let (documents, refreshed, mut problems) = load(sources, snapshot, progress, is_wanted)?;
        let (discovery, repeated) = DocumentDiscovery::new(documents);
        problems.extend(repeated);
        Some((discovery, refreshed, problems))
    }
}

/// Loads all sources, several files in parallel; `None` after cancellation.
pub(crate) fn load(
    sources: &[DocumentSource],
    snapshot: &mut Snapshot,
    progress: &(dyn Fn(usize, usize) + Sync),
    is_wanted: &(dyn Fn() -> bool + Sync),
) -> Option<(Vec<Document>, Refreshed, Vec<Problem>)> {
    let mut problems = Vec::new();
    let items: Vec<Item> = sources.iter().flat_map(|source| source.items(&mut problems, is_wanted)).collect();
    let before = &*snapshot;
    let done = AtomicUsize::new(0);
    let loaded: Vec<Loaded> = items
        .par_iter()
        .map(|item| {
            if !is_wanted() {
                return Loaded::default();
            }
            let one = load_or_problem(item, || load_one(item, before));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, items.len());
            one
        })
        .collect();
    if !is_wanted() {
        return None;
    }
    let mut documents = Vec::new();
    let mut after = Snapshot { version: VERSION, files: BTreeMap::new() };
    for (item, one) in items.iter().zip(loaded) {
        documents.extend(one.document);
        problems.extend(one.problems);
        after.files.extend(one.record.map(|record| (key(item), record)));
    }
    let refreshed = compare(before, &after);
    *snapshot = after;
    Some((documents, refreshed, problems))
}

fn compare(before: &Snapshot, after: &Snapshot) -> Refreshed {
    let mut refreshed = Refreshed::default();
    for (name, record) in &after.files {
        match before.files.get(name) {
            None => refreshed.added += 1,
            Some(old) if old.hash == record.hash => refreshed.unchanged += 1,
            Some(_) => refreshed.updated += 1,
        }
    }
    refreshed.removed = before.files.keys().filter(|name| !after.files.contains_key(*name)).count();
    refreshed
}

/// The result of loading an item.
#[derive(Default)]
struct Loaded {
    document: Option<Document>,
    problems: Vec<Problem>,
    record: Option<FileRecord>,
}

/// Loads an item; a panic becomes a problem, so that other items still load.
fn load_or_problem(item: &Item, load: impl FnOnce() -> Loaded) -> Loaded {
    catch_panic(load).unwrap_or_else(|reason| {
        let problem = Problem::error(item.place(), reason).advise("save it again, or remove it from the catalog");
        Loaded { problems: vec![problem], ..Loaded::default() }
    })
}

fn load_one(item: &Item, before: &Snapshot) -> Loaded {
    match &item.origin {
        Origin::Inline { text, format } => {
            let (converted, mut problems) = formats::convert(&item.place(), text.clone().into_bytes(), *format);
            let document = item.describe(*format, converted, None, &mut problems);
            let record = FileRecord {
                place: item.place(),
                bytes: text.len() as u64,
                modified: None,
                hash: hash(text.as_bytes()),
                made: None,
            };
            Loaded { document: Some(document), problems, record: Some(record) }
        }
        Origin::Path(path) | Origin::Url { copy: path, .. } if !path.exists() => {
            let problem = Problem::error(item.place(), "no such file or folder").advise("correct the path");
            Loaded { problems: vec![problem], ..Loaded::default() }
        }
        Origin::Path(path) | Origin::Url { copy: path, .. } => load_file(item, path, before)
            .unwrap_or_else(|problem| Loaded { problems: vec![problem], ..Loaded::default() }),
    }
}

/// Returns the key of an item in snapshots: the absolute path, independent of the working directory.
fn key(item: &Item) -> String {
    match &item.origin {
        Origin::Path(path) => absolute(path).unwrap_or_else(|_| path.clone()).display().to_string(),
        Origin::Inline { .. } | Origin::Url { .. } => item.place(),
    }
}

fn load_file(item: &Item, path: &Path, before: &Snapshot) -> Result<Loaded, Problem> {
    let place = item.place();
    let stat = read::stat(path)?;
    let modified = nanoseconds(stat);
    let old = before.files.get(&key(item));
    // Stored problems contain the display name, so they are only valid under the same name.
    let has_same_name =
        |old: &&FileRecord| old.place == place || old.made.as_ref().is_none_or(|made| made.problems.is_empty());
    let current = old.filter(|_| before.version == VERSION).filter(has_same_name);
    let same = |old: &&FileRecord| old.bytes == stat.bytes && old.modified == modified && modified.is_some();
    if let Some(old) = current.filter(same)
        && let Some(made) = &old.made
    {
        return Ok(describe(item, stat, made.clone(), FileRecord { place, ..old.clone() }));
    }
    let bytes = file_bytes(path)?;
    let hash = old.filter(same).map_or_else(|| hash(&bytes), |old| old.hash.clone());
    let record = FileRecord { place: place.clone(), bytes: stat.bytes, modified, hash, made: None };
    if let Some(made) = current.filter(|old| old.hash == record.hash).and_then(|old| old.made.clone()) {
        return Ok(describe(item, stat, made.clone(), FileRecord { made: Some(made), ..record }));
    }
    let mut problems = Vec::new();
    let format = format_of_file(&place, path, &bytes, &mut problems);
    let work = format.as_ref().map_or(true, |format| format.is_converted());
    let made = match format.and_then(|format| Ok((format, formats::try_convert(&place, bytes, format)?))) {
        Ok((format, (converted, said))) => {
            problems.extend(said);
            Conversion { text: Some((format, converted)), problems }
        }
        Err(problem) => {
            problems.push(problem);
            Conversion { text: None, problems }
        }
    };
    let record = FileRecord { made: Some(made.clone()).filter(|_| work), ..record };
    Ok(describe(item, stat, made, record))
}

fn describe(item: &Item, stat: FileStat, made: Conversion, record: FileRecord) -> Loaded {
    let mut problems = made.problems;
    let document = |(format, converted)| item.describe(format, converted, Some(stat), &mut problems);
    Loaded { document: made.text.map(document), problems, record: Some(record) }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn nanoseconds(stat: FileStat) -> Option<u64> {
    let since = stat.modified?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refresh(
        root: &Path,
        snapshot: &mut Snapshot,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> (DocumentDiscovery, Refreshed, Vec<Problem>) {
        DocumentDiscovery::refresh_while(&[DocumentSource::path(root)], snapshot, progress, &|| true).unwrap()
    }

    #[test]
    fn identifies_files_by_absolute_path() {
        let (relative, mut snapshot) = (Path::new("tests/files"), Snapshot::default());
        for (root, unchanged) in [(relative.to_owned(), false), (absolute(relative).unwrap(), true)] {
            let (_, found, _) = refresh(&root, &mut snapshot, &|_, _| ());
            assert_eq!((found.unchanged > 0, found.added == 0, found.removed), (unchanged, unchanged, 0), "{found:?}");
        }
    }

    #[test]
    fn cancelled_refresh_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..20 {
            std::fs::write(folder.path().join(format!("{n}.md")), "# One\n\nText.\n").unwrap();
        }
        let sources = [DocumentSource::path(folder.path())];
        // Cancellation during the scan of the folder, and while its files are read.
        for most in [0, 3, 21] {
            let (asked, mut snapshot) = (AtomicUsize::new(0), Snapshot::default());
            let is_wanted = || asked.fetch_add(1, Ordering::Relaxed) < most;
            let refreshed = DocumentDiscovery::refresh_while(&sources, &mut snapshot, &|_, _| (), &is_wanted);
            assert!(refreshed.is_none() && snapshot == Snapshot::default(), "{most}");
        }
        let mut snapshot = Snapshot::default();
        let refreshed = DocumentDiscovery::refresh_while(&sources, &mut snapshot, &|_, _| (), &|| true);
        assert_eq!(refreshed.map(|(_, refreshed, _)| refreshed.added), Some(20));
    }

    #[test]
    fn isolates_parser_panics() {
        let sources = [DocumentSource::inline("good", "text"), DocumentSource::inline("bad", "text")];
        let items: Vec<Item> = sources.iter().flat_map(|source| source.items(&mut Vec::new(), &|| true)).collect();
        let load = |item: &Item| match item.place().contains("bad") {
            true => panic!("not a boundary"),
            false => load_one(item, &Snapshot::default()),
        };
        let loaded: Vec<Loaded> = items.par_iter().map(|item| load_or_problem(item, || load(item))).collect();
        assert!(loaded[0].document.is_some() && loaded[1].document.is_none());
        let messages: Vec<String> = loaded[1].problems.iter().map(ToString::to_string).collect();
        assert!(
            messages[0].contains("bad") && messages[0].contains("the parser panicked: not a boundary"),
            "{messages:?}"
        );
    }

    /// Reloads a folder after each change; checks the number of added, updated, removed and unchanged texts, and of
    /// documents.
    fn check(root: &Path, snapshot: &mut Snapshot, expected: [usize; 4], documents: usize) {
        let steps = AtomicUsize::new(0);
        let count = |_, _| {
            steps.fetch_add(1, Ordering::Relaxed);
        };
        let (discovery, found, problems) = refresh(root, snapshot, &count);
        assert_eq!([found.added, found.updated, found.removed, found.unchanged], expected, "{problems:?}");
        assert_eq!(discovery.documents().len(), documents);
        assert_eq!(steps.load(Ordering::Relaxed), expected[0] + expected[1] + expected[3]);
        // Round trip through a file.
        let json = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(serde_json::from_str::<Snapshot>(&json).unwrap(), *snapshot);
    }

    #[test]
    fn refresh_counts_and_converts_only_changes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let write = |name: &str, text: &str| std::fs::write(root.join(name), text).unwrap();
        write("a.md", "# A");
        write("b.html", "<h1>B</h1>");
        write("bad.pdf", "no PDF");
        let mut snapshot = Snapshot::default();
        check(root, &mut snapshot, [3, 0, 0, 0], 2);
        check(root, &mut snapshot, [0, 0, 0, 3], 2);

        // The conversion of an unchanged file is taken from the snapshot, including its problem.
        for (name, record) in &mut snapshot.files {
            if let Some(Conversion { text: Some((_, converted)), .. }) = &mut record.made {
                assert!(name.ends_with("b.html"));
                converted.text = "# FileRecord".into();
            }
        }
        let (discovery, _, problems) = refresh(root, &mut snapshot, &|_, _| ());
        assert_eq!(discovery.documents()[1].content, "# FileRecord");
        assert!(problems.len() == 1 && problems[0].place.ends_with("bad.pdf"), "{problems:?}");

        // A new modification time alone changes nothing; new content does.
        let file = std::fs::File::options().write(true).open(root.join("b.html")).unwrap();
        file.set_modified(UNIX_EPOCH).unwrap();
        write("a.md", "# A2");
        write("c.md", "# C");
        std::fs::remove_file(root.join("bad.pdf")).unwrap();
        check(root, &mut snapshot, [1, 1, 1, 1], 3);
    }
}
