//! Loading again what was loaded before: what did not change is not converted again, and what changed is counted.
//!
//! A file counts as unchanged when its size and the time of its last change are the same; else when its content is (by
//! BLAKE3). Markdown and text are read each time, since reading them is all the work; what was made of other formats is
//! kept.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::UNIX_EPOCH,
};

use prospector_core::{Problem, catch_panic};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    Document, DocumentDiscovery, DocumentSource, Format,
    formats::{self, Converted},
    load::{Item, Place, file_bytes, format_of_file},
    read::{self, Met},
};

/// Changes whenever a format is converted in another way.
const VERSION: u32 = 2;

/// What was read before. To be kept by the caller, in memory or as JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    version: u32,
    files: BTreeMap<String, Kept>,
}

/// What was read of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    bytes: u64,
    /// Nanoseconds since 1970.
    modified: Option<u64>,
    /// Of the content.
    hash: String,
    /// What was made of it, where that was work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<Made>,
}

/// What came out of a file: a text in a format, or nothing; and what there was to say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Made {
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

impl DocumentDiscovery {
    /// Loads all sources again. `snapshot` is what the last refresh left there, or empty, and is brought up to date.
    /// `progress` is told how many texts are done of how many, from several threads at once.
    pub fn refresh(
        sources: &[DocumentSource],
        snapshot: &mut Snapshot,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> (DocumentDiscovery, Refreshed, Vec<Problem>) {
        let (documents, refreshed, mut problems) = load(sources, snapshot, progress);
        let (discovery, repeated) = DocumentDiscovery::new(documents);
        problems.extend(repeated);
        (discovery, refreshed, problems)
    }
}

/// Loads all sources, several files at once.
pub(crate) fn load(
    sources: &[DocumentSource],
    snapshot: &mut Snapshot,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> (Vec<Document>, Refreshed, Vec<Problem>) {
    let mut problems = Vec::new();
    let items: Vec<Item> = sources.iter().flat_map(|source| source.items(&mut problems)).collect();
    let before = &*snapshot;
    let done = AtomicUsize::new(0);
    let loaded: Vec<One> = items
        .par_iter()
        .map(|item| {
            let one = one_or_problem(item, || load_one(item, before));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, items.len());
            one
        })
        .collect();
    let mut documents = Vec::new();
    let mut after = Snapshot { version: VERSION, files: BTreeMap::new() };
    for (item, one) in items.iter().zip(loaded) {
        documents.extend(one.document);
        problems.extend(one.problems);
        after.files.extend(one.kept.map(|kept| (item.place(), kept)));
    }
    let refreshed = compare(before, &after);
    *snapshot = after;
    (documents, refreshed, problems)
}

fn compare(before: &Snapshot, after: &Snapshot) -> Refreshed {
    let mut refreshed = Refreshed::default();
    for (name, kept) in &after.files {
        match before.files.get(name) {
            None => refreshed.added += 1,
            Some(old) if old.hash == kept.hash => refreshed.unchanged += 1,
            Some(_) => refreshed.updated += 1,
        }
    }
    refreshed.removed = before.files.keys().filter(|name| !after.files.contains_key(*name)).count();
    refreshed
}

/// What came of one item.
#[derive(Default)]
struct One {
    document: Option<Document>,
    problems: Vec<Problem>,
    kept: Option<Kept>,
}

/// What came of an item; a problem where reading it panicked, so that the others are loaded.
fn one_or_problem(item: &Item, load: impl FnOnce() -> One) -> One {
    catch_panic(load).unwrap_or_else(|reason| {
        let problem = Problem::error(item.place(), reason).advise("save it again, or take it out of the catalog");
        One { problems: vec![problem], ..One::default() }
    })
}

fn load_one(item: &Item, before: &Snapshot) -> One {
    match &item.place {
        Place::Inline { text, format } => {
            let (converted, mut problems) = formats::convert(&item.place(), text.clone().into_bytes(), *format);
            let document = item.describe(*format, converted, None, &mut problems);
            let kept = Kept { bytes: text.len() as u64, modified: None, hash: hash(text.as_bytes()), made: None };
            One { document: Some(document), problems, kept: Some(kept) }
        }
        Place::File(path) | Place::Copy { path, .. } if !path.exists() => {
            let problem = Problem::error(item.place(), "there is no such file or folder").advise("correct the path");
            One { problems: vec![problem], ..One::default() }
        }
        Place::File(path) | Place::Copy { path, .. } => {
            load_file(item, path, before).unwrap_or_else(|problem| One { problems: vec![problem], ..One::default() })
        }
    }
}

fn load_file(item: &Item, path: &Path, before: &Snapshot) -> Result<One, Problem> {
    let place = item.place();
    let met = read::meet(path)?;
    let modified = nanoseconds(met);
    let old = before.files.get(&place);
    let current = old.filter(|_| before.version == VERSION);
    let same = |old: &&Kept| old.bytes == met.bytes && old.modified == modified && modified.is_some();
    if let Some(old) = current.filter(same)
        && let Some(made) = &old.made
    {
        return Ok(one(item, met, made.clone(), old.clone()));
    }
    let bytes = file_bytes(path)?;
    let hash = old.filter(same).map_or_else(|| hash(&bytes), |old| old.hash.clone());
    let kept = Kept { bytes: met.bytes, modified, hash, made: None };
    if let Some(made) = current.filter(|old| old.hash == kept.hash).and_then(|old| old.made.clone()) {
        return Ok(one(item, met, made.clone(), Kept { made: Some(made), ..kept }));
    }
    let mut problems = Vec::new();
    let format = format_of_file(&place, path, &bytes, &mut problems);
    let work = !matches!(format, Ok(Format::Markdown | Format::Text));
    let made = match format.and_then(|format| Ok((format, formats::try_convert(&place, bytes, format)?))) {
        Ok((format, (converted, said))) => {
            problems.extend(said);
            Made { text: Some((format, converted)), problems }
        }
        Err(problem) => {
            problems.push(problem);
            Made { text: None, problems }
        }
    };
    let kept = Kept { made: Some(made.clone()).filter(|_| work), ..kept };
    Ok(one(item, met, made, kept))
}

fn one(item: &Item, met: Met, made: Made, kept: Kept) -> One {
    let mut problems = made.problems;
    let describe = |(format, converted)| item.describe(format, converted, Some(met), &mut problems);
    One { document: made.text.map(describe), problems, kept: Some(kept) }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn nanoseconds(met: Met) -> Option<u64> {
    let since = met.modified?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_over_which_a_parser_panics_costs_itself() {
        let sources = [DocumentSource::inline("good", "text"), DocumentSource::inline("bad", "text")];
        let items: Vec<Item> = sources.iter().flat_map(|source| source.items(&mut Vec::new())).collect();
        let load = |item: &Item| match item.place().contains("bad") {
            true => panic!("not a boundary"),
            false => load_one(item, &Snapshot::default()),
        };
        let loaded: Vec<One> = items.par_iter().map(|item| one_or_problem(item, || load(item))).collect();
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
        for (name, kept) in &mut snapshot.files {
            if let Some(Made { text: Some((_, converted)), .. }) = &mut kept.made {
                assert!(name.ends_with("b.html"));
                converted.text = "# Kept".into();
            }
        }
        let sources = [DocumentSource::path(root)];
        let (discovery, _, problems) = DocumentDiscovery::refresh(&sources, &mut snapshot, &|_, _| ());
        assert_eq!(discovery.documents()[1].content, "# Kept");
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
