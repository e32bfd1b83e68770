//! Estimates the memory needed by the objects of a PDF before parsing: a number of two bytes becomes an object of a
//! hundred, and an object stream may be compressed a thousandfold.
//!
//! The estimate ignores the cross-reference table, chains of filters and encrypted content. A crafted file can pass; it
//! then runs into the time limit.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::super::Refused;
use crate::formats::limits;

const STREAM: &[u8] = b"stream";
const END: &[u8] = b"endstream";

/// Rejects a file with too many objects.
pub(super) fn objects(bytes: &[u8]) -> Result<(), Refused> {
    let mut tokens = 0;
    let mut at = 0;
    while let Some(found) = find(bytes, at, STREAM) {
        let before = &bytes[at..found];
        tokens += count(before);
        let start = found + STREAM.len();
        let end = find(bytes, start, END).unwrap_or(bytes.len());
        // The type name, or one that may encode it with `#` escapes (ISO 32000-1, 7.3.5).
        if find(before, 0, b"ObjStm").is_some() || before.contains(&b'#') {
            tokens += count_packed(bytes[start..end].trim_ascii_start());
        }
        at = (end + END.len()).min(bytes.len());
        enough(tokens)?;
    }
    enough(tokens + count(&bytes[at..]))
}

fn enough(tokens: usize) -> Result<(), Refused> {
    if tokens > limits::MAX_PDF_TOKENS {
        let reason = format!("the file contains over {} numbers and names", limits::MAX_PDF_TOKENS);
        return Err(Refused::new(reason, "split it into several files"));
    }
    Ok(())
}

fn find(bytes: &[u8], from: usize, word: &[u8]) -> Option<usize> {
    let mut at = from;
    loop {
        // Searches for the first letter, then compares the rest.
        at += bytes.get(at..)?.iter().position(|byte| *byte == word[0])?;
        if bytes[at..].starts_with(word) {
            return Some(at);
        }
        at += 1;
    }
}

/// Counts numbers, names and strings, as separated by white space and brackets.
fn count(bytes: &[u8]) -> usize {
    let divides = |byte: u8| byte.is_ascii_whitespace() || byte == 0 || b"[]<>()/".contains(&byte);
    bytes.windows(2).filter(|two| divides(two[0]) && !divides(two[1])).count()
        + bytes.iter().filter(|byte| b"[<(".contains(byte)).count()
}

/// Counts the content of a compressed object stream. Pages, fonts and pictures are unpacked later, within their own
/// limit.
fn count_packed(stream: &[u8]) -> usize {
    let mut text = Vec::new();
    // Damaged streams count up to the damage.
    let _ = ZlibDecoder::new(stream).take(limits::MAX_OBJECT_STREAM_BYTES as u64).read_to_end(&mut text);
    count(&text)
}
