//! The parts of PDF fonts needed for text: maps of codes to characters and widths.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Encoding, Object};

use super::dictionary;
use crate::formats::limits;

/// Default glyph width, in thousandths of the font size.
const COMMON_WIDTH: f64 = 500.0;

/// A font.
pub(super) struct Font<'a> {
    encoding: Option<Encoding<'a>>,
    /// Number of bytes per code: 2 in composite fonts, otherwise 1.
    pub(super) bytes: usize,
    widths: HashMap<u32, f64>,
    default_width: f64,
    known: HashMap<u32, Option<String>>,
}

/// Returns the dictionary from which to take the encoding. `ToUnicode` takes precedence over the encoding, which names
/// glyphs (ISO 32000-1, 9.10.2); lopdf uses it only if there is no encoding.
pub(super) fn for_text(document: &Document, font: &Dictionary) -> Dictionary {
    let mut font = font.clone();
    let unicode =
        font.get(b"ToUnicode").is_ok_and(|map| document.dereference(map).is_ok_and(|(_, o)| o.as_stream().is_ok()));
    if unicode {
        font.remove(b"Encoding");
    }
    font.set("Type", Object::Name(b"Font".to_vec()));
    font
}

impl<'a> Font<'a> {
    /// Parses a font dictionary returned by [`for_text`].
    pub(super) fn new(document: &'a Document, font: &'a Dictionary, left: usize) -> lopdf::Result<Font<'a>> {
        let composite = font.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind == b"Type0");
        let inner = font.get(b"DescendantFonts").ok().and_then(|fonts| document.dereference(fonts).ok());
        let inner = inner.and_then(|(_, fonts)| fonts.as_array().ok()?.first());
        let described = inner.filter(|_| composite).and_then(|inner| dictionary(document, inner)).unwrap_or(font);
        let encoding = font.get_font_encoding_with_limit(document, left.min(limits::MAX_OBJECT_STREAM_BYTES));
        let encoding = match encoding {
            Err(error @ lopdf::Error::Decompress(_)) => return Err(error),
            encoding => encoding.ok(),
        };
        let descriptor = described.get(b"FontDescriptor").ok().and_then(|found| dictionary(document, found));
        let mut widths = HashMap::new();
        let mut default_width = COMMON_WIDTH;
        if composite {
            default_width = described.get(b"DW").ok().and_then(number).unwrap_or(1000.0);
            if let Some(list) = array(document, described, b"W") {
                composite_widths(document, list, &mut widths);
            }
        } else if let Some(list) = array(document, described, b"Widths") {
            let first = described.get(b"FirstChar").and_then(Object::as_i64).unwrap_or(0).clamp(0, 255) as u32;
            let values = list.iter().map(|width| document.dereference(width).ok().and_then(|(_, w)| number(w)));
            widths.extend((first..=255).zip(values).filter_map(|(code, width)| Some((code, width?))));
            let missing = descriptor.and_then(|found| number(found.get(b"MissingWidth").ok()?));
            default_width = missing.unwrap_or(default_width);
        }
        Ok(Font { encoding, bytes: if composite { 2 } else { 1 }, widths, default_width, known: HashMap::new() })
    }

    /// Returns the width of a code as a fraction of the font size.
    pub(super) fn width(&self, code: u32) -> f64 {
        self.widths.get(&code).copied().unwrap_or(self.default_width) / 1000.0
    }

    /// Returns the characters of a code; `None` if the font does not define them.
    pub(super) fn text(&mut self, code: u32, bytes: &[u8]) -> Option<&str> {
        let encoding = self.encoding.as_ref()?;
        let known = self.known.entry(code).or_insert_with(|| {
            let text = Document::decode_text(encoding, bytes).ok()?;
            let text: String = text.chars().filter(|c| !c.is_control() && !matches!(c, '\u{fffd}')).take(16).collect();
            (!text.is_empty()).then(|| ligatures(&text))
        });
        known.as_deref()
    }
}

/// Replaces ligatures by their letters.
fn ligatures(text: &str) -> String {
    let pairs = [('ﬀ', "ff"), ('ﬁ', "fi"), ('ﬂ', "fl"), ('ﬃ', "ffi"), ('ﬄ', "ffl"), ('\u{a0}', " ")];
    pairs.iter().fold(text.to_owned(), |text, (one, letters)| text.replace(*one, letters))
}

/// Parses `c [w1 w2 ...]` and `c_first c_last w` (ISO 32000-1, 9.7.4.3).
fn composite_widths(document: &Document, list: &[Object], widths: &mut HashMap<u32, f64>) {
    let mut at = 0;
    while let Some(first) = list.get(at).and_then(|first| first.as_i64().ok()) {
        let first = u32::try_from(first.clamp(0, 65_535)).unwrap_or_default();
        let Some(Ok((_, second))) = list.get(at + 1).map(|second| document.dereference(second)) else { return };
        if let Ok(each) = second.as_array() {
            widths.extend((first..=65_535).zip(each).filter_map(|(code, width)| Some((code, number(width)?))));
            at += 2;
        } else {
            let last = second.as_i64().unwrap_or(0).clamp(0, 65_535) as u32;
            let Some(width) = list.get(at + 2).and_then(number) else { return };
            widths.extend((first..=last).map(|code| (code, width)));
            at += 3;
        }
    }
}

fn array<'a>(document: &'a Document, from: &'a Dictionary, key: &[u8]) -> Option<&'a [Object]> {
    let object = document.dereference(from.get(key).ok()?).ok()?.1;
    object.as_array().ok().map(Vec::as_slice)
}

/// Returns the value of an integer or real object.
pub(super) fn number(object: &Object) -> Option<f64> {
    object.as_float().ok().map(f64::from).filter(|number| number.is_finite())
}
