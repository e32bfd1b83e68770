//! Any text as an OpenAPI or Swagger description that refers to itself as its own neighbour: nothing panics, names are
//! unique, and what is indexed is bounded.
//!
//! `cargo +nightly fuzz run openapi -- -max_total_time=600 -rss_limit_mb=2048`

#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use prospector_api::{ApiDiscovery, ApiSource};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let source = ApiSource::new("fuzz", "fuzz.yaml");
    let Ok((api, _)) = source.read_with(&text, "fuzz.yaml", &|_| Ok(text.to_string())) else { return };
    let names: HashSet<&str> = api.operations.iter().map(|operation| operation.name.as_str()).collect();
    assert_eq!(names.len(), api.operations.len());
    let records = ApiDiscovery::new(vec![api]).records();
    assert!(records.iter().all(|record| record.body.len() <= 4_000));
});
