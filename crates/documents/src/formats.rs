//! Converts the bytes of a file to Markdown, or decodes its text.
//!
//! [`convert`] is the entry point of loaders: it runs the parsers of binary formats in a thread with a time limit, and
//! turns a panic into a problem. [`parse`] runs them without that protection, for fuzzing.

mod guard;
mod html;
pub mod limits;
mod office;
mod package;
mod pdf;
mod storage;
mod tables;

use std::path::Path;

use prospector_core::Problem;
use prospector_text::cut::one_line;

pub use storage::storage_to_html;

use crate::{Format, front_matter, markdown, model::Converted, plain, read};

/// The advice for a damaged file.
const SAVE_AGAIN: &str = "open it in the program that made it, and save it again";

/// The reason why a file cannot be read, and advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    reason: String,
    advice: String,
}

impl Refused {
    pub(crate) fn new(reason: impl Into<String>, advice: impl Into<String>) -> Self {
        Refused { reason: reason.into(), advice: advice.into() }
    }

    /// Converts it to a problem of a file.
    pub(crate) fn at(self, place: &str) -> Problem {
        Problem::error(place, self.reason).advise(self.advice)
    }

    /// The file exceeds a limit in bytes.
    fn too_large(what: &str, limit: usize) -> Self {
        Refused::new(format!("{what}; at most {} MB are read", limit >> 20), "split it into several files")
    }

    pub(crate) fn for_damage(format: Format, reason: impl std::fmt::Display) -> Self {
        let name = format.as_str().to_uppercase();
        let reason = format!("the file is damaged, or not a {name} file: {reason}");
        Refused::new(reason, SAVE_AGAIN)
    }

    fn for_encryption() -> Self {
        Refused::new("the file is encrypted with a password", "save a copy without a password")
    }
}

/// A warning about a file: reason and advice.
type Remark = (String, String);

/// Converts the bytes of a file, with limits on time, memory and depth ([`limits`]). If it cannot be read, the text is
/// empty and a problem at `place` is returned.
pub fn convert(place: &str, bytes: Vec<u8>, format: Format) -> (Converted, Vec<Problem>) {
    match try_convert(place, bytes, format) {
        Ok(found) => found,
        Err(problem) => (Converted::default(), vec![problem]),
    }
}

/// Like [`convert`], but returns the problem of an unreadable file as the error.
pub(crate) fn try_convert(place: &str, bytes: Vec<u8>, format: Format) -> Result<(Converted, Vec<Problem>), Problem> {
    let done =
        if format.is_converted() { guard::run(move || read_as(&bytes, format)) } else { read_as(&bytes, format) };
    with_problems(place, done)
}

/// Converts the bytes of a file on this thread, without a time limit; panics are not caught.
pub fn parse(place: &str, bytes: &[u8], format: Format) -> (Converted, Vec<Problem>) {
    with_problems(place, read_as(bytes, format)).unwrap_or_else(|problem| (Converted::default(), vec![problem]))
}

fn with_problems(
    place: &str,
    done: Result<(Converted, Vec<Remark>), Refused>,
) -> Result<(Converted, Vec<Problem>), Problem> {
    let (converted, remarks) = done.map_err(|refused| refused.at(place))?;
    let said = |(reason, advice): Remark| {
        // Warnings about the front matter start with their line.
        let (place, reason) = match reason.strip_prefix("line ").and_then(|rest| rest.split_once(": ")) {
            Some((line, rest)) => (format!("{place}:{line}"), rest.to_owned()),
            None => (place.to_owned(), reason),
        };
        Problem::warning(place, reason).advise(advice)
    };
    Ok((converted, remarks.into_iter().map(said).collect()))
}

fn read_as(bytes: &[u8], format: Format) -> Result<(Converted, Vec<Remark>), Refused> {
    let limit = byte_limit(format);
    if bytes.len() > limit {
        return Err(Refused::too_large(&format!("the file has {} MB", bytes.len() >> 20), limit));
    }
    let mut remarks = Vec::new();
    let mut converted = match format {
        Format::Markdown => split_front_matter(&decode_text(bytes, &mut remarks)?, &mut remarks),
        Format::Mdx => {
            let converted = split_front_matter(&decode_text(bytes, &mut remarks)?, &mut remarks);
            Converted { text: markdown::without_statements(&converted.text), ..converted }
        }
        Format::Org => {
            let text = decode_text(bytes, &mut remarks)?;
            Converted { title: plain::org_title(&text), text, ..Converted::default() }
        }
        Format::Rst | Format::AsciiDoc | Format::Text => {
            Converted { text: decode_text(bytes, &mut remarks)?, ..Converted::default() }
        }
        Format::Html => html::read(&decode_text(bytes, &mut remarks)?)?,
        Format::Pdf => pdf::read(bytes, &mut remarks)?,
        Format::Docx | Format::Xlsx | Format::Pptx => office::read(bytes, format)?,
    };
    if converted.text.len() > limits::MAX_RESULT_BYTES.max(limit) {
        return Err(Refused::too_large("the file contains too much text", limits::MAX_RESULT_BYTES));
    }
    tidy(&mut converted);
    Ok((converted, remarks))
}

/// Returns the maximum size of a file of this format, in bytes.
pub(crate) fn byte_limit(format: Format) -> usize {
    match format {
        Format::Html => limits::MAX_HTML_BYTES,
        format if format.is_converted() => limits::MAX_FILE_BYTES,
        _ => limits::MAX_TEXT_BYTES,
    }
}

fn decode_text(bytes: &[u8], remarks: &mut Vec<Remark>) -> Result<String, Refused> {
    let (text, lossy) = read::decode(bytes);
    if text.contains('\0') {
        return Err(Refused::new("the file is binary, not text", "keep only text files under the names of text files"));
    }
    if lossy {
        remarks.push(("the file is not UTF-8; some characters were replaced".into(), "save it as UTF-8".into()));
    }
    Ok(text)
}

/// Removes the front matter.
fn split_front_matter(text: &str, remarks: &mut Vec<Remark>) -> Converted {
    let (converted, problem) = front_matter::split(text);
    if let Some((line, reason)) = problem {
        remarks.push((
            format!("line {line}: {reason}"),
            "correct the block between the first two `---` lines; quote values that contain a colon".into(),
        ));
    }
    converted
}

/// Maximum length of a metadata field, in characters.
const MAX_FIELD: usize = 300;
/// Maximum number of metadata fields.
const MAX_FIELDS: usize = 24;
const MAX_TAGS: usize = 32;

/// Puts each field on one line, removes empty ones and limits their size: all may be shown to a model.
fn tidy(converted: &mut Converted) {
    let line = |text: &str| -> Option<String> {
        let words = one_line(text);
        let short: String = words.chars().filter(|c| !c.is_control()).take(MAX_FIELD).collect();
        (!short.is_empty()).then_some(short)
    };
    for field in [&mut converted.title, &mut converted.description, &mut converted.last_updated] {
        *field = field.as_deref().and_then(line);
    }
    converted.tags = converted.tags.iter().filter_map(|tag| line(tag)).take(MAX_TAGS).collect();
    let fields = std::mem::take(&mut converted.metadata);
    converted.metadata = fields
        .into_iter()
        .filter_map(|(name, value)| Some((line(&name)?.to_lowercase(), line(&value)?)))
        .take(MAX_FIELDS)
        .collect();
}

/// Detects the format from the content of a file; `None` if the content is not distinctive.
///
/// # Errors
/// If the content has an unsupported format, regardless of the file name.
pub(crate) fn recognise(path: &Path, bytes: &[u8]) -> Result<Option<Format>, Refused> {
    let start = &bytes[..bytes.len().min(1024)];
    let named = path.extension().and_then(|e| Format::from_extension(&e.to_string_lossy()));
    // Other data may precede a PDF header within the first kilobyte (ISO 32000-1, annex H, note 13).
    let anywhere = !named.is_some_and(Format::is_text) && start.windows(5).any(|five| five == b"%PDF-");
    if anywhere || start.starts_with(b"%PDF-") {
        return Ok(Some(Format::Pdf));
    }
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
        return package::kind(bytes).map(Some);
    }
    // OLE2: the container of Office files before 2007, and of encrypted ones since.
    if start.starts_with(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
        let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
        return Err(if bytes.windows(name.len()).any(|part| part == name) {
            Refused::for_encryption()
        } else {
            Refused::new("Office formats from before 2007 are unsupported", "save it as DOCX, XLSX, PPTX or PDF")
        });
    }
    let text = String::from_utf8_lossy(start).trim_start_matches('\u{feff}').trim_start().to_lowercase();
    let html = text.starts_with("<!doctype html") || text.starts_with("<html");
    let is_other_text = named.is_some_and(|named| named.is_text() && !matches!(named, Format::Text | Format::Html));
    Ok((html && !is_other_text).then_some(Format::Html))
}
