//! Any text as the artifacts of a dbt project, the catalog behind a zero byte: nothing panics.
//!
//! `cargo +nightly fuzz run dbt fuzz/corpus/dbt fuzz/seeds/dbt -- -max_total_time=600 -rss_limit_mb=2048`

#![no_main]
#![allow(dead_code, unused_imports, reason = "of the files that are taken in, not everything is used")]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/connect/src/dbt/artifact.rs"]
mod artifact;
#[path = "../../crates/connect/src/dbt/checks.rs"]
mod checks;
#[path = "../../crates/connect/src/dbt/describe.rs"]
mod describe;
#[path = "../../crates/connect/src/keys.rs"]
mod keys;
#[path = "../../crates/connect/src/model.rs"]
mod model;

pub use model::{Column, ForeignKey, Table};

mod filter {
    /// As the connectors write a value.
    pub(crate) fn text(value: &serde_json::Value) -> String {
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (manifest, catalog) = text.split_once('\0').unwrap_or((&text, "{}"));
    let Ok(manifest) = artifact::Manifest::read(manifest) else { return };
    let catalog = artifact::Catalog::read(catalog).unwrap_or_default();
    let (tables, _) = describe::tables(manifest, catalog, "manifest.json");
    for table in &tables {
        assert!(!table.name.is_empty());
    }
});
