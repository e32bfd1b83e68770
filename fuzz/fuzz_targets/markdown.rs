//! Any bytes as Markdown with front matter, as MDX, reStructuredText, AsciiDoc and Org, and as plain text: nothing panics,
//! every section is found by its name, ids are unique.
//!
//! `cargo +nightly fuzz run markdown fuzz/corpus/markdown fuzz/seeds/markdown -- -dict=fuzz/dictionaries/markdown.dict -max_total_time=600`

#![no_main]

use libfuzzer_sys::fuzz_target;
use prospector_documents::{Format, formats::parse};

mod parts;

fuzz_target!(|data: &[u8]| {
    for format in [Format::Markdown, Format::Mdx, Format::Rst, Format::AsciiDoc, Format::Org, Format::Text] {
        let (converted, _) = parse("fuzz", data, format);
        assert!(converted.tags.len() + converted.metadata.len() < 100);
        if let Ok(text) = std::str::from_utf8(data) {
            parts::check(text, format);
        }
    }
});
