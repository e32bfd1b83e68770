//! Concurrent searches during a refresh by another process: every result is from a complete state.

use std::{collections::BTreeSet, io::Read, path::Path};

use crate::states;

const REFRESHES: u64 = 20;

/// Searches until the file `stop` exists, then prints the number of states seen.
fn read(reopen: bool) {
    let Some(folder) = states::folder() else { return };
    let index = states::open(&folder);
    let mut seen = BTreeSet::from([states::state(&index)]);
    println!("working");
    while !folder.with_extension("stop").exists() {
        // Files may vanish during opening, so this is tried more often than a full check.
        for _ in 0..if reopen { 10 } else { 0 } {
            assert!(!states::open(&folder).is_empty(), "it was opened while it was replaced");
        }
        let state = if reopen { states::state(&states::open(&folder)) } else { states::state(&index) };
        let latest = seen.last().copied().unwrap_or_default();
        assert!(state >= latest, "state {state} after {latest}");
        seen.insert(state);
    }
    assert_eq!(states::state(&index), REFRESHES);
    states::check_vectors(&index);
    println!("saw {} states", seen.len());
}

/// A child process that opens the index once.
#[test]
#[ignore = "runs in a process of its own"]
fn read_what_is_open() {
    read(false);
}

/// A child process that opens the index for each question.
#[test]
#[ignore = "runs in a process of its own"]
fn reader_of_new_states() {
    read(true);
}

#[test]
fn two_processes_search_while_a_third_refreshes() {
    let folder = tempfile::tempdir().unwrap();
    let path: &Path = &folder.path().join("index");
    let index = states::open(path);
    index.refresh(states::records(0), &|_, _| ()).unwrap();
    let readers =
        ["concurrent::read_what_is_open", "concurrent::reader_of_new_states"].map(|test| states::start(test, path));
    let mut generations = BTreeSet::new();
    for state in 1..=REFRESHES {
        index.refresh(states::records(state), &|_, _| ()).unwrap();
        generations.extend(index.stamp().and_then(|stamp| Some(stamp.split_once(' ')?.0.to_owned())));
    }
    assert_eq!(generations.len() as u64, REFRESHES / 4 + 1, "only every fourth refresh rebuilds the index");
    std::fs::write(path.with_extension("stop"), "").unwrap();
    for (mut child, mut output) in readers {
        let mut said = String::new();
        output.read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success(), "{said}");
        let states = said.split("saw ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        assert!(states.parse::<u64>().unwrap() > 2, "it saw the index change: {said}");
    }
}

#[test]
fn two_writers_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    states::open(folder.path()).refresh(states::records(0), &|_, _| ()).unwrap();
    let path = folder.path();
    std::thread::scope(|scope| {
        for first in [1, 2] {
            scope.spawn(move || {
                let index = states::open(path);
                for state in (first..12).step_by(2) {
                    index.refresh(states::records(state), &|_, _| ()).unwrap();
                }
            });
        }
    });
    assert!(states::state(&states::open(folder.path())) >= 10);
}
