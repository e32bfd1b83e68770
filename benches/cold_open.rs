//! How long until a process that has nothing open has its first answer?
//!
//! Measured, over 1,000, 10,000 and 100,000 tables: `Index::open` and one search in this process (the shipped table is
//! parsed already), and a whole `planner search` from start to end over a catalog of SQL files that did not change since
//! it was opened before. Corpus: the made-up estate of `estate/mod.rs`. It does not show: a disk that has to be read (all
//! files are in the cache of the system after the first time), nor the first run, which describes every source.

mod estate;

use std::{process::Command, time::Duration};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use prospector_search::Query;

const QUESTION: &str = "which invoices of the airline were paid late";

fn open(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("open_and_search");
    for count in [1_000, 10_000, 100_000] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        estate::index(folder.path()).refresh(estate::records(count), &|_, _| ()).expect("an index");
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter(|| {
                let index = estate::index(folder.path());
                index.search(&Query { text: QUESTION.into(), limit: 8, ..Query::default() }).expect("an answer")
            });
        });
    }
    group.finish();
}

fn process(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("planner_search");
    group.sample_size(20).measurement_time(Duration::from_secs(10));
    for count in [1_000, 10_000, 100_000] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let catalog = estate::write(folder.path(), &estate::tables(count)).expect("a catalog");
        let search = || {
            let output = Command::new(env!("CARGO_BIN_EXE_planner"))
                .args(["search", QUESTION, "--catalog"])
                .arg(&catalog)
                .env("HOME", folder.path())
                .output()
                .expect("the program runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        search();
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| bencher.iter(search));
    }
    group.finish();
}

criterion_group!(benches, open, process);
criterion_main!(benches);
