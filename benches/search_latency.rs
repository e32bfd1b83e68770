//! How long does one search take, as the catalog grows?
//!
//! Measured: `Index::search` in one process that has the index open, with the shipped embedder, eight hits, over 1,000,
//! 10,000 and 100,000 tables; each iteration asks the next of a hundred questions of 4 to 30 words. Corpus: the made-up
//! estate of `estate/mod.rs`. It does not show: the cost of opening (see `cold_open`), how good the answers are (see
//! `planner bench retrieval`), the embedding of questions by a larger model, and the slowest of many (criterion shows
//! means; `index_build` ends with the percentiles).

mod estate;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use prospector_search::Query;

fn latency(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("search_latency");
    for count in [1_000, 10_000, 100_000] {
        let tables = estate::tables(count);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = estate::index(folder.path());
        index.refresh(tables.iter().map(estate::Table::record).collect(), &|_, _| ()).expect("an index");
        let questions = estate::questions(&tables, 100);
        let mut next = questions.iter().cycle();
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter(|| {
                let text = next.next().cloned().unwrap_or_default();
                index.search(&Query { text, limit: 8, ..Query::default() }).expect("an answer")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, latency);
criterion_main!(benches);
