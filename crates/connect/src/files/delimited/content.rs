//! Decoding of files: decompressed, in UTF-8, with a limit on the size of a row.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252};
use encoding_rs_io::DecodeReaderBytesBuilder;
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use super::header;

/// Maximum size of the header in bytes.
const MAX_HEADER: u64 = 16 << 20;

/// Maximum size of a row in bytes: an unclosed quote turns the rest of the file into one field.
const MAX_ROW: u64 = 64 << 20;

/// Read buffer size in bytes.
const BUFFER: usize = 256 << 10;

/// Number of bytes inspected at the start of a file.
const START: u64 = 64 << 10;

/// The location of the rows of a table.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// A file, which may be compressed with gzip.
    File(PathBuf),
    /// An in-memory sheet, with the sheet row number of each record.
    Sheet { bytes: Arc<[u8]>, rows: Arc<[u32]> },
}

/// The character encoding of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Encoding {
    Utf8,
    Utf16 { is_big_endian: bool },
    Windows1252,
}

/// The format of a delimited file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct TextFormat {
    pub(super) encoding: Encoding,
    pub(super) delimiter: u8,
    /// The number of records above the header.
    #[serde(default)]
    pub(super) skipped: u32,
}

impl Encoding {
    /// Returns the name of an encoding other than UTF-8.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Encoding::Utf8 => None,
            Encoding::Utf16 { .. } => Some("UTF-16"),
            Encoding::Windows1252 => Some("Windows-1252"),
        }
    }

    /// Detects the encoding from a byte order mark.
    fn of(start: &[u8]) -> Encoding {
        match start {
            [0xff, 0xfe, ..] => Encoding::Utf16 { is_big_endian: false },
            [0xfe, 0xff, ..] => Encoding::Utf16 { is_big_endian: true },
            _ => Encoding::Utf8,
        }
    }
}

impl Content {
    /// Returns the human-readable unit in which rows are counted.
    pub(super) fn unit(&self) -> &'static str {
        match self {
            Content::File(_) => "line",
            Content::Sheet { .. } => "row",
        }
    }

    /// Detects the format from the start of the file.
    pub(super) fn format(&self) -> io::Result<TextFormat> {
        let mut start = Vec::new();
        self.unpack()?.take(START).read_to_end(&mut start)?;
        let is_whole = (start.len() as u64) < START;
        let encoding = Encoding::of(&start);
        if let Content::Sheet { .. } = self {
            return Ok(TextFormat { encoding: Encoding::Utf8, delimiter: b',', skipped: 0 });
        }
        let mut text = Vec::new();
        to_utf8(start.as_slice(), encoding).read_to_end(&mut text)?;
        let (delimiter, skipped) = locate(&text, is_whole);
        Ok(TextFormat { encoding, delimiter, skipped })
    }

    fn unpack(&self) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Content::File(path) => unpack_file(path),
            Content::Sheet { bytes, .. } => Ok(Box::new(Cursor::new(bytes.clone()))),
        }
    }

    /// Returns a reader of the rows from the header on.
    pub(super) fn rows(&self, format: &TextFormat) -> io::Result<RowReader> {
        let text = to_utf8(self.unpack()?, format.encoding);
        let left = Arc::new(AtomicU64::new(MAX_HEADER));
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(format.delimiter)
            .buffer_capacity(BUFFER)
            .from_reader(Limited { text, left: left.clone(), read: 0, last: 0, returns: Vec::new() });
        let mut above = csv::ByteRecord::new();
        for _ in 0..format.skipped {
            reader.read_byte_record(&mut above)?;
        }
        left.store(MAX_HEADER, Ordering::Relaxed);
        Ok(RowReader { reader, left })
    }
}

/// Returns the separator, and the number of records above the header. The separator is that of the first line, unless this is a title:
/// a table with another separator starts below, whose header and most rows do not have the fields of the first line.
fn locate(start: &[u8], is_whole: bool) -> (u8, u32) {
    let of_first = delimiter(start);
    let widths = header::widths(start, is_whole, of_first);
    let first = widths.first().copied().unwrap_or_default();
    let fitting = widths.iter().skip(1).filter(|width| **width == first).count();
    let is_below_title = |table: &header::Found| {
        let header = usize::try_from(table.skipped).ok().and_then(|at| widths.get(at));
        header != Some(&first) && table.records > fitting
    };
    let find = |delimiter: u8| Some((delimiter, header::find(start, is_whole, delimiter)?));
    let tables = [b',', b'\t', b';', b'|'].into_iter().rev().filter_map(find);
    let found = match first {
        0 | 1 => tables.max_by_key(|(_, table)| table.width),
        _ => find(of_first)
            .or_else(|| tables.filter(|(_, table)| is_below_title(table)).max_by_key(|(_, table)| table.width)),
    };
    found.map_or((of_first, 0), |(delimiter, table)| (delimiter, table.skipped))
}

/// Detects the separator from the first line: the comma, unless another candidate occurs more often outside quotes.
fn delimiter(start: &[u8]) -> u8 {
    let header = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let times = |wanted: u8| {
        let bare = header.split(|byte| *byte == b'"').step_by(2).flatten();
        bare.filter(|byte| **byte == wanted).count()
    };
    [b'\t', b';', b'|'].into_iter().max_by_key(|d| times(*d)).filter(|d| times(*d) > times(b',')).unwrap_or(b',')
}

/// Opens a file, decompressing gzip.
pub(crate) fn unpack_file(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let mut file = File::open(path)?;
    let mut magic = [0; 2];
    let is_packed = file.read_exact(&mut magic).is_ok() && magic == [0x1f, 0x8b];
    io::Seek::rewind(&mut file)?;
    Ok(match is_packed {
        true => Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, file))),
        false => Box::new(file),
    })
}

/// A reader of rows.
pub(super) struct RowReader {
    reader: csv::Reader<Limited>,
    /// The number of bytes that may still be read before a row is complete.
    left: Arc<AtomicU64>,
}

impl RowReader {
    /// Reads the next row; `false` after the last.
    pub(super) fn next(&mut self, row: &mut csv::StringRecord) -> Result<bool, csv::Error> {
        let is_read = self.reader.read_record(row)?;
        self.left.store(MAX_ROW, Ordering::Relaxed);
        Ok(is_read)
    }

    /// Returns the line on which the last row started. The parser has counted the line feeds up to its position: that at
    /// the end of the row, unless a carriage return precedes it or the file ends, and those inside of the row. A row may
    /// be preceded by empty lines.
    pub(super) fn line(&self, row: &csv::StringRecord) -> u64 {
        let position = self.reader.position();
        let is_counted = self.reader.get_ref().is_after_line_feed(position.byte());
        let inside = memchr::memchr_iter(b'\n', row.as_slice().as_bytes()).count() as u64;
        position.line().saturating_sub(u64::from(is_counted) + inside)
    }
}

/// A reader that limits the number of bytes before a row is complete.
struct Limited {
    text: Box<dyn Read + Send>,
    /// The number of bytes that may still be read.
    left: Arc<AtomicU64>,
    /// The number of bytes read.
    read: u64,
    /// The last byte.
    last: u8,
    /// The positions after the carriage returns of the last non-empty read.
    returns: Vec<u64>,
}

impl Limited {
    /// Whether the row that ends at this position, in the last read, ends with a line feed.
    fn is_after_line_feed(&self, position: u64) -> bool {
        match position == self.read {
            true => self.last == b'\n',
            // Only the last row of a file may end without a line feed or a carriage return.
            false => self.returns.binary_search(&position).is_err(),
        }
    }
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return Err(io::Error::other("a row or the header is too long; check for an unclosed quote"));
        }
        let read = self.text.read(buffer)?;
        if let Some(last) = buffer[..read].last() {
            self.last = *last;
            self.returns.clear();
            self.returns.extend(memchr::memchr_iter(b'\r', &buffer[..read]).map(|at| self.read + at as u64 + 1));
            self.read += read as u64;
        }
        self.left.store(left.saturating_sub(read as u64), Ordering::Relaxed);
        Ok(read)
    }
}

/// Returns a reader that converts an encoding to UTF-8.
fn to_utf8<'a>(bytes: impl Read + Send + 'a, encoding: Encoding) -> Box<dyn Read + Send + 'a> {
    let encoding = match encoding {
        Encoding::Utf8 => return Box::new(bytes),
        Encoding::Utf16 { is_big_endian: false } => UTF_16LE,
        Encoding::Utf16 { is_big_endian: true } => UTF_16BE,
        Encoding::Windows1252 => WINDOWS_1252,
    };
    Box::new(DecodeReaderBytesBuilder::new().encoding(Some(encoding)).build(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], encoding: Encoding, text: &str) {
        let mut decoded = String::new();
        to_utf8(bytes, encoding).read_to_string(&mut decoded).unwrap();
        assert_eq!(decoded.trim_start_matches('\u{feff}'), text);
    }

    fn of_text(text: Vec<u8>) -> Content {
        Content::Sheet { bytes: text.into(), rows: Arc::default() }
    }

    #[test]
    fn decodes_to_utf_8() {
        check(b"5 \x80 \xe9", Encoding::Windows1252, "5 € é");
        check(b"\xff\xfea\x00\x3d\xd8\x00\xde", Encoding::Utf16 { is_big_endian: false }, "a\u{1f600}");
        check(b"\xfe\xff\x00a", Encoding::Utf16 { is_big_endian: true }, "a");
        let long: Vec<u8> = "é1".repeat(50_000).encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(&long, Encoding::Utf16 { is_big_endian: false }, &"é1".repeat(50_000));
    }

    #[test]
    fn the_separator_of_a_title_is_not_that_of_the_table() {
        let check = |text: &str, delimiter: u8, skipped: u32| {
            assert_eq!(locate(text.as_bytes(), true), (delimiter, skipped), "{text:?}");
        };
        check("Sales; by region\nregion,product,amount\nNorth,A,10\nSouth,B,20\n", b',', 1);
        check("Report\tQ1\tfinal\n\nregion,amount\nNorth,10\nSouth,20\n", b',', 1);
        check("Revenue, by region\nregion;amount\nNorth;1,5\nSouth;2,5\n", b';', 1);
        check("id,tags\n1,a;b;c\n2,d;e;f\n", b',', 0);
        check("name;note\nAnn\nBob\n", b';', 0);
    }

    #[test]
    fn an_unclosed_quote_is_limited_in_memory() {
        let mut text = b"a,b\n1,\"2\n".to_vec();
        text.resize(80 << 20, b'x');
        let content = of_text(text);
        let mut rows = content.rows(&content.format().unwrap()).unwrap();
        let mut row = csv::StringRecord::new();
        assert!(rows.next(&mut row).unwrap());
        assert!(rows.next(&mut row).unwrap_err().to_string().contains("check for an unclosed quote"));
    }

    #[test]
    fn knows_the_line_of_every_row() {
        let check = |text: &str, lines: &[u64]| {
            let content = of_text(text.as_bytes().to_vec());
            let mut rows = content.rows(&content.format().unwrap()).unwrap();
            let (mut row, mut found) = (csv::StringRecord::new(), Vec::new());
            while rows.next(&mut row).unwrap() {
                found.push(rows.line(&row));
            }
            assert_eq!(found, lines, "{text:?}");
        };
        for end in ["", "\n"] {
            check(&format!("a,b\n1,2\n\n\n3,4{end}"), &[1, 2, 5]);
            check(&format!("a,b\r\n1,2\r\n\r\n3,4{}", end.replace('\n', "\r\n")), &[1, 2, 4]);
            check(&format!("a,b\n1,\"x\ny\"\n3,4{end}"), &[1, 2, 4]);
            check(&format!("a,b\r\n1,\"x\r\ny\"\r\n3,4{}", end.replace('\n', "\r\n")), &[1, 2, 4]);
            // Lines may end differently.
            check(&format!("a,b\n\n1,2\r\n\r\n3,\"x\ny\"\r\n5,6\n7,8{end}"), &[1, 3, 5, 7, 8]);
            check(&format!("a,b\r\n1,2\n\n3,4\r\n5,6{end}"), &[1, 2, 4, 5]);
        }
        // In several reads.
        let rows: String = (0..200_000).map(|_| "1,2\r\n").collect();
        check(&format!("a,b\n{rows}"), &(1..=200_001).collect::<Vec<u64>>());
    }
}
