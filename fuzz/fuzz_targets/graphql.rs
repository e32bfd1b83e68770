//! Any text as a GraphQL schema, or as the answer to an introspection query: nothing panics, names are unique, and what
//! is indexed is bounded.
//!
//! `cargo +nightly fuzz run graphql -- -max_total_time=600 -rss_limit_mb=2048`

#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use prospector_api::{ApiDiscovery, ApiKind, ApiSource};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let source = ApiSource { kind: Some(ApiKind::GraphQl), ..ApiSource::new("fuzz", "") };
    let Ok((api, _)) = source.read(&text) else { return };
    let names: HashSet<&str> = api.operations.iter().map(|operation| operation.name.as_str()).collect();
    assert_eq!(names.len(), api.operations.len());
    let records = ApiDiscovery::new(vec![api]).records();
    assert!(records.iter().all(|record| record.body.len() <= 4_000));
});
