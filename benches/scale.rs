//! What does a catalog of a million tables cost?
//!
//! Measured, once, for each number of tables that is named (1,000,000 where none is), the work of each process apart:
//! `Index::refresh` of an empty folder; `Index::open` of it, and the first search; then the percentiles of 500 searches of 4 to
//! 30 words, eight hits. Beside the times stands the most memory that the process ever held. Corpus: the made-up estate of
//! `estate/mod.rs`. It does not show: reading the sources themselves, values of columns, and a disk
//! that has to be read (all files are in the cache of the system).
//!
//! ```sh
//! cargo bench --bench scale -- 100000 1000000
//! ```

mod estate;

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use prospector_search::Query;

/// How many searches the percentiles are of.
const SEARCHES: usize = 500;

/// Questions are about the first tables only; all tables have the same distribution.
const ASKED_ABOUT: usize = 10_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["build", folder, count] => build(Path::new(folder), parse(count)),
        ["search", folder, count] => search(Path::new(folder), parse(count)),
        [] => measure(1_000_000),
        ref counts => counts.iter().for_each(|count| measure(parse(count))),
    }
}

fn parse(count: &str) -> usize {
    count.parse().expect("a number of tables")
}

/// Runs both parts in processes of their own.
fn measure(count: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for part in ["build", "search"] {
        let program = std::env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.arg(part).arg(folder.path()).arg(count.to_string());
        assert!(command.status().expect("it runs").success(), "{part} failed");
    }
}

fn build(folder: &Path, count: usize) {
    let records = estate::records(count);
    let before = most_memory();
    let start = Instant::now();
    estate::index(folder).refresh(records, &|_, _| ()).expect("an index");
    println!(
        "{count} tables: built in {:.1?}; memory {before} MB before, at most {} MB",
        start.elapsed(),
        most_memory()
    );
}

fn search(folder: &Path, count: usize) {
    let questions = estate::questions(&estate::tables(count.min(ASKED_ABOUT)), SEARCHES + 10);
    estate::index(&folder.join("nothing"));
    let before = most_memory();
    let start = Instant::now();
    let index = estate::index(folder);
    let opened = start.elapsed();
    let opened_with = most_memory();
    let ask = |text: &String| {
        let start = Instant::now();
        index.search(&Query { text: text.clone(), limit: 8, ..Query::default() }).expect("an answer");
        start.elapsed()
    };
    let first = ask(&questions[0]);
    let mut times: Vec<Duration> = questions[10..].iter().map(ask).collect();
    times.sort_unstable();
    println!(
        "{count} tables: opened in {opened:.1?}, first search {first:.1?}, p50 {:.1?}, p90 {:.1?}, p99 {:.1?}; memory {before} MB \
         before, {opened_with} MB open, at most {} MB",
        times[SEARCHES / 2],
        times[SEARCHES * 9 / 10],
        times[SEARCHES * 99 / 100],
        most_memory()
    );
}

/// The most memory that this process ever held, in megabytes; 0 where the system does not say.
fn most_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    kilobytes.unwrap_or_default() / 1_000
}
