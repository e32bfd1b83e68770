//! Any text as a script of SQL: nothing panics, and each table and column has a name.
//!
//! `cargo +nightly fuzz run ddl fuzz/corpus/ddl fuzz/seeds/ddl -- -dict=fuzz/dictionaries/sql.dict -max_total_time=600 -rss_limit_mb=2048`

#![no_main]

mod described;

use libfuzzer_sys::fuzz_target;
use prospector_connect::source::SourceKind;

fuzz_target!(|data: &[u8]| {
    for table in described::tables(SourceKind::Ddl, &[("script.sql", data)]) {
        assert!(!table.name.is_empty());
        assert!(table.columns.iter().all(|column| column.name.len() <= data.len() * 3));
    }
});
