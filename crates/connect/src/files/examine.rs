//! What binary files claim of themselves, before a reader believes it: lengths for which it would allocate memory that no
//! file fills, and schemas nested so deeply that reading them takes the stack. Either would end the process.

use std::io::{Read, Seek, SeekFrom};

use datafusion::arrow::ipc::{self, MessageHeader};

use super::failure::FileError;

/// A schema of Parquet is not nested more deeply.
const MAX_DEPTH: usize = 200;

/// More of the end of a Parquet file is not read for its schema.
const MAX_FOOTER: u64 = 256 << 20;

/// The compressed columns of one batch of an Arrow file do not unpack to more bytes.
const MAX_UNPACKED: u64 = 2 << 30;

const TOO_LONG: &str = "it claims to be longer than it is; the file is damaged, or without its end";

/// Whether a file or a stream of Arrow can hold what it says.
///
/// # Errors
/// What is wrong, as a clause. What is no such file, or is damaged in other ways, is left to its reader.
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
        // Its length stands before it, since version 0.15 behind a mark.
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

/// Whether the buffers of a message, whose body begins at `start`, unpack to as much as may be held. Each begins with the
/// number of its bytes, or -1 where it is not packed.
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
        false => Err(FileError::unreadable(format!("a part of it unpacks to more than {} GB", MAX_UNPACKED >> 30))),
    }
}

/// Whether the schema of a Parquet file can be read.
///
/// # Errors
/// As [`arrow`].
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
        return Err(FileError::unreadable(format!("its description of itself has more than {} MB", MAX_FOOTER >> 20)));
    }
    let mut footer = vec![0; usize::try_from(length).unwrap_or_default()];
    file.seek(SeekFrom::Start(bytes - 8 - length))?;
    file.read_exact(&mut footer)?;
    match depth(&mut Compact(&footer)) {
        Some(depth) if depth > MAX_DEPTH => {
            Err(FileError::unreadable(format!("its columns are nested more than {MAX_DEPTH} deep")))
        }
        _ => Ok(()),
    }
}

/// How deeply the schema in a `FileMetaData` is nested; as far as it was read, where that is too deep. `None` for what is no
/// such thing.
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

    /// The type of the next field, and its number in `id`; inner `None` at the end of the struct.
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

    /// How many elements follow, and their type.
    fn list(&mut self) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
        Some((count, byte & 0x0f))
    }

    /// Passes a value of that type over.
    fn skip(&mut self, kind: u8, nested: usize) -> Option<()> {
        if nested > MAX_DEPTH {
            return None;
        }
        match kind {
            // Of a field they stand in its head.
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
