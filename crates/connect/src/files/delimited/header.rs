//! Detection of the header by the widths and types of the first records: titles and notes may precede it.

use super::cell::{self, Traits};

/// Number of records in which the header is searched.
pub(in crate::files) const RECORDS_OF_HEADER: usize = 20;

/// Number of records that decide the width of the table.
const RECORDS_OF_WIDTH: usize = 200;

/// The position of a table below other lines.
pub(super) struct Found {
    /// The number of records above the header.
    pub(super) skipped: u32,
    /// The number of fields of most rows.
    pub(super) width: usize,
    /// The number of the first records with that number of fields, with the header.
    pub(super) records: usize,
}

/// A record with the structure of its cells.
struct Line {
    /// Whether each cell is a number, a date or a boolean; `None` if it is empty.
    cells: Vec<Option<bool>>,
    /// Whether empty lines precede it.
    is_separated: bool,
}

impl Line {
    fn width(&self) -> usize {
        self.cells.len()
    }

    /// The number of non-empty cells.
    fn count_filled(&self) -> usize {
        self.cells.iter().flatten().count()
    }

    fn has(&self, is_typed: bool) -> bool {
        self.cells.iter().flatten().any(|cell| *cell == is_typed)
    }
}

/// Returns the number of fields of each of the first records.
pub(super) fn widths(start: &[u8], is_whole: bool, delimiter: u8) -> Vec<usize> {
    lines(start, is_whole, delimiter, RECORDS_OF_WIDTH).iter().map(Line::width).collect()
}

/// Finds a header that is not the first record. `start` is the start of a file; `is_whole` if it is all of it.
///
/// The header is the first record with more than half as many cells as most rows have fields. A record that could be a row is not a header: one with numbers or dates, unless an empty
/// line precedes it. Lines above with several cells, or above a table of two columns, also require an empty line, or a column
/// whose first cell is text and whose other cells are numbers or dates.
pub(super) fn find(start: &[u8], is_whole: bool, delimiter: u8) -> Option<Found> {
    let lines = lines(start, is_whole, delimiter, RECORDS_OF_WIDTH);
    let width = width(lines.get(1..)?)?;
    let at = lines.iter().take(RECORDS_OF_HEADER).position(|line| line.count_filled() * 2 > width)?;
    let (above, header, rows) = (&lines[..at], &lines[at], &lines[at + 1..]);
    if above.is_empty() || header.width() != width || !header.has(false) {
        return None;
    }
    let regular = rows.iter().filter(|line| line.width() == width).count();
    let is_separated = header.is_separated || above.last().is_some_and(|line| line.count_filled() == 0);
    let is_title = |line: &Line| line.width() == 1 && width > 2;
    let is_clear = is_separated || !header.has(true) && (above.iter().all(is_title) || heads_types(header, rows));
    let skipped = u32::try_from(at).ok()?;
    (regular > 0 && regular * 2 >= rows.len() && is_clear).then_some(Found { skipped, width, records: regular + 1 })
}

/// Whether a column has text in the header, and a number, date or boolean in most rows.
fn heads_types(header: &Line, rows: &[Line]) -> bool {
    let is_typed = |at: usize| {
        let cells = rows.iter().filter_map(|line| line.cells.get(at).copied().flatten());
        let (typed, all) = cells.fold((0, 0), |(typed, all), cell| (typed + usize::from(cell), all + 1));
        all > 0 && typed * 2 > all
    };
    header.cells.iter().enumerate().any(|(at, cell)| *cell == Some(false) && is_typed(at))
}

/// Returns the most frequent width of these records, the smallest of equally frequent ones. `None` if it is below two.
fn width(lines: &[Line]) -> Option<usize> {
    let mut counts = std::collections::BTreeMap::<usize, usize>::new();
    for line in lines {
        *counts.entry(line.width()).or_default() += 1;
    }
    let most = counts.into_iter().rev().max_by_key(|(_, count)| *count)?.0;
    (most > 1).then_some(most)
}

/// Parses the first records; without the last one if it may be truncated.
fn lines(start: &[u8], is_whole: bool, delimiter: u8, limit: usize) -> Vec<Line> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(start);
    let (mut lines, mut record, mut scratch) = (Vec::new(), csv::ByteRecord::new(), String::new());
    while lines.len() < limit && matches!(reader.read_byte_record(&mut record), Ok(true)) {
        if !is_whole && reader.position().byte() >= start.len() as u64 {
            break;
        }
        let at = record.position().map_or(0, |position| position.byte() as usize);
        let mut cell = |field: &[u8]| {
            let text = String::from_utf8_lossy(field);
            let text = cell::trim(text.trim_start_matches('\u{feff}'));
            let traits = (!text.is_empty()).then(|| cell::classify(text, &mut scratch).traits);
            traits.map(|traits| traits.intersects(Traits::NUMBER | Traits::DATE | Traits::BOOLEAN))
        };
        let cells = record.iter().map(&mut cell).collect();
        lines.push(Line { cells, is_separated: follows_empty_line(start, at) });
    }
    lines
}

/// Whether the record whose bytes start at `at` is preceded by an empty line. The line feed after a carriage return belongs
/// to the record before.
fn follows_empty_line(start: &[u8], at: usize) -> bool {
    let breaks = start.get(at..).unwrap_or_default().iter().take_while(|byte| matches!(byte, b'\n' | b'\r'));
    let feeds = breaks.filter(|byte| **byte == b'\n').count();
    at > 0 && feeds > usize::from(start[at - 1] == b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, skipped: Option<u32>) {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            assert_eq!(find(text.as_bytes(), true, b',').map(|found| found.skipped), skipped, "{text:?}");
        }
    }

    #[test]
    fn skips_lines_above_the_header() {
        check("Sales report 2025\n\nmonth,revenue\nJan,5\nFeb,6\n", Some(1));
        check("Sales report 2025\nmonth,revenue\nJan,5\nFeb,6\n", Some(1));
        check("Cities\nname,city,country\nAnn,Rome,Italy\n", Some(1));
        check("Sales,,,\n,,,\nregion,2023,2024,2025\nNorth,1,2,3\n", Some(2));
        check("Report\nfrom,2025-01-01\n\na,b,c,d\nx,1,2,3\n", Some(2));
    }

    #[test]
    fn keeps_the_first_line_as_header() {
        for text in [
            "a,b\n1,2\n",
            "a\n1,2,3\n4,5,6\n",
            "a\nNorth,2,3\nSouth,5,6\n",
            "name,city\nAnn,Rome,x\nBob,Oslo,y\n",
            "name\nAnn,Rome\nBob,Oslo\n",
            "note\nwell, it is, ok\nfine\n",
            "id,,,\nx,y,z,w\nu,v,w,x\n",
            "a\n\n1\n2\n",
            "a,b,c\n",
            "",
        ] {
            check(text, None);
        }
    }
}
