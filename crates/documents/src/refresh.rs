//! Loading again what was loaded before: what did not change is not converted again, and what changed is counted.
//!
//! A file counts as unchanged when its size and the time of its last change are the same; else when its content is (by
//! BLAKE3). Markdown and text are read each time, since reading them is all the work; what was made of other formats is
//! kept.

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
    Document, DocumentDiscovery, DocumentSource, Format,
    formats::{self, Converted},
    load::{Item, Place, file_bytes, format_of_file},
    read::{self, FileStat},
};

/// Changes whenever a format is converted in another way.
const VERSION: u32 = 2;

/// What was read before. To be kept by the caller, in memory or as JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    version: u32,
    files: BTreeMap<String, FileRecord>,
}

/// What was read of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FileRecord {
    /// How it was called.
    #[serde(default)]
    place: String,
    bytes: u64,
    /// Nanoseconds since 1970.
    modified: Option<u64>,
    /// Of the content.
    hash: String,
    /// What was made of it, where that was work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<Conversion>,
}

/// What came out of a file: a text in a format, or nothing; and what there was to say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Conversion {
    text: Option<(Format, Converted)>,
    problems: Vec<Problem>,
}

/// What a refresh found to have changed, in texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refreshed {
    /// New ones.
    pub added: usize,
    /// Those with another content.
    pub updated: usize,
    /// Those that are no longer there.
    pub removed: usize,
    /// Those with the same content.
    pub unchanged: usize,
}

impl DocumentSource {
    /// The documents of this source, several files at once. Names may repeat; [`crate::DocumentDiscovery::new`] sees to
    /// that.
    pub fn load(&self) -> (Vec<Document>, Vec<Problem>) {
        let loaded = load(std::slice::from_ref(self), &mut Snapshot::default(), &|_, _| (), &|| true);
        let (documents, _, problems) = loaded.unwrap_or_default();
        (documents, problems)
    }
}

impl DocumentDiscovery {
    /// Loads all sources, several files at once.
    pub fn load(sources: &[DocumentSource]) -> (DocumentDiscovery, Vec<Problem>) {
        let (discovery, _, problems) = DocumentDiscovery::refresh(sources, &mut Snapshot::default(), &|_, _| ());
        (discovery, problems)
    }

    /// Loads all sources again. `snapshot` is what the last refresh left there, or empty, and is brought up to date.
    /// `progress` is told how many texts are done of how many, from several threads at once.
    pub fn refresh(
        sources: &[DocumentSource],
        snapshot: &mut Snapshot,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> (DocumentDiscovery, Refreshed, Vec<Problem>) {
        let refreshed = DocumentDiscovery::refresh_while(sources, snapshot, progress, &|| true);
        refreshed.unwrap_or_else(|| (DocumentDiscovery::new(Vec::new()).0, Refreshed::default(), Vec::new()))
    }

    /// [`DocumentDiscovery::refresh`] as long as it is wanted: `None`, with the snapshot as it was, once `is_wanted` says that it is
    /// not. It is asked before each file, from several threads at once.
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

/// Loads all sources, several files at once; `None` once that is not wanted any more.
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

/// What came of one item.
#[derive(Default)]
struct Loaded {
    document: Option<Document>,
    problems: Vec<Problem>,
    record: Option<FileRecord>,
}

/// What came of an item; a problem where reading it panicked, so that the others are loaded.
fn load_or_problem(item: &Item, load: impl FnOnce() -> Loaded) -> Loaded {
    catch_panic(load).unwrap_or_else(|reason| {
        let problem = Problem::error(item.place(), reason).advise("save it again, or take it out of the catalog");
        Loaded { problems: vec![problem], ..Loaded::default() }
    })
}

fn load_one(item: &Item, before: &Snapshot) -> Loaded {
    match &item.place {
        Place::Inline { text, format } => {
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
        Place::File(path) | Place::Copy { path, .. } if !path.exists() => {
            let problem = Problem::error(item.place(), "there is no such file or folder").advise("correct the path");
            Loaded { problems: vec![problem], ..Loaded::default() }
        }
        Place::File(path) | Place::Copy { path, .. } => load_file(item, path, before)
            .unwrap_or_else(|problem| Loaded { problems: vec![problem], ..Loaded::default() }),
    }
}

/// By what a file is known from one refresh to the next, whatever the folder from which its path counts.
fn key(item: &Item) -> String {
    match &item.place {
        Place::File(path) => absolute(path).unwrap_or_else(|_| path.clone()).display().to_string(),
        Place::Inline { .. } | Place::Copy { .. } => item.place(),
    }
}

fn load_file(item: &Item, path: &Path, before: &Snapshot) -> Result<Loaded, Problem> {
    let place = item.place();
    let stat = read::stat(path)?;
    let modified = nanoseconds(stat);
    let old = before.files.get(&key(item));
    // What was said of it names it as it was called then.
    let is_called_so =
        |old: &&FileRecord| old.place == place || old.made.as_ref().is_none_or(|made| made.problems.is_empty());
    let current = old.filter(|_| before.version == VERSION).filter(is_called_so);
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
    let work = !matches!(format, Ok(Format::Markdown | Format::Text));
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

    #[test]
    fn a_file_is_the_same_wherever_its_path_counts_from() {
        let (relative, mut snapshot) = (Path::new("tests/files"), Snapshot::default());
        for (root, unchanged) in [(relative.to_owned(), false), (absolute(relative).unwrap(), true)] {
            let (_, found, _) = DocumentDiscovery::refresh(&[DocumentSource::path(root)], &mut snapshot, &|_, _| ());
            assert_eq!((found.unchanged > 0, found.added == 0, found.removed), (unchanged, unchanged, 0), "{found:?}");
        }
    }

    #[test]
    fn a_refresh_that_is_not_wanted_any_more_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..20 {
            std::fs::write(folder.path().join(format!("{n}.md")), "# One\n\nText.\n").unwrap();
        }
        let sources = [DocumentSource::path(folder.path())];
        // While the folder is walked through, and while its files are read.
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
    fn a_file_over_which_a_parser_panics_costs_itself() {
        let sources = [DocumentSource::inline("good", "text"), DocumentSource::inline("bad", "text")];
        let items: Vec<Item> = sources.iter().flat_map(|source| source.items(&mut Vec::new(), &|| true)).collect();
        let load = |item: &Item| match item.place().contains("bad") {
            true => panic!("not a boundary"),
            false => load_one(item, &Snapshot::default()),
        };
        let loaded: Vec<Loaded> = items.par_iter().map(|item| load_or_problem(item, || load(item))).collect();
        assert!(loaded[0].document.is_some() && loaded[1].document.is_none());
        let told: Vec<String> = loaded[1].problems.iter().map(ToString::to_string).collect();
        assert!(told[0].contains("bad") && told[0].contains("the reader failed: not a boundary"), "{told:?}");
    }

    /// Loads a folder after each change: added, updated, removed, unchanged; and how many documents there are.
    fn check(root: &Path, snapshot: &mut Snapshot, expected: [usize; 4], documents: usize) {
        let steps = AtomicUsize::new(0);
        let count = |_, _| {
            steps.fetch_add(1, Ordering::Relaxed);
        };
        let (discovery, found, problems) = DocumentDiscovery::refresh(&[DocumentSource::path(root)], snapshot, &count);
        assert_eq!([found.added, found.updated, found.removed, found.unchanged], expected, "{problems:?}");
        assert_eq!(discovery.documents().len(), documents);
        assert_eq!(steps.load(Ordering::Relaxed), expected[0] + expected[1] + expected[3]);
        // As it would be kept in a file.
        let json = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(serde_json::from_str::<Snapshot>(&json).unwrap(), *snapshot);
    }

    #[test]
    fn a_refresh_counts_what_changed_and_converts_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let write = |name: &str, text: &str| std::fs::write(root.join(name), text).unwrap();
        write("a.md", "# A");
        write("b.html", "<h1>B</h1>");
        write("bad.pdf", "no PDF");
        let mut snapshot = Snapshot::default();
        check(root, &mut snapshot, [3, 0, 0, 0], 2);
        check(root, &mut snapshot, [0, 0, 0, 3], 2);

        // What was made of a file that did not change is taken from the snapshot, the problem with it too.
        for (name, record) in &mut snapshot.files {
            if let Some(Conversion { text: Some((_, converted)), .. }) = &mut record.made {
                assert!(name.ends_with("b.html"));
                converted.text = "# FileRecord".into();
            }
        }
        let sources = [DocumentSource::path(root)];
        let (discovery, _, problems) = DocumentDiscovery::refresh(&sources, &mut snapshot, &|_, _| ());
        assert_eq!(discovery.documents()[1].content, "# FileRecord");
        assert!(problems.len() == 1 && problems[0].place.ends_with("bad.pdf"), "{problems:?}");

        // Another time alone changes nothing; another content does.
        let file = std::fs::File::options().write(true).open(root.join("b.html")).unwrap();
        file.set_modified(UNIX_EPOCH).unwrap();
        write("a.md", "# A2");
        write("c.md", "# C");
        std::fs::remove_file(root.join("bad.pdf")).unwrap();
        check(root, &mut snapshot, [1, 1, 1, 1], 3);
    }
}
