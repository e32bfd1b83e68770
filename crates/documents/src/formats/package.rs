//! The package of a DOCX, XLSX or PPTX file: unpacked within limits, looked through, and packed again for the parser.
//!
//! The parser reads whole parts, builds rows as wide as a cell says it stands, and recurses into tables. So each part is
//! unpacked here first, with its real size counted; its XML is looked through for what would grow; and the parser is
//! given a package that holds the XML alone, not compressed, without pictures.
//!
//! undoc reads DOCX, XLSX and PPTX with the comments of cells, which calamine (0.38) leaves out; sizes and depth are checked before.

mod scan;

use std::io::{Cursor, Read, Write};

use zip::{CompressionMethod, ZipArchive, ZipWriter, result::ZipError, write::SimpleFileOptions};

use super::Refused;
use crate::Format;
use crate::formats::limits;

const LARGE: &str = "split it into several files, or export it as CSV where it is data";

/// Which of the formats a package holds.
pub(super) fn kind(bytes: &[u8]) -> Result<Format, Refused> {
    let archive = open(bytes, |error| {
        let reason = format!("the archive is damaged: {error}");
        Refused::new(reason, "open it in the program that made it, and save it again")
    })?;
    let has = |part: &str| archive.index_for_name(part).is_some();
    match () {
        () if has("word/document.xml") => Ok(Format::Docx),
        () if has("xl/workbook.xml") => Ok(Format::Xlsx),
        () if has("ppt/presentation.xml") => Ok(Format::Pptx),
        () => {
            Err(Refused::new("this is an archive, but no DOCX, XLSX or PPTX", "unpack it, or save it as one of them"))
        }
    }
}

/// Opens an archive; `refuse` makes a refusal of what the archive library says.
fn open(bytes: &[u8], refuse: impl FnOnce(ZipError) -> Refused) -> Result<ZipArchive<Cursor<&[u8]>>, Refused> {
    // The end of the central directory holds the number of entries (APPNOTE.TXT 4.3.16), or 65,535 for more.
    let tail = &bytes[bytes.len().saturating_sub(66_000)..];
    let end = tail.windows(4).rposition(|four| four == b"PK\x05\x06");
    let count = end.and_then(|at| tail.get(at + 10..at + 12)).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]));
    if usize::from(count) > limits::MAX_PACKAGE_ENTRIES {
        let reason = format!("the archive has over {} entries", limits::MAX_PACKAGE_ENTRIES);
        return Err(Refused::new(reason, LARGE));
    }
    ZipArchive::new(Cursor::new(bytes)).map_err(refuse)
}

/// Unpacks, checks and packs again.
pub(super) fn clean(bytes: &[u8], format: Format) -> Result<Vec<u8>, Refused> {
    let parts = unpack(bytes, format)?;
    scan::all(&parts, format)?;
    pack(&parts).map_err(|error| Refused::for_damage(format, error))
}

/// A part: its name, and its XML.
type Part = (String, Vec<u8>);

fn unpack(bytes: &[u8], format: Format) -> Result<Vec<Part>, Refused> {
    let mut archive = open(bytes, |error| Refused::for_damage(format, error))?;
    let mut parts: Vec<Part> = Vec::new();
    let mut total = 0;
    for at in 0..archive.len() {
        let entry = match archive.by_index(at) {
            Ok(entry) => entry,
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword) => {
                return Err(Refused::for_encryption());
            }
            Err(error) => return Err(Refused::for_damage(format, error)),
        };
        let name = entry.name().map_err(|error| Refused::for_damage(format, error))?.into_owned();
        let lower = name.to_lowercase();
        if !lower.ends_with(".xml") && !lower.ends_with(".rels") {
            continue;
        }
        let left = limits::MAX_UNPACKED_BYTES - total;
        let too_large = || {
            Refused::too_large(&format!("`{name}` and what is before it unpack to more"), limits::MAX_UNPACKED_BYTES)
        };
        // The declared size is a hint: a true one saves the work.
        if entry.size() > left as u64 {
            return Err(too_large());
        }
        let mut xml = Vec::new();
        let read = entry.take(left as u64 + 1).read_to_end(&mut xml);
        if xml.len() > left {
            return Err(too_large());
        }
        read.map_err(|error| Refused::for_damage(format, format!("`{name}`: {error}")))?;
        total += xml.len();
        parts.push((name, xml));
    }
    Ok(parts)
}

fn pack(parts: &[Part]) -> Result<Vec<u8>, ZipError> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, xml) in parts {
        writer.start_file(name.as_str(), options)?;
        writer.write_all(xml)?;
    }
    Ok(writer.finish()?.into_inner())
}
