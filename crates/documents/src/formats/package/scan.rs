//! Looks through the XML of a package for what would grow in the parser: cells that fill the row before them, what is
//! copied for each cell or run that refers to it, elements and tables that are nested, parts that are named again and
//! again.

use std::collections::{HashMap, HashSet};

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use super::{Part, Refused};
use crate::Format;
use crate::formats::limits;

/// What the addresses of links may take, copied for each run or cell.
const LINK_BYTES: usize = 8 * limits::MAX_UNPACKED_BYTES;

/// The rows of a sheet (ECMA-376, part 1, 18.3.1.73).
const SHEET_ROWS: usize = 1_048_576;

/// The columns of a sheet.
const SHEET_COLUMNS: usize = 16_384;

/// A cell that says it is wider is taken for one of this width.
const WIDEST: usize = 1_000;

/// Looks through all parts.
pub(super) fn all(parts: &[Part], format: Format) -> Result<(), Refused> {
    let mut scan = Scan { is_sheets: format == Format::Xlsx, ..Scan::default() };
    // What cells and runs refer to comes first.
    for (name, xml) in parts.iter().filter(|(name, _)| name.to_lowercase().ends_with("sharedstrings.xml")) {
        scan.strings(name, xml)?;
    }
    for (name, xml) in parts.iter().filter(|(name, _)| name.ends_with(".rels")) {
        scan.relationships(name, xml)?;
    }
    if scan.is_sheets && scan.has_comments {
        for (name, xml) in parts {
            scan.comments(name, xml)?;
        }
    }
    parts.iter().try_for_each(|(name, xml)| scan.part(name, xml))
}

/// What was seen so far of what may grow.
#[derive(Default)]
struct Scan {
    is_sheets: bool,
    /// The length of each shared string.
    strings: Vec<usize>,
    /// The length of the comment on each cell, by its place; of several sheets the longest.
    comments: HashMap<String, usize>,
    has_comments: bool,
    /// The bytes of the longest address that a relationship has.
    link: usize,
    /// The runs, cells and pictures that may have it.
    linked: usize,
    cells: usize,
    text: usize,
}

impl Scan {
    fn strings(&mut self, name: &str, xml: &[u8]) -> Result<(), Refused> {
        each(name, xml, |event| {
            if let Event::Start(start) | Event::Empty(start) = event
                && local(start) == "si"
            {
                self.strings.push(0);
            }
            if let Some(length) = self.strings.last_mut() {
                *length += length_of(event);
            }
            Ok(())
        })
    }

    fn relationships(&mut self, name: &str, xml: &[u8]) -> Result<(), Refused> {
        each(name, xml, |event| {
            if let Event::Start(start) | Event::Empty(start) = event {
                self.has_comments |= attribute(start, "Type").is_some_and(|kind| kind.contains("comments"));
                self.link = self.link.max(attribute(start, "Target").map_or(0, |target| target.len()));
            }
            Ok(())
        })
    }

    fn comments(&mut self, name: &str, xml: &[u8]) -> Result<(), Refused> {
        let mut place: Option<String> = None;
        let mut length = 0;
        each(name, xml, |event| {
            match event {
                Event::Start(start) if local(start) == "comment" => {
                    place = attribute(start, "ref").map(|place| place.to_uppercase());
                    length = 0;
                }
                Event::End(end) if end.local_name().as_ref() == "comment" => {
                    if let Some(place) = place.take() {
                        let known = self.comments.entry(place).or_default();
                        *known = (*known).max(length);
                    }
                }
                event => length += length_of(event),
            }
            Ok(())
        })
    }

    fn part(&mut self, name: &str, xml: &[u8]) -> Result<(), Refused> {
        if matches!(name, "ppt/_rels/presentation.xml.rels" | "xl/_rels/workbook.xml.rels") {
            return once_each(name, xml);
        }
        let mut tables = 0_usize;
        let mut ids = HashSet::new();
        let mut cell = Cell::default();
        let mut row = 0;
        each(name, xml, |event| {
            match event {
                Event::Start(start) => {
                    match local(start) {
                        "tbl" => tables += 1,
                        "row" => row = 0,
                        "c" if self.is_sheets => cell = Cell::of(start),
                        "v" | "t" if self.is_sheets => cell.value = Some(String::new()),
                        _ => {}
                    }
                    if tables > limits::MAX_TABLE_DEPTH {
                        let reason =
                            format!("tables stand in tables over {} deep in `{name}`", limits::MAX_TABLE_DEPTH);
                        return Err(Refused::new(reason, "simplify the layout"));
                    }
                }
                Event::Empty(start) if self.is_sheets && local(start) == "c" => self.cell(&Cell::of(start), &mut row),
                Event::End(end) => match end.local_name().as_ref() {
                    "tbl" => tables = tables.saturating_sub(1),
                    "c" if self.is_sheets => self.cell(&std::mem::take(&mut cell), &mut row),
                    _ => {}
                },
                event => cell.text(event),
            }
            if let Event::Start(start) | Event::Empty(start) = event {
                self.grows(start);
                if matches!(local(start), "sldId" | "sheet")
                    && let Some(id) = attribute(start, "r:id")
                    && !ids.insert(id)
                {
                    return Err(Refused::new(format!("`{name}` names a part twice"), "save it again"));
                }
            }
            self.enough()
        })
    }

    /// Counts what an element alone makes of itself.
    fn grows(&mut self, start: &BytesStart<'_>) {
        let width = |name: &str| {
            let width = attribute(start, name).and_then(|width| width.trim().parse::<usize>().ok());
            width.unwrap_or(1).min(WIDEST).saturating_sub(1)
        };
        match local(start) {
            "gridSpan" => self.cells += width("w:val"),
            "tc" => self.cells += width("gridSpan"),
            // A row is filled up to a cell that owns others, even if it is empty.
            "mergeCell" if self.is_sheets => {
                self.cells += attribute(start, "ref").and_then(|at| column(&at)).unwrap_or(0) + 1;
            }
            "r" if !self.is_sheets => self.linked += 1,
            "blip" | "hlinkClick" | "hyperlink" => self.linked += 1,
            _ => {}
        }
    }

    /// Counts a cell with what is filled in before it. One that is empty costs nothing where it says its place.
    fn cell(&mut self, cell: &Cell, row: &mut usize) {
        let comment = cell.place.as_ref().and_then(|place| self.comments.get(place)).copied();
        match cell.column {
            None => {
                self.cells += 1;
                self.linked += 1;
                *row += 1;
            }
            Some(column) if cell.value.is_some() || cell.has_picture || comment.is_some() => {
                self.cells += (column + 1).saturating_sub(*row).max(1);
                self.linked += 1;
                *row = (*row).max(column + 1);
            }
            Some(_) => {}
        }
        self.text += cell.length(&self.strings) + comment.unwrap_or(0);
    }

    fn enough(&self) -> Result<(), Refused> {
        if self.cells > limits::MAX_CELLS {
            let reason = format!("the tables have over {} cells", limits::MAX_CELLS);
            return Err(Refused::new(
                reason,
                "a table of that size is data: export it as CSV and name it as a database",
            ));
        }
        if self.text > limits::MAX_RESULT_BYTES {
            return Err(Refused::too_large("the cells hold very much text", limits::MAX_RESULT_BYTES));
        }
        if self.link.saturating_mul(self.linked) > LINK_BYTES {
            let reason = format!("a link has {} bytes, and there may be very many of it", self.link);
            return Err(Refused::new(reason, "take the longest links out"));
        }
        Ok(())
    }
}

/// The cell that is being read.
#[derive(Default)]
struct Cell {
    /// As it says itself: `BC12`.
    place: Option<String>,
    /// From 0; none where it says no place in a sheet, and stands after the one before.
    column: Option<usize>,
    shared: bool,
    has_picture: bool,
    /// The first of its text.
    value: Option<String>,
    /// The bytes of its own text.
    own: usize,
}

impl Cell {
    fn of(start: &BytesStart<'_>) -> Cell {
        let place = attribute(start, "r").map(|place| place.to_uppercase());
        Cell {
            column: place.as_deref().and_then(column),
            place,
            shared: attribute(start, "t").as_deref() == Some("s"),
            has_picture: attribute(start, "vm").is_some(),
            ..Cell::default()
        }
    }

    fn text(&mut self, event: &Event<'_>) {
        let Some(value) = &mut self.value else { return };
        self.own += length_of(event);
        if let Event::Text(text) = event
            && value.len() < 32
        {
            value.extend(text.chars().take(32));
        }
    }

    fn length(&self, strings: &[usize]) -> usize {
        let index = self.value.as_deref().filter(|_| self.shared).and_then(|value| value.parse::<usize>().ok());
        index.and_then(|index| strings.get(index)).copied().unwrap_or(self.own)
    }
}

/// The bytes of text in an event.
fn length_of(event: &Event<'_>) -> usize {
    match event {
        Event::Text(text) => text.len(),
        Event::CData(text) => text.len(),
        // `&amp;` is one letter, and an unknown one stays as it is.
        Event::GeneralRef(name) => name.len() + 2,
        _ => 0,
    }
}

/// The column of `BC12` or of `BC12:BD14`, from 0; `None` for what is no place in a sheet.
fn column(place: &str) -> Option<usize> {
    let place = place.split(':').next().unwrap_or_default();
    let (letters, row) = place.split_at(place.find(|c: char| !c.is_ascii_alphabetic())?);
    let inside = row.parse().is_ok_and(|row: usize| (1..=SHEET_ROWS).contains(&row));
    let number = letters
        .chars()
        .take(4)
        .fold(0, |sum, letter| sum * 26 + (letter.to_ascii_uppercase() as usize - 'A' as usize + 1));
    (inside && letters.len() <= 3 && (1..=SHEET_COLUMNS).contains(&number)).then(|| number - 1)
}

/// Every slide and every sheet is a part of its own; a part that is named again and again would be read as often.
fn once_each(name: &str, xml: &[u8]) -> Result<(), Refused> {
    let mut targets = HashSet::new();
    each(name, xml, |event| {
        if let Event::Start(start) | Event::Empty(start) = event
            && let Some(target) =
                attribute(start, "Target").filter(|target| target.contains("slide") || target.contains("sheet"))
        {
            if target.contains("./") {
                return Err(Refused::new(format!("`{name}` names a part by a way around"), "save it again"));
            }
            if !targets.insert(target.trim_start_matches('/').to_lowercase()) {
                return Err(Refused::new(format!("`{name}` names a part twice"), "save it again"));
            }
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
        if depth > limits::MAX_XML_DEPTH {
            let reason = format!("the elements of `{name}` are nested over {} deep", limits::MAX_XML_DEPTH);
            return Err(Refused::new(reason, "simplify the layout"));
        }
        look(&event)?;
    }
}

fn local<'a>(start: &'a BytesStart<'_>) -> &'a str {
    start.local_name().into_inner()
}

fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = start.attributes().flatten().find(|attribute| attribute.key.as_ref() == name)?;
    Some(found.value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_sheet_has_a_column() {
        let check = |place: &str, expected: Option<usize>| assert_eq!(column(place), expected, "{place}");
        check("A1", Some(0));
        check("bc12", Some(54));
        check("XFD1048576", Some(16_383));
        check("C3:XFD9", Some(2));
        for wrong in ["", "A", "1", "A0", "XFE1", "AAAA1", "A1048577", "A1B", "A99999999999999999999"] {
            check(wrong, None);
        }
    }
}
