//! Shared by the tests of damaged files: sample files, modified copies, and a check for rejection.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    io::{Cursor, Read, Write},
    path::PathBuf,
};

use prospector_documents::{Format, formats::convert};
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

/// Reads a sample file.
pub(crate) fn file(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)).unwrap()
}

/// Checks that a file is rejected with this reason.
#[track_caller]
pub(crate) fn check(bytes: Vec<u8>, format: Format, part: &str) {
    let (converted, problems) = convert("x", bytes, format);
    assert_eq!(converted.text.chars().take(100).collect::<String>(), "");
    let said = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    assert!(said.contains(part), "`{said}` does not say `{part}`");
}

/// Returns a sample package with these parts replaced or added.
pub(crate) fn with(name: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = without(name, &parts.iter().map(|(part, _)| *part).collect::<Vec<_>>());
    for (part, xml) in parts {
        writer.start_file(*part, SimpleFileOptions::default()).unwrap();
        writer.write_all(xml.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns a writer for a sample package without these parts.
pub(crate) fn without(name: &str, parts: &[&str]) -> ZipWriter<Cursor<Vec<u8>>> {
    let mut archive = ZipArchive::new(Cursor::new(file(name))).unwrap();
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let entry = archive.by_index(at).unwrap();
        if !parts.contains(&&*entry.name().unwrap()) {
            writer.raw_copy_file(entry).unwrap();
        }
    }
    writer
}

/// Returns a part of a sample package.
pub(crate) fn part(name: &str, part: &str) -> String {
    let mut archive = ZipArchive::new(Cursor::new(file(name))).unwrap();
    let mut xml = String::new();
    archive.by_name(part).unwrap().read_to_string(&mut xml).unwrap();
    xml
}

/// Returns an archive in which the declared size of an entry is replaced, in its header and in the directory
/// (APPNOTE.TXT 4.3.7 and 4.3.12).
pub(crate) fn declared(mut bytes: Vec<u8>, entry: &str, size: u32) -> Vec<u8> {
    for (signature, size_at, name_at) in [(b"PK\x03\x04", 22, 30), (b"PK\x01\x02", 24, 46)] {
        let header = (0..bytes.len() - name_at)
            .find(|&at| bytes[at..].starts_with(signature) && bytes[at + name_at..].starts_with(entry.as_bytes()));
        let at = header.unwrap() + size_at;
        bytes[at..at + 4].copy_from_slice(&size.to_le_bytes());
    }
    bytes
}
