//! A sequence of states of an index, each identifiable by any of its records, and processes that work on them.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use prospector_core::Kind;
use prospector_core::record::Record;
use prospector_search::ranking::Ranker;
use prospector_search::{Index, Query};
use prospector_search::{StaticTable, embed::Embedder};

/// Number of records of a state, not counting its marker.
const RECORDS: u64 = 240;

/// Passes the folder of the index to a child process.
const FOLDER: &str = "PROSPECTOR_TEST_INDEX";

/// Each subject has a record with the same meaning, which ranks behind the others if its vector is lost.
const SUBJECTS: [&str; 6] = [
    "railway timetables",
    "train schedules",
    "unpaid invoices",
    "outstanding bills",
    "football matches",
    "soccer games",
];

pub(crate) fn open(folder: &Path) -> Index {
    let embedder: Arc<dyn Embedder> = Arc::new(StaticTable::shipped().unwrap());
    Index::open(folder, Some(embedder)).unwrap()
}

/// Returns all records of a state. A few of them change between states; every fourth time all of them change, which
/// rebuilds the index.
pub(crate) fn records(state: u64) -> Vec<Record> {
    let table = |id: String, name: &str, description: String| {
        let mut record = Record::new(Kind::Table, format!("estate.{id}"), name);
        record.parent = "estate".into();
        record.description = description;
        record
    };
    let mut all = vec![table("marker".into(), "marker", state.to_string())];
    for number in (0..RECORDS).filter(|number| !(number + state).is_multiple_of(101)) {
        let last_change = (0..=state)
            .rev()
            .find(|past| past.is_multiple_of(4) || (number + past).is_multiple_of(60))
            .unwrap_or_default();
        let subject = SUBJECTS[(number % 6) as usize];
        all.push(table(format!("table_{number}"), subject, format!("{subject}, as of state {last_change}")));
    }
    all
}

/// Returns the complete state named by the marker in an index. Determined from a single result, i.e. at one point in
/// time.
pub(crate) fn state(index: &Index) -> u64 {
    let hits = index.rank(&Query { text: SUBJECTS[0].into(), limit: 1_000, ..Query::default() }).unwrap();
    let found: BTreeMap<&str, &str> = hits.iter().map(|hit| (hit.id.as_str(), hit.description.as_str())).collect();
    let marker = found.get("estate.marker").expect("a state has a marker");
    let state = marker.parse().unwrap();
    let expected = records(state);
    let expected: BTreeMap<&str, &str> =
        expected.iter().map(|record| (record.id.as_str(), record.description.as_str())).collect();
    assert_eq!(found, expected, "not all of state {state}");
    assert_eq!(hits.len(), found.len(), "a record is there twice");

    state
}

/// Checks that each record has its vector: a dense search returns those of each subject first. No other process may
/// write meanwhile.
pub(crate) fn check_vectors(index: &Index) {
    for subject in SUBJECTS {
        let query = Query { text: subject.into(), limit: 1_000, ranker: Ranker::Dense, ..Query::default() };
        let hits = index.rank(&query).unwrap();
        let is_about = |description: &&str| description.starts_with(subject);
        let descriptions: Vec<&str> = hits.iter().map(|hit| hit.description.as_str()).collect();
        let count = descriptions.iter().filter(|text| is_about(text)).count();
        let first = descriptions.iter().take(count).all(is_about);
        assert!(count > 5 && first, "vectors are missing, or are those of others: {subject}: {descriptions:?}");
    }
}

/// Starts this test binary again, running an ignored test on a folder; returns once it has started its work.
pub(crate) fn start(test: &str, folder: &Path) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("working") {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "the child ended before its work began");
    }
    (child, output)
}

/// In a child process: returns the folder; `None` if all ignored tests are run manually.
pub(crate) fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}
