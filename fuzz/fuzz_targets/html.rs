//! Any bytes as an HTML page: nothing panics, and what comes out is Markdown that is divided like any other.
//!
//! `cargo +nightly fuzz run html fuzz/corpus/html fuzz/seeds/html -- -dict=fuzz/dictionaries/html.dict -max_total_time=600 -rss_limit_mb=2048`

#![no_main]

use libfuzzer_sys::fuzz_target;
use prospector_documents::{Format, formats::parse};

mod parts;

fuzz_target!(|data: &[u8]| {
    let (converted, _) = parse("fuzz", data, Format::Html);
    parts::check(&converted.text, Format::Markdown);
});
