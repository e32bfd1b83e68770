//! Converts PDF to Markdown: objects are parsed by the `lopdf` crate, text is reconstructed here.
//!
//! A PDF contains positioned glyphs, neither words nor headings. [`content`] interprets the drawing operators of a page
//! and collects text pieces with position and size; [`layout`] builds lines and paragraphs, one section per page. Both
//! limit their work, as a page of a few bytes can draw recursive forms.

mod content;
mod font;
mod layout;
mod weigh;

use lopdf::{Dictionary, Document, Error, LoadOptions, Object};

use super::{Converted, Refused, Remark, SAVE_AGAIN};
use crate::Format;
use crate::formats::limits;

pub(super) fn read(bytes: &[u8], remarks: &mut Vec<Remark>) -> Result<Converted, Refused> {
    weigh::objects(bytes)?;
    let options = LoadOptions::with_max_decompressed_size(limits::MAX_OBJECT_STREAM_BYTES);
    let document = Document::load_mem_with_options(bytes, options).map_err(refuse)?;
    // A file that opens without a password is already decrypted.
    if document.is_encrypted() {
        return Err(Refused::for_encryption());
    }
    let pages: Vec<_> = document.page_iter().take(limits::MAX_PDF_PAGES + 1).collect();
    if pages.is_empty() {
        return Err(Refused::for_damage(Format::Pdf, "it has no pages"));
    }
    if pages.len() > limits::MAX_PDF_PAGES {
        let reason = format!("the file has over {} pages", limits::MAX_PDF_PAGES);
        return Err(Refused::new(reason, "split it into several files"));
    }
    let mut budget = content::Budget::default();
    let mut drawn: Vec<Vec<content::Piece>> = Vec::new();
    for (n, page) in pages.iter().enumerate() {
        match content::page(&document, *page, &mut budget) {
            Ok(pieces) => drawn.push(pieces),
            Err(content::Stop::Limit(refused)) => return Err(refused),
            Err(content::Stop::Page(reason)) => {
                drawn.push(Vec::new());
                remarks.push((format!("page {} could not be read: {reason}", n + 1), SAVE_AGAIN.into()));
            }
        }
    }
    if budget.undecoded > 0 {
        let reason = format!("{} pieces of text have an unknown encoding and were skipped", budget.undecoded);
        remarks.push((reason, "export the PDF again from its source, with embedded fonts".into()));
    }
    let mut converted = properties(&document);
    converted.metadata.insert("pages".into(), pages.len().to_string());
    converted.text = layout::markdown(drawn);
    if converted.text.trim().is_empty() {
        let reason = format!("the {} pages contain pictures, but no text", pages.len());
        remarks.push((reason, "run OCR on it and save the PDF with a text layer".into()));
    }
    Ok(converted)
}

fn refuse(error: Error) -> Refused {
    match error {
        Error::InvalidPassword | Error::Decryption(_) | Error::UnsupportedSecurityHandler(_) => {
            Refused::for_encryption()
        }
        Error::Decompress(lopdf::DecompressError::MemoryLimitExceeded { .. }) => {
            Refused::too_large("a part of the file unpacks to more", limits::MAX_OBJECT_STREAM_BYTES)
        }
        error => Refused::for_damage(Format::Pdf, error),
    }
}

/// Reads the document information dictionary (ISO 32000-1, 14.3.3).
fn properties(document: &Document) -> Converted {
    let mut converted = Converted::default();
    let info = document.trailer.get(b"Info").ok().and_then(|info| dictionary(document, info));
    let Some(info) = info else { return converted };
    let text = |key: &[u8]| {
        let value = info.get(key).ok().and_then(|value| document.dereference(value).ok())?.1;
        lopdf::decode_text_string(value).ok().filter(|text| !text.trim().is_empty())
    };
    converted.title = text(b"Title");
    converted.last_updated = text(b"ModDate").or_else(|| text(b"CreationDate")).and_then(|date| date_of(&date));
    converted.tags =
        text(b"Keywords").iter().flat_map(|words| words.split([',', ';'])).map(|tag| tag.trim().to_owned()).collect();
    let created = text(b"CreationDate").and_then(|date| date_of(&date));
    for (name, value) in [("author", text(b"Author")), ("subject", text(b"Subject")), ("created", created)] {
        converted.metadata.extend(value.map(|value| (name.to_owned(), value)));
    }
    converted
}

fn dictionary<'a>(document: &'a Document, object: &'a Object) -> Option<&'a Dictionary> {
    document.dereference(object).ok()?.1.as_dict().ok()
}

/// Converts `D:20250304093000+01'00'` (ISO 32000-1, 7.9.4) to RFC 3339.
fn date_of(text: &str) -> Option<String> {
    let rest = text.trim().trim_start_matches("D:");
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let part = |from: usize, to: usize, missing: &str| digits.get(from..to).unwrap_or(missing).to_owned();
    if digits.len() < 4 {
        return None;
    }
    let day = format!("{}-{}-{}", part(0, 4, ""), part(4, 6, "01"), part(6, 8, "01"));
    if digits.len() < 10 {
        return Some(day);
    }
    let zone: String = rest[digits.len()..].chars().filter(|c| *c != '\'').collect();
    let zone = match (zone.chars().next(), zone.get(1..3), zone.get(3..5)) {
        (Some(sign @ ('+' | '-')), Some(hours), minutes) => format!("{sign}{hours}:{}", minutes.unwrap_or("00")),
        _ => "Z".to_owned(),
    };
    Some(format!("{day}T{}:{}:{}{zone}", part(8, 10, "00"), part(10, 12, "00"), part(12, 14, "00")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_partial_dates() {
        for (text, expected) in [
            ("D:20250304093000+01'00'", Some("2025-03-04T09:30:00+01:00")),
            ("D:20250304093000Z", Some("2025-03-04T09:30:00Z")),
            ("D:202503040930", Some("2025-03-04T09:30:00Z")),
            ("D:2025", Some("2025-01-01")),
            ("yesterday", None),
        ] {
            assert_eq!(date_of(text).as_deref(), expected, "{text}");
        }
    }
}
