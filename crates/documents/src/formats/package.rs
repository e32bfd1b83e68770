//! The package of a DOCX, XLSX or PPTX file: unpacked within limits, looked through, and packed again for the parser.
//!
//! The parser reads whole parts, builds rows as wide as a cell says it stands, and recurses into tables. So each part is
//! unpacked here first, with its real size counted; its XML is looked through for what would grow; and the parser is
//! given a package that holds the XML alone, not compressed, without pictures.

use std::{
    collections::HashSet,
    io::{Cursor, Read, Write},
};

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};
use zip::{CompressionMethod, ZipArchive, ZipWriter, result::ZipError, write::SimpleFileOptions};

use super::Refused;
use crate::{Format, limits};

const LARGE: &str = "split it into several files, or export it as CSV where it is data";

/// Which of the formats a package holds.
pub(super) fn kind(bytes: &[u8]) -> Result<Format, Refused> {
    let archive = open(bytes).map_err(|refused| refused.unwrap_or_else(|reason| damaged(&reason)))?;
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

fn damaged(reason: &str) -> Refused {
    Refused::new(format!("the archive is damaged: {reason}"), "open it in the program that made it, and save it again")
}

/// Opens an archive; the inner error is what the archive library says.
fn open(bytes: &[u8]) -> Result<ZipArchive<Cursor<&[u8]>>, Result<Refused, String>> {
    // The end of the central directory holds the number of entries (APPNOTE.TXT 4.3.16), or 65,535 for more.
    let tail = &bytes[bytes.len().saturating_sub(66_000)..];
    let end = tail.windows(4).rposition(|four| four == b"PK\x05\x06");
    let count = end.and_then(|at| tail.get(at + 10..at + 12)).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]));
    if usize::from(count) > limits::PACKAGE_ENTRIES {
        let reason = format!("the archive has over {} entries", limits::PACKAGE_ENTRIES);
        return Err(Ok(Refused::new(reason, LARGE)));
    }
    ZipArchive::new(Cursor::new(bytes)).map_err(|error| Err(error.to_string()))
}

/// Unpacks, checks and packs again.
pub(super) fn clean(bytes: &[u8], format: Format) -> Result<Vec<u8>, Refused> {
    let parts = unpack(bytes, format)?;
    let mut scan = Scan::default();
    // The strings first: cells refer to them.
    for (name, xml) in parts.iter().filter(|(name, _)| name.ends_with("sharedStrings.xml")) {
        scan.strings(name, xml)?;
    }
    for (name, xml) in &parts {
        scan.part(name, xml)?;
    }
    pack(&parts).map_err(|error| Refused::damaged(format, error))
}

type Part = (String, Vec<u8>);

fn unpack(bytes: &[u8], format: Format) -> Result<Vec<Part>, Refused> {
    let mut archive =
        open(bytes).map_err(|refused| refused.unwrap_or_else(|reason| Refused::damaged(format, reason)))?;
    let mut parts: Vec<Part> = Vec::new();
    let mut total = 0;
    for at in 0..archive.len() {
        let entry = match archive.by_index(at) {
            Ok(entry) => entry,
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword) => {
                return Err(Refused::encrypted());
            }
            Err(error) => return Err(Refused::damaged(format, error)),
        };
        let name = entry.name().map_err(|error| Refused::damaged(format, error))?.into_owned();
        let lower = name.to_lowercase();
        if !lower.ends_with(".xml") && !lower.ends_with(".rels") {
            continue;
        }
        let left = limits::UNPACKED_BYTES - total;
        let too_large =
            || Refused::too_large(&format!("`{name}` and what is before it unpack to more"), limits::UNPACKED_BYTES);
        // The declared size is a hint: a true one saves the work.
        if entry.size() > left as u64 {
            return Err(too_large());
        }
        let mut xml = Vec::new();
        let read = entry.take(left as u64 + 1).read_to_end(&mut xml);
        if xml.len() > left {
            return Err(too_large());
        }
        read.map_err(|error| Refused::damaged(format, format!("`{name}`: {error}")))?;
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

/// What was seen so far of what may grow.
#[derive(Default)]
struct Scan {
    /// The length of each shared string.
    lengths: Vec<usize>,
    cells: usize,
    text: usize,
}

impl Scan {
    fn strings(&mut self, name: &str, xml: &[u8]) -> Result<(), Refused> {
        each(name, xml, |event| {
            match event {
                Event::Start(start) | Event::Empty(start) if local(start) == "si" => self.lengths.push(0),
                Event::Text(text) => {
                    if let Some(length) = self.lengths.last_mut() {
                        *length += text.len();
                    }
                }
                _ => {}
            }
            Ok(())
        })
    }

    fn part(&mut self, name: &str, xml: &[u8]) -> Result<(), Refused> {
        if matches!(name, "ppt/_rels/presentation.xml.rels" | "xl/_rels/workbook.xml.rels") {
            return once_each(name, xml);
        }
        let sheet = name.starts_with("xl/worksheets/");
        let mut tables = 0_usize;
        let mut ids = HashSet::new();
        let mut cell = Cell::default();
        let mut row = 0;
        each(name, xml, |event| {
            match event {
                Event::Start(start) => {
                    match local(start).as_str() {
                        "tbl" => tables += 1,
                        "row" => row = 0,
                        "c" if sheet => cell = Cell::of(start, row),
                        "v" | "t" if sheet => cell.value = Some(String::new()),
                        _ => {}
                    }
                    if tables > limits::TABLE_DEPTH {
                        let reason = format!("tables stand in tables over {} deep in `{name}`", limits::TABLE_DEPTH);
                        return Err(Refused::new(reason, "simplify the layout"));
                    }
                }
                Event::End(end) => match end.local_name().as_ref() {
                    "tbl" => tables = tables.saturating_sub(1),
                    "c" if sheet && cell.value.is_some() => {
                        // A row is filled up to its last cell.
                        self.cells += (cell.column + 1).saturating_sub(row);
                        row = row.max(cell.column + 1);
                        self.text += cell.length(&self.lengths);
                    }
                    _ => {}
                },
                Event::Text(text) => {
                    if let Some(value) = cell.value.as_mut().filter(|value| value.len() < 32) {
                        value.push_str(&text.chars().take(32).collect::<String>());
                        cell.own += text.len();
                    }
                }
                Event::Empty(start) if sheet && local(start) == "mergeCell" => {
                    self.cells += attribute(start, "ref").and_then(|at| column(&at)).unwrap_or(0) + 1;
                }
                _ => {}
            }
            if let Event::Start(start) | Event::Empty(start) = event
                && matches!(local(start).as_str(), "sldId" | "sheet")
                && let Some(id) = attribute(start, "r:id")
                && !ids.insert(id)
            {
                return Err(Refused::new(format!("`{name}` names a part twice"), "save it again"));
            }
            if self.cells > limits::CELLS {
                let reason = format!("the sheets have over {} cells", limits::CELLS);
                return Err(Refused::new(
                    reason,
                    "a table of that size is data: export it as CSV and name it as a database",
                ));
            }
            if self.text > limits::RESULT_BYTES {
                return Err(Refused::too_large("the cells hold very much text", limits::RESULT_BYTES));
            }
            Ok(())
        })
    }
}

/// The cell that is being read.
#[derive(Default)]
struct Cell {
    column: usize,
    shared: bool,
    value: Option<String>,
    /// The bytes of its own text.
    own: usize,
}

impl Cell {
    fn of(start: &BytesStart<'_>, next: usize) -> Cell {
        let place = attribute(start, "r").and_then(|at| column(&at));
        let shared = attribute(start, "t").as_deref() == Some("s");
        Cell { column: place.unwrap_or(next), shared, value: None, own: 0 }
    }

    fn length(&self, strings: &[usize]) -> usize {
        let index = self.value.as_deref().filter(|_| self.shared).and_then(|value| value.parse::<usize>().ok());
        index.and_then(|index| strings.get(index)).copied().unwrap_or(self.own)
    }
}

/// The column of `BC12`, from 0; a sheet has 16,384 of them.
fn column(place: &str) -> Option<usize> {
    let letters = place.chars().take_while(char::is_ascii_alphabetic).take(4);
    let number = letters.fold(0, |sum, letter| sum * 26 + (letter.to_ascii_uppercase() as usize - 'A' as usize + 1));
    (1..=16_384).contains(&number).then(|| number - 1)
}

/// Every slide and every sheet is a part of its own; a part that is named again and again would be read as often.
fn once_each(name: &str, xml: &[u8]) -> Result<(), Refused> {
    let mut targets = HashSet::new();
    each(name, xml, |event| {
        if let Event::Start(start) | Event::Empty(start) = event
            && let Some(target) =
                attribute(start, "Target").filter(|target| target.contains("slide") || target.contains("sheet"))
            && (target.contains("./") || !targets.insert(target.trim_start_matches('/').to_lowercase()))
        {
            return Err(Refused::new(format!("`{name}` names a part twice"), "save it again"));
        }
        Ok(())
    })
}

/// Looks at every event of a part, and at its depth. What is no XML is left to the parser to complain about: it stops
/// where this stops.
fn each(name: &str, xml: &[u8], mut look: impl FnMut(&Event<'_>) -> Result<(), Refused>) -> Result<(), Refused> {
    let Ok(text) = undoc::container::decode_xml_bytes(xml) else { return Ok(()) };
    let mut reader = Reader::from_str(&text);
    reader.config_mut().allow_dangling_amp = true;
    let mut depth = 0_usize;
    loop {
        let Ok(event) = reader.read_event() else { return Ok(()) };
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Eof => return Ok(()),
            _ => {}
        }
        if depth > limits::XML_DEPTH {
            let reason = format!("the elements of `{name}` are nested over {} deep", limits::XML_DEPTH);
            return Err(Refused::new(reason, "simplify the layout"));
        }
        look(&event)?;
    }
}

fn local(start: &BytesStart<'_>) -> String {
    start.local_name().as_ref().to_owned()
}

fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = start.attributes().flatten().find(|attribute| attribute.key.as_ref() == name)?;
    Some(found.value.to_string())
}
