//! Office files of about a megabyte that unpack to a gigabyte. They run in a separate process to measure its peak
//! memory.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "it/support.rs"]
mod support;

use std::io::Cursor;

use flate2::{Compress, Compression, Crc, FlushCompress};
use prospector_documents::{
    Format,
    formats::{convert, limits},
};
use zip::ZipArchive;

use support::{check, declared, without};

/// Memory of the test itself: some megabytes of files and code.
const OWN: usize = 64 << 20;

/// Returns an archive with one entry of several megabytes of spaces. One megabyte is compressed and repeated (RFC 1951:
/// byte-aligned blocks without back references can be repeated any number of times).
fn spaces(megabytes: u16) -> ZipArchive<Cursor<Vec<u8>>> {
    let megabyte = vec![b' '; 1 << 20];
    let mut packer = Compress::new(Compression::best(), false);
    let mut block = Vec::with_capacity(1 << 16);
    packer.compress_vec(&megabyte, &mut block, FlushCompress::Full).unwrap();
    assert_eq!(packer.total_in(), 1 << 20);
    let mut packed = block.repeat(megabytes.into());
    let mut end = Vec::with_capacity(1 << 10);
    packer.compress_vec(&[], &mut end, FlushCompress::Finish).unwrap();
    packed.extend(end);
    let (mut one, mut sum) = (Crc::new(), Crc::new());
    one.update(&megabyte);
    (0..megabytes).for_each(|_| sum.combine(&one));
    // The header, the packed bytes, the directory and its end (APPNOTE.TXT 4.3.7, 4.3.12, 4.3.16).
    let mut common = Vec::new();
    [20_u16, 0, 8, 0, 0x21].iter().for_each(|field| common.extend(field.to_le_bytes()));
    let sizes = [sum.sum(), u32::try_from(packed.len()).unwrap(), u32::from(megabytes) << 20];
    sizes.iter().for_each(|field| common.extend(field.to_le_bytes()));
    [6_u16, 0].iter().for_each(|field| common.extend(field.to_le_bytes()));
    let mut zip = [b"PK\x03\x04", &common[..], b"spaces", &packed].concat();
    let at = u32::try_from(zip.len()).unwrap();
    let directory = [b"PK\x01\x02\x14\0", &common[..], &[0; 14], b"spaces"].concat();
    zip.extend(&directory);
    zip.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    zip.extend(at.to_le_bytes());
    zip.extend([0; 2]);
    ZipArchive::new(Cursor::new(zip)).unwrap()
}

/// Returns the peak memory of this process in bytes, if the system reports it.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok().map(|kilobytes| kilobytes << 10)
}

/// Returns a sample package in which one part is replaced by spaces.
fn filled(name: &str, part: &str, spaces: &mut ZipArchive<Cursor<Vec<u8>>>) -> Vec<u8> {
    let mut writer = without(name, &[part]);
    writer.raw_copy_file_rename(spaces.by_index(0).unwrap(), part).unwrap();
    let bomb = writer.finish().unwrap().into_inner();
    assert!(bomb.len() < 2 << 20, "{name} has {} bytes", bomb.len());
    bomb
}

#[track_caller]
fn check_peak(most: usize) {
    if let Some(peak) = peak() {
        assert!(peak < most, "{} MB were used, and {} MB are enough", peak >> 20, most >> 20);
    }
}

#[test]
fn rejects_decompression_bombs_in_limited_memory() {
    let mut gigabyte = spaces(1_024);
    let bombs = [
        ("handbook.docx", "word/document.xml", Format::Docx),
        ("handbook.docx", "docProps/core.xml", Format::Docx),
        ("budget.xlsx", "xl/worksheets/sheet1.xml", Format::Xlsx),
        ("budget.xlsx", "xl/sharedStrings.xml", Format::Xlsx),
        ("launch.pptx", "ppt/slides/slide1.xml", Format::Pptx),
        ("launch.pptx", "ppt/_rels/presentation.xml.rels", Format::Pptx),
    ];
    for (name, part, format) in bombs {
        let bomb = filled(name, part, &mut gigabyte);
        let refused = format!("`{part}` and the entries before it unpack to more; at most 64 MB are read");
        check(bomb.clone(), format, &refused);
        // The same with a false declared size.
        check(declared(bomb, part, 1_000), format, &format!("`{part}`: File is larger than its declared"));
    }
    check_peak(limits::MAX_UNPACKED_BYTES + OWN);
    // Just within the limit, the file is read within the documented memory.
    let (_, problems) = convert("x", filled("launch.pptx", "ppt/slides/slide1.xml", &mut spaces(63)), Format::Pptx);
    assert!(problems.iter().all(|problem| !problem.reason.contains("at most")), "{problems:?}");
    check_peak(10 * limits::MAX_UNPACKED_BYTES);
}
