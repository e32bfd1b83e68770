//! Validates files before a reader trusts them. In binary files: lengths for which it would allocate memory beyond the
//! file, and schemas nested so deeply that they overflow the stack; either would abort the process. In JSON: the end of the
//! list, which the reader does not require.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use datafusion::arrow::ipc::{self, MessageHeader};

use super::failure::FileError;

/// Maximum nesting depth of a Parquet schema.
const MAX_DEPTH: usize = 200;

/// Maximum size of a Parquet footer in bytes.
const MAX_FOOTER: u64 = 256 << 20;

/// Maximum decompressed size of one Arrow batch in bytes.
const MAX_UNPACKED: u64 = 2 << 30;

/// Read buffer size for JSON in bytes.
const BUFFER: usize = 256 << 10;

const TOO_LONG: &str = "its declared length exceeds its size; the file is damaged or truncated";

/// Validates the declared sizes of an Arrow file or stream.
///
/// # Errors
/// If a declared size exceeds the file. Other formats and other damage are left to the reader.
pub(super) fn arrow(file: &mut (impl Read + Seek)) -> Result<(), FileError> {
    let bytes = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let mut start = [0; 6];
    if bytes < 16 || file.read_exact(&mut start).is_err() {
        return Ok(());
    }
    if start == *b"ARROW1" { arrow_file(file, bytes) } else { arrow_stream(file, bytes) }
}

fn arrow_file(file: &mut (impl Read + Seek), bytes: u64) -> Result<(), FileError> {
    let mut end = [0; 10];
    file.seek(SeekFrom::End(-10))?;
    file.read_exact(&mut end)?;
    let Ok(length) = u64::try_from(i32::from_le_bytes([end[0], end[1], end[2], end[3]])) else {
        return Err(FileError::unreadable(TOO_LONG));
    };
    if length + 10 > bytes {
        return Err(FileError::unreadable(TOO_LONG));
    }
    let mut footer = vec![0; usize::try_from(length).unwrap_or_default()];
    file.seek(SeekFrom::Start(bytes - 10 - length))?;
    file.read_exact(&mut footer)?;
    let Ok(footer) = ipc::root_as_footer(&footer) else { return Ok(()) };
    for block in footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten()) {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()].map(u64::try_from);
        let [Ok(offset), Ok(metadata), Ok(body)] = parts else { return Err(FileError::unreadable(TOO_LONG)) };
        if offset.saturating_add(metadata).saturating_add(body) > bytes {
            return Err(FileError::unreadable(TOO_LONG));
        }
        file.seek(SeekFrom::Start(offset))?;
        let mut message = vec![0; usize::try_from(metadata).unwrap_or_default()];
        file.read_exact(&mut message)?;
        // The length precedes the metadata, since version 0.15 after a marker.
        let before = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
        let message = message.get(before..).unwrap_or_default();
        check_unpacked_size(file, message, offset + metadata, body)?;
    }
    Ok(())
}

fn arrow_stream(file: &mut (impl Read + Seek), bytes: u64) -> Result<(), FileError> {
    let mut at = 0;
    loop {
        file.seek(SeekFrom::Start(at))?;
        let mut four = [0; 4];
        if file.read_exact(&mut four).is_err() {
            return Ok(());
        }
        at += 4;
        if four == [0xff; 4] {
            if file.read_exact(&mut four).is_err() {
                return Ok(());
            }
            at += 4;
        }
        let length = u64::from(u32::from_le_bytes(four));
        if length == 0 {
            return Ok(());
        }
        if at + length > bytes {
            return Err(FileError::unreadable(TOO_LONG));
        }
        let mut message = vec![0; usize::try_from(length).unwrap_or_default()];
        file.read_exact(&mut message)?;
        at += length;
        let Ok(body) = ipc::root_as_message(&message).map(|message| message.bodyLength()) else { return Ok(()) };
        let body = u64::try_from(body).unwrap_or(u64::MAX);
        if at.saturating_add(body) > bytes {
            return Err(FileError::unreadable(TOO_LONG));
        }
        check_unpacked_size(file, &message, at, body)?;
        at += body;
    }
}

/// Checks that the buffers of a message, whose body starts at `start`, decompress to less than the limit. Each starts
/// with its decompressed size, or -1 if it is not compressed.
fn check_unpacked_size(file: &mut (impl Read + Seek), message: &[u8], start: u64, body: u64) -> Result<(), FileError> {
    let Ok(message) = ipc::root_as_message(message) else { return Ok(()) };
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|batch| batch.data()),
        _ => None,
    };
    let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else { return Ok(()) };
    let mut total = 0_u64;
    for buffer in batch.buffers().into_iter().flatten().filter(|buffer| buffer.length() >= 8) {
        let Some(offset) = u64::try_from(buffer.offset()).ok().filter(|offset| offset + 8 <= body) else { continue };
        let mut eight = [0; 8];
        file.seek(SeekFrom::Start(start + offset))?;
        file.read_exact(&mut eight)?;
        total = total.saturating_add(u64::try_from(i64::from_le_bytes(eight)).unwrap_or_default());
    }
    match total <= MAX_UNPACKED {
        true => Ok(()),
        false => Err(FileError::unreadable(format!("a batch decompresses to more than {} GB", MAX_UNPACKED >> 30))),
    }
}

/// Validates the nesting depth of a Parquet schema.
///
/// # Errors
/// The same as for [`arrow`].
pub(super) fn parquet(file: &mut (impl Read + Seek)) -> Result<(), FileError> {
    let bytes = file.seek(SeekFrom::End(0))?;
    if bytes < 12 {
        return Ok(());
    }
    let mut end = [0; 8];
    file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut end)?;
    let length = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
    if end[4..] != *b"PAR1" || length + 8 > bytes {
        return Ok(());
    }
    if length > MAX_FOOTER {
        return Err(FileError::unreadable(format!("its footer has more than {} MB", MAX_FOOTER >> 20)));
    }
    let mut footer = vec![0; usize::try_from(length).unwrap_or_default()];
    file.seek(SeekFrom::Start(bytes - 8 - length))?;
    file.read_exact(&mut footer)?;
    match depth(&mut Compact(&footer)) {
        Some(depth) if depth > MAX_DEPTH => {
            Err(FileError::unreadable(format!("its columns are nested more than {MAX_DEPTH} levels deep")))
        }
        _ => Ok(()),
    }
}

/// Returns the nesting depth of the schema in a `FileMetaData`, counted up to just above the maximum. `None` if it is not
/// one.
fn depth(footer: &mut Compact<'_>) -> Option<usize> {
    let mut id = 0;
    while let Some(kind) = footer.field(&mut id)? {
        if (id, kind) != (2, Compact::LIST) {
            footer.skip(kind, 0)?;
            continue;
        }
        let (count, _) = footer.list()?;
        let (mut open, mut deepest): (Vec<u64>, usize) = (Vec::new(), 0);
        for _ in 0..count {
            let (mut id, mut children) = (0, 0);
            while let Some(kind) = footer.field(&mut id)? {
                match (id, kind) {
                    (5, Compact::I32) => children = u64::try_from(footer.zigzag()?).unwrap_or_default(),
                    _ => footer.skip(kind, 0)?,
                }
            }
            while open.last() == Some(&0) {
                open.pop();
            }
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            if children > 0 {
                open.push(children);
            }
            deepest = deepest.max(open.len());
            if deepest > MAX_DEPTH {
                break;
            }
        }
        return Some(deepest);
    }
    None
}

/// Validates that a JSON list ends, and that nothing follows it. Files that do not start with `[` are left to the reader.
///
/// # Errors
/// If the file is truncated between two records, or text follows the list.
pub(super) fn json(file: &mut (impl Read + Seek)) -> Result<(), FileError> {
    file.rewind()?;
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let (mut depth, mut is_in_string, mut is_escaped, mut is_started) = (0_usize, false, false, false);
    loop {
        let bytes = reader.fill_buf()?;
        for byte in bytes {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if is_in_string => is_escaped = true,
                b'"' if depth > 0 => is_in_string = !is_in_string,
                _ if is_in_string || byte.is_ascii_whitespace() => {}
                _ if depth == 0 && is_started => return Err(FileError::unreadable("text follows the end of the list")),
                _ if depth == 0 && *byte != b'[' => return Ok(()),
                b'[' | b'{' => (depth, is_started) = (depth + 1, true),
                b']' | b'}' => depth -= 1,
                _ => {}
            }
        }
        let read = bytes.len();
        if read == 0 {
            break;
        }
        reader.consume(read);
    }
    if depth == 0 { Ok(()) } else { Err(FileError::unreadable("the list does not end; the file is truncated")) }
}

/// Bytes in Thrift's compact protocol: <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.
struct Compact<'a>(&'a [u8]);

impl Compact<'_> {
    const I32: u8 = 5;
    const LIST: u8 = 9;

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        self.varint().map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    /// Returns the type of the next field, and its number in `id`; the inner `None` marks the end of the struct.
    #[allow(clippy::option_option, reason = "the end of a struct is not the end of the bytes")]
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *id = match byte >> 4 {
            0 => self.zigzag()?,
            delta => id.checked_add(i64::from(delta))?,
        };
        Some(Some(byte & 0x0f))
    }

    /// Returns the number of elements that follow, and their type.
    fn list(&mut self) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
        Some((count, byte & 0x0f))
    }

    /// Skips a value of that type.
    fn skip(&mut self, kind: u8, nested: usize) -> Option<()> {
        if nested > MAX_DEPTH {
            return None;
        }
        match kind {
            // Boolean fields are encoded in the field header.
            1 | 2 => Some(()),
            3 => self.pass(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.pass(8),
            8 => self.varint().and_then(|length| self.pass(length)),
            Self::LIST | 10 => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| if kind <= 2 { self.pass(1) } else { self.skip(kind, nested + 1) })
            }
            12 => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, nested + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }
}
