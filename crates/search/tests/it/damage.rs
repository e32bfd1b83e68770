//! Any change to a file of an index is detected or has no effect, and one refresh repairs it.
//!
//! `PROSPECTOR_TEST_FLIPS`, `PROSPECTOR_TEST_DELETIONS` and `PROSPECTOR_TEST_CUTS` set the number of faults,
//! `PROSPECTOR_TEST_SEED` the random seed.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock},
    time::{SystemTime, UNIX_EPOCH},
};

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_search::ranking::Ranker;
use prospector_search::{Index, Query, SearchError};
use prospector_search::{StaticTable, embed::Embedder};

static EMBEDDER: LazyLock<Arc<dyn Embedder>> = LazyLock::new(|| Arc::new(StaticTable::shipped().unwrap()));

const QUESTIONS: [&str; 4] = ["unpaid invoices", "train schedules of today", "getOrder", "nothing like that at all"];

/// A deterministic pseudo-random generator (Marsaglia, 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

fn records(changed: bool) -> Vec<Record> {
    let subjects = ["railway timetables", "train schedules", "unpaid invoices", "outstanding bills"];
    let mut all: Vec<Record> = (0..40)
        .map(|n| {
            let mut record = Record::new(Kind::Table, format!("estate.table_{n}"), format!("table_{n}"));
            record.parent = "estate".into();
            record.description = format!("{} of year {n}", subjects[n % 4]);
            record
        })
        .collect();
    let mut order = Record::new(Kind::Operation, "shop.getOrder", "getOrder");
    order.aliases = vec!["GET /orders/{order_id}".into()];
    order.description = "Returns an order.".into();
    all.push(order);
    if changed {
        all[3].description = "Songs and how long they are.".into();
        all.remove(7);
    }
    all
}

fn open(folder: &Path) -> Index {
    Index::open(folder, Some(EMBEDDER.clone())).unwrap()
}

/// Returns the exact results of several searches, or the damage found.
fn answers(index: &Index) -> Result<String, SearchError> {
    let mut said = String::new();
    for question in QUESTIONS {
        for ranker in Ranker::ALL {
            let query = Query { text: question.into(), limit: 50, ranker, ..Query::default() };
            for hit in index.rank(&query)? {
                said.push_str(&format!("{question} {} {:x} {hit:?}\n", ranker.as_str(), hit.relevance.get().to_bits()));
            }
        }
        let found = index.search(&Query { text: question.into(), limit: 5, ..Query::default() })?;
        said.push_str(&format!("{found:?}\n"));
    }
    Ok(said)
}

/// Creates an index with several commits, deleted records and segments.
fn original(folder: &Path) {
    let index = open(folder);
    index.refresh(records(false), &|_, _| ()).unwrap();
    index.refresh(records(true), &|_, _| ()).unwrap();
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(file, target).unwrap();
    }
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    Flip,
    Delete,
    Cut,
}

impl Fault {
    /// Applies the fault to a file, and describes it.
    fn apply(self, path: &Path, random: &mut Random) -> String {
        let mut bytes = fs::read(path).unwrap();
        match self {
            Fault::Flip => {
                let bit = random.below(bytes.len() as u64 * 8);
                bytes[(bit / 8) as usize] ^= 1 << (bit % 8);
                fs::write(path, bytes).unwrap();
                format!("bit {bit} of {}", path.display())
            }
            Fault::Cut => {
                let length = random.below(bytes.len() as u64);
                fs::File::options().write(true).open(path).unwrap().set_len(length).unwrap();
                format!("all of {} but {length} bytes", path.display())
            }
            Fault::Delete => {
                fs::remove_file(path).unwrap();
                path.display().to_string()
            }
        }
    }
}

#[derive(Debug, Default)]
struct Tally {
    faults: usize,
    noticed_by_a_search: usize,
    harmless_to_searches: usize,
    healed: usize,
}

#[test]
fn detects_every_fault_and_repairs_by_one_refresh() {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seed = number("PROSPECTOR_TEST_SEED").unwrap_or_else(clock).max(1);
    println!("PROSPECTOR_TEST_SEED={seed}");
    let mut random = Random(seed);
    // In memory if possible, to avoid waiting for a disk.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let (good, fresh, bad) = (folder.path().join("good"), folder.path().join("fresh"), folder.path().join("bad"));
    original(&good);
    let before = answers(&open(&good)).unwrap();
    open(&fresh).refresh(records(true), &|_, _| ()).unwrap();
    let rebuilt = answers(&open(&fresh)).unwrap();
    let count = |name: &str, usual: u64| number(name).unwrap_or(usual);
    for (fault, times) in [
        (Fault::Flip, count("PROSPECTOR_TEST_FLIPS", 150)),
        (Fault::Delete, count("PROSPECTOR_TEST_DELETIONS", 30)),
        (Fault::Cut, count("PROSPECTOR_TEST_CUTS", 20)),
    ] {
        let mut tally = Tally::default();
        // All files in turn, regardless of size; an empty one has no bits to flip.
        let kinds: Vec<PathBuf> = files(&good)
            .into_iter()
            .filter(|file| matches!(fault, Fault::Delete) || fs::metadata(file).unwrap().len() > 0)
            .map(|file| file.strip_prefix(&good).unwrap().to_owned())
            .collect();
        assert!(kinds.len() > 12, "{kinds:?}");
        for turn in 0..times as usize {
            copy(&good, &bad);
            let reader = open(&bad);
            assert_eq!(answers(&reader).unwrap(), before);
            let file = &kinds[turn % kinds.len()];
            let what = format!("seed {seed}, {fault:?}: {}", fault.apply(&bad.join(file), &mut random));
            check_fault(&bad, &reader, file, (&before, &rebuilt), &what, &mut tally);
        }
        println!("{fault:?}: {tally:?}");
        assert_eq!(tally.healed, tally.faults);
    }
}

fn check_fault(
    bad: &Path,
    reader: &Index,
    file: &Path,
    (before, rebuilt): (&str, &str),
    what: &str,
    tally: &mut Tally,
) {
    tally.faults += 1;
    let mut noticed = false;
    // A reader that was open before, and one opened now.
    for index in [reader, &open(bad)] {
        match answers(index) {
            Ok(answers) => assert_eq!(answers, before, "wrong answers in silence: {what}"),
            Err(SearchError::Damaged(damage)) => {
                assert!(!damage.what.is_empty() && index.check().is_err(), "{what}");
                noticed = true;
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }
    tally.noticed_by_a_search += usize::from(noticed);
    tally.harmless_to_searches += usize::from(!noticed);

    // Locks are created on demand.
    let is_lock = file.extension().is_some_and(|extension| extension == "lock");
    let listing = files(bad);
    let examined = Index::examine(bad).unwrap();
    assert_eq!(files(bad), listing, "it is looked at and not changed");
    assert_eq!(examined.damage.is_empty(), is_lock, "{what}: {examined:?}");
    if let Some(damage) = examined.damage.first() {
        // Without the name of the generation, its files cannot be distinguished from those of another.
        assert_eq!(damage.file, bad.join(file), "{what}");
    }

    let report = reader.refresh(records(true), &|_, _| ()).unwrap();
    let reason = report.rebuilt.unwrap_or_default();
    assert_eq!(reason.starts_with("the index was damaged: "), !is_lock, "{what}: {reason}");
    let expected = if is_lock { before } else { rebuilt };
    for index in [reader, &open(bad)] {
        assert_eq!(answers(index).unwrap(), expected, "after the refresh: {what}");
        index.check().unwrap();
    }
    assert_eq!(Index::examine(bad).unwrap().damage, []);
    tally.healed += 1;
}

#[test]
fn reports_a_requested_rebuild() {
    let folder = tempfile::tempdir().unwrap();
    original(folder.path());
    let index = open(folder.path());
    let stamp = index.stamp();
    let report = index.rebuild(records(true), &|_, _| ()).unwrap();
    assert_eq!((report.added, report.unchanged), (40, 0));
    assert_eq!(report.rebuilt.as_deref(), Some("a rebuild was requested"));
    assert_ne!(index.stamp(), stamp);
    assert!(answers(&index).is_ok());
}

#[test]
fn examine_lists_every_damaged_file() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Index::examine(&folder.path().join("none")).unwrap().files, 0);
    original(folder.path());
    let examined = Index::examine(folder.path()).unwrap();
    let there: Vec<PathBuf> =
        files(folder.path()).into_iter().filter(|file| file.extension().is_none_or(|e| e != "lock")).collect();
    assert_eq!((examined.files, examined.damage.len()), (there.len(), 0), "{there:#?}");
    assert_eq!(examined.bytes, there.iter().map(|file| fs::metadata(file).unwrap().len()).sum::<u64>());
    let damaged: Vec<&PathBuf> =
        there.iter().filter(|file| file.extension().is_some_and(|e| e == "idx" || e == "bin")).collect();
    assert!(damaged.len() > 3);
    for file in &damaged {
        let mut bytes = fs::read(file).unwrap();
        *bytes.last_mut().unwrap() ^= 0x80;
        fs::write(file, bytes).unwrap();
    }
    let mut found: Vec<PathBuf> =
        Index::examine(folder.path()).unwrap().damage.into_iter().map(|damage| damage.file).collect();
    found.sort();
    assert_eq!(found.iter().collect::<Vec<_>>(), damaged);
}

#[cfg(unix)]
#[test]
fn index_files_are_private() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    original(&index);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for file in files(&index) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
        assert_eq!(mode(file.parent().unwrap()), 0o700, "{}", file.display());
    }
}

#[test]
fn removes_leftovers_of_killed_writers() {
    let folder = tempfile::tempdir().unwrap();
    original(folder.path());
    let generation = folder.path().join(fs::read_to_string(folder.path().join("CURRENT")).unwrap());
    let left = [
        folder.path().join("CURRENT.4711-0.new"),
        folder.path().join("g-0-12345678/lexical/a.idx"),
        generation.join("lexical/meta.json.new"),
        generation.join("lexical/.tmpAbCdEf"),
    ];
    for file in &left {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "half").unwrap();
    }
    let report = open(folder.path()).refresh(records(true), &|_, _| ()).unwrap();
    assert_eq!((report.unchanged, report.rebuilt), (40, None));
    for file in left {
        assert!(!file.exists(), "{}", file.display());
    }
}
