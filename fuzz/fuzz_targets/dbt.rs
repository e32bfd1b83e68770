//! Any text as the artifacts of a dbt project, the catalog behind a zero byte: nothing panics, and each table has a name.
//!
//! `cargo +nightly fuzz run dbt fuzz/corpus/dbt fuzz/seeds/dbt -- -max_total_time=600 -rss_limit_mb=2048`

#![no_main]

mod described;

use libfuzzer_sys::fuzz_target;
use prospector_connect::source::SourceKind;

fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (manifest, catalog) = (&data[..end], data.get(end + 1..).unwrap_or(b"{}"));
    for table in described::tables(SourceKind::Dbt, &[("manifest.json", manifest), ("catalog.json", catalog)]) {
        assert!(!table.name.is_empty());
    }
});
