//! How many records a second does a new index take?
//!
//! Measured: `Index::refresh` of an empty folder with 1,000, 10,000 and 100,000 tables of about 630 bytes each, with the
//! shipped embedder: embedding, tokenising, writing and syncing to disk. Then, once, the percentiles of a thousand
//! searches in the largest. Corpus: the made-up estate of `estate/mod.rs`. It does not show: reading the sources
//! themselves (a parser of SQL takes far longer than the index), larger records, a larger embedder.

mod estate;

use std::time::{Duration, Instant};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use prospector_search::Query;

fn build(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("index_build");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    for count in [1_000, 10_000, 100_000] {
        let records = estate::records(count);
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter_batched(
                || (tempfile::tempdir().expect("a temporary folder"), records.clone()),
                |(folder, records)| {
                    estate::index(folder.path()).refresh(records, &|_, _| ()).expect("an index");
                    folder
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// Criterion has no percentiles: these are printed.
fn percentiles(_: &mut Criterion) {
    let tables = estate::tables(100_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = estate::index(folder.path());
    index.refresh(tables.iter().map(estate::Table::record).collect(), &|_, _| ()).expect("an index");
    let mut times: Vec<Duration> = estate::questions(&tables, 1_010)
        .into_iter()
        .map(|text| {
            let start = Instant::now();
            index.search(&Query { text, limit: 8, ..Query::default() }).expect("an answer");
            start.elapsed()
        })
        // The first ones warm it up.
        .skip(10)
        .collect();
    times.sort_unstable();
    println!("1,000 searches in 100,000: p50 {:?}, p90 {:?}, p99 {:?}", times[500], times[900], times[990]);
}

criterion_group!(benches, build, percentiles);
criterion_main!(benches);
