//! Checks the XML of a package for constructs that grow in the parser: cells that pad the row before them, text copied
//! for each cell or run that refers to it, nested elements and tables, and parts that are referenced repeatedly.

use std::collections::{HashMap, HashSet};

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use super::{Part, Refused};
use crate::Format;
use crate::formats::limits;

/// Limit on link targets in bytes, as they are copied for each run or cell.
const LINK_BYTES: usize = 8 * limits::MAX_UNPACKED_BYTES;

/// Number of rows of a sheet (ECMA-376, part 1, 18.3.1.73).
const SHEET_ROWS: usize = 1_048_576;

/// Number of columns of a sheet.
const SHEET_COLUMNS: usize = 16_384;

/// Maximum width of a cell; wider ones are counted with this width.
const WIDEST: usize = 1_000;

/// Checks all parts.
pub(super) fn all(parts: &[Part], format: Format) -> Result<(), Refused> {
    let mut scan = Scan { is_sheets: format == Format::Xlsx, ..Scan::default() };
    // Shared strings and relationships first: cells and runs refer to them.
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

/// Totals of what may grow in the parser.
#[derive(Default)]
struct Scan {
    is_sheets: bool,
    /// Length of each shared string.
    strings: Vec<usize>,
    /// Length of the comment on each cell, by address; the longest over all sheets.
    comments: HashMap<String, usize>,
    has_comments: bool,
    /// Length of the longest target of a relationship, in bytes.
    link: usize,
    /// Number of runs, cells and pictures that may refer to it.
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
                        let reason = format!("tables are nested over {} deep in `{name}`", limits::MAX_TABLE_DEPTH);
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

    /// Counts the cells and links that an element creates.
    fn grows(&mut self, start: &BytesStart<'_>) {
        let width = |name: &str| {
            let width = attribute(start, name).and_then(|width| width.trim().parse::<usize>().ok());
            width.unwrap_or(1).min(WIDEST).saturating_sub(1)
        };
        match local(start) {
            "gridSpan" => self.cells += width("w:val"),
            "tc" => self.cells += width("gridSpan"),
            // Rows are padded up to a merged cell, even if it is empty.
            "mergeCell" if self.is_sheets => {
                self.cells += attribute(start, "ref").and_then(|at| column(&at)).unwrap_or(0) + 1;
            }
            "r" if !self.is_sheets => self.linked += 1,
            "blip" | "hlinkClick" | "hyperlink" => self.linked += 1,
            _ => {}
        }
    }

    /// Counts a cell and the padding before it. An empty cell with an address costs nothing.
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
                "a table of that size is data: export it as CSV and add it as a database",
            ));
        }
        if self.text > limits::MAX_RESULT_BYTES {
            return Err(Refused::too_large("the cells contain too much text", limits::MAX_RESULT_BYTES));
        }
        if self.link.saturating_mul(self.linked) > LINK_BYTES {
            let reason = format!("a link target has {} bytes and may be repeated too often", self.link);
            return Err(Refused::new(reason, "remove the longest links"));
        }
        Ok(())
    }
}

/// The cell being parsed.
#[derive(Default)]
struct Cell {
    /// Its address, such as `BC12`.
    place: Option<String>,
    /// From 0; none without an address in a sheet, in which case it follows the previous cell.
    column: Option<usize>,
    shared: bool,
    has_picture: bool,
    /// The start of its text.
    value: Option<String>,
    /// The length of its own text, in bytes.
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

/// Returns the length of the text in an event, in bytes.
fn length_of(event: &Event<'_>) -> usize {
    match event {
        Event::Text(text) => text.len(),
        Event::CData(text) => text.len(),
        // `&amp;` is one character; unknown references stay as they are.
        Event::GeneralRef(name) => name.len() + 2,
        _ => 0,
    }
}

/// Returns the column of `BC12` or of `BC12:BD14`, from 0; `None` if it is not a cell address.
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

/// Checks that each slide or sheet is referenced once, as the parser reads it for each reference.
fn once_each(name: &str, xml: &[u8]) -> Result<(), Refused> {
    let mut targets = HashSet::new();
    each(name, xml, |event| {
        if let Event::Start(start) | Event::Empty(start) = event
            && let Some(target) =
                attribute(start, "Target").filter(|target| target.contains("slide") || target.contains("sheet"))
        {
            if target.contains("./") {
                return Err(Refused::new(format!("`{name}` names a part by an indirect path"), "save it again"));
            }
            if !targets.insert(target.trim_start_matches('/').to_lowercase()) {
                return Err(Refused::new(format!("`{name}` names a part twice"), "save it again"));
            }
        }
        Ok(())
    })
}

/// Calls `look` for every event of a part and checks the depth. Malformed XML ends the scan; the parser stops at the
/// same place and reports it.
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
    fn parses_cell_addresses() {
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
