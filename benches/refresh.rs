//! How long does a refresh take when one record changed, and when none did?
//!
//! Measured: `Index::refresh` with all records of 1,000, 10,000 and 100,000 tables, of which one has another description
//! each time, or none has; with the shipped embedder, and synced to disk. Corpus: the made-up estate of `estate/mod.rs`.
//! It does not show: reading the sources, of which only those whose files changed are read again, nor the full rebuild
//! that comes once a fifth of all records have changed (see `index_build`).

mod estate;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};

fn refresh(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("refresh");
    group.sample_size(10);
    for count in [1_000, 10_000, 100_000] {
        let mut records = estate::records(count);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = estate::index(folder.path());
        index.refresh(records.clone(), &|_, _| ()).expect("an index");
        let refresh = |records| index.refresh(records, &|_, _| ()).expect("a refresh");
        group.bench_function(BenchmarkId::new("none_changed", count), |bencher| {
            bencher.iter_batched(|| records.clone(), refresh, BatchSize::PerIteration);
        });
        let mut change = 0;
        group.bench_function(BenchmarkId::new("one_changed", count), |bencher| {
            bencher.iter_batched(
                || {
                    change += 1;
                    records[count / 2].description = format!("Comets, as of observation {change}.");
                    records.clone()
                },
                refresh,
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, refresh);
criterion_main!(benches);
