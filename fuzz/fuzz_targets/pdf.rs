//! Any bytes as a PDF: nothing panics. `crates/documents/tests/files` has files to begin with.
//!
//! `cargo +nightly fuzz run pdf fuzz/corpus/pdf fuzz/seeds/pdf -- -dict=fuzz/dictionaries/pdf.dict -max_total_time=600 -rss_limit_mb=2048`

#![no_main]

use libfuzzer_sys::fuzz_target;
use prospector_documents::{Format, formats::parse};

mod parts;

fuzz_target!(|data: &[u8]| {
    let (converted, _) = parse("fuzz", data, Format::Pdf);
    parts::check(&converted.text, Format::Markdown);
});
