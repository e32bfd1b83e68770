//! How much the objects of a PDF will weigh, told from its bytes before they are read: a number of two bytes becomes an
//! object of a hundred, and a stream of objects may be packed a thousandfold.
//!
//! This is an estimate. It follows neither the cross-reference table nor chains of filters, and does not look into what is
//! encrypted, so that a file made for it can pass; such a file meets the limit on time.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::super::Refused;
use crate::formats::limits;

const STREAM: &[u8] = b"stream";
const END: &[u8] = b"endstream";

/// Refuses a file of too many objects.
pub(super) fn objects(bytes: &[u8]) -> Result<(), Refused> {
    let mut tokens = 0;
    let mut at = 0;
    while let Some(found) = find(bytes, at, STREAM) {
        let before = &bytes[at..found];
        tokens += count(before);
        let start = found + STREAM.len();
        let end = find(bytes, start, END).unwrap_or(bytes.len());
        // The name of its type, or one that may be it in other letters (ISO 32000-1, 7.3.5).
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
        let reason = format!("the file holds over {} numbers and names", limits::MAX_PDF_TOKENS);
        return Err(Refused::new(reason, "split it into several files"));
    }
    Ok(())
}

fn find(bytes: &[u8], from: usize, word: &[u8]) -> Option<usize> {
    let mut at = from;
    loop {
        // The first letter, then the rest of the word.
        at += bytes.get(at..)?.iter().position(|byte| *byte == word[0])?;
        if bytes[at..].starts_with(word) {
            return Some(at);
        }
        at += 1;
    }
}

/// Numbers, names and strings, as far as white space and brackets divide them.
fn count(bytes: &[u8]) -> usize {
    let divides = |byte: u8| byte.is_ascii_whitespace() || byte == 0 || b"[]<>()/".contains(&byte);
    bytes.windows(2).filter(|two| divides(two[0]) && !divides(two[1])).count()
        + bytes.iter().filter(|byte| b"[<(".contains(byte)).count()
}

/// What a packed stream of objects holds. Pages, fonts and pictures are unpacked later, within their own limit.
fn count_packed(stream: &[u8]) -> usize {
    let mut text = Vec::new();
    // What is damaged further on counts as far as it goes.
    let _ = ZlibDecoder::new(stream).take(limits::MAX_OBJECT_STREAM_BYTES as u64).read_to_end(&mut text);
    count(&text)
}
