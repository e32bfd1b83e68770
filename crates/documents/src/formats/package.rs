//! Prepares DOCX, XLSX and PPTX packages for the parser: unpacks them within limits, checks the XML, and repacks it.
//!
//! The parser reads whole parts, builds rows as wide as a cell claims to be, and recurses into tables. Each part is
//! therefore unpacked here first, counting its real size, and its XML is checked for constructs that would grow. The
//! parser receives an uncompressed package that contains only the XML, without pictures.
//!
//! undoc is used because it reads the comments of cells, which calamine (0.38) does not; it does not limit size or
//! depth itself.

mod scan;

use std::io::{Cursor, Read, Write};

use zip::{CompressionMethod, ZipArchive, ZipWriter, result::ZipError, write::SimpleFileOptions};

use super::{Refused, SAVE_AGAIN};
use crate::Format;
use crate::formats::limits;

const LARGE: &str = "split it into several files, or export it as CSV where it is data";

/// Detects the format of a package.
pub(super) fn kind(bytes: &[u8]) -> Result<Format, Refused> {
    let archive = open(bytes, |error| Refused::new(format!("the archive is damaged: {error}"), SAVE_AGAIN))?;
    let has = |part: &str| archive.index_for_name(part).is_some();
    match () {
        () if has("word/document.xml") => Ok(Format::Docx),
        () if has("xl/workbook.xml") => Ok(Format::Xlsx),
        () if has("ppt/presentation.xml") => Ok(Format::Pptx),
        () => Err(Refused::new("the archive is not a DOCX, XLSX or PPTX file", "unpack it, or save it as one of them")),
    }
}

/// Opens an archive; `refuse` converts an error of the archive library.
fn open(bytes: &[u8], refuse: impl FnOnce(ZipError) -> Refused) -> Result<ZipArchive<Cursor<&[u8]>>, Refused> {
    // The end of central directory contains the number of entries (APPNOTE.TXT 4.3.16), or 65,535 for more.
    let tail = &bytes[bytes.len().saturating_sub(66_000)..];
    let end = tail.windows(4).rposition(|four| four == b"PK\x05\x06");
    let count = end.and_then(|at| tail.get(at + 10..at + 12)).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]));
    if usize::from(count) > limits::MAX_PACKAGE_ENTRIES {
        let reason = format!("the archive has over {} entries", limits::MAX_PACKAGE_ENTRIES);
        return Err(Refused::new(reason, LARGE));
    }
    ZipArchive::new(Cursor::new(bytes)).map_err(refuse)
}

/// Unpacks, checks and repacks a package.
pub(super) fn clean(bytes: &[u8], format: Format) -> Result<Vec<u8>, Refused> {
    let parts = unpack(bytes, format)?;
    scan::all(&parts, format)?;
    pack(&parts).map_err(|error| Refused::for_damage(format, error))
}

/// A part: name and XML.
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
            Refused::too_large(
                &format!("`{name}` and the entries before it unpack to more"),
                limits::MAX_UNPACKED_BYTES,
            )
        };
        // The declared size is a hint that saves work if true.
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
