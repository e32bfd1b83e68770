//! Any text as the storage format of Confluence: nothing panics, and what comes out is an HTML page that can be read.
//!
//! `cargo +nightly fuzz run storage fuzz/corpus/storage fuzz/seeds/storage -- -dict=fuzz/dictionaries/xml.dict -max_total_time=600 -rss_limit_mb=2048`

#![no_main]

use libfuzzer_sys::fuzz_target;
use prospector_documents::{
    Format,
    formats::{parse, storage_to_html},
};

mod parts;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (title, storage) = text.split_once('\n').unwrap_or(("Page", &text));
    let html = storage_to_html(title, &[title.to_owned()], "2025-01-01", storage);
    // A sign becomes an entity of up to six.
    assert!(html.len() <= 512 + 20 * title.len() + 20 * storage.len());
    let (converted, _) = parse("fuzz", html.as_bytes(), Format::Html);
    parts::check(&converted.text, Format::Markdown);
});
