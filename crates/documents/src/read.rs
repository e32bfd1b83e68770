//! A file to text: bounded, decoded, with plain line ends.

use std::{fs::File, io::Read, path::Path, time::SystemTime};

use prospector_core::Problem;

/// Files above this are not documents that anybody reads as text.
const MAX_BYTES: u64 = 20 * 1024 * 1024;

/// What a file holds.
pub(crate) struct Text {
    /// Without byte order mark, with `\n` at the end of lines.
    pub(crate) text: String,
    /// When it was last changed.
    pub(crate) modified: Option<SystemTime>,
    /// Whether bytes were no text and had to be replaced.
    pub(crate) lossy: bool,
}

/// Reads a file, or says why not.
pub(crate) fn read(path: &Path) -> Result<Text, Problem> {
    let place = path.display().to_string();
    let failed = |error: std::io::Error| Problem::error(&place, format!("the file cannot be read: {error}"));
    // Asked before it is opened: opening a pipe would wait for a writer.
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(Problem::error(&place, "this is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Problem::error(
            &place,
            format!("the file has {} MB; at most {} MB are read", metadata.len() / 1_048_576, MAX_BYTES / 1_048_576),
        )
        .advise("split it into several files"));
    }
    let (text, lossy) = decode(&bytes);
    if text.contains('\0') {
        return Err(Problem::error(&place, "the file is binary, not text")
            .advise("keep only text files under the names of text files"));
    }
    Ok(Text { text, modified: metadata.modified().ok(), lossy })
}

/// The text of these bytes, and whether some of them were no text.
fn decode(bytes: &[u8]) -> (String, bool) {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        match String::from_utf16(&units) {
            Ok(text) => (text, !bytes.len().is_multiple_of(2)),
            Err(_) => (String::from_utf16_lossy(&units), true),
        }
    };
    let (text, lossy) = match bytes {
        [0xFF, 0xFE, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => (text.to_owned(), false),
            Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
        },
    };
    (plain_lines(&text), lossy)
}

/// Without byte order mark, with `\n` at the end of lines.
pub(crate) fn plain_lines(text: &str) -> String {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], text: &str, lossy: bool) {
        assert_eq!(decode(bytes), (text.to_owned(), lossy));
    }

    #[test]
    fn marks_and_line_ends_of_other_systems_are_taken_off() {
        check(b"\xEF\xBB\xBF# A\r\nb\r\n", "# A\nb\n", false);
        check(b"\xFF\xFEh\0i\0\r\0\n\0", "hi\n", false);
        check(b"\xFE\xFF\0h\0i", "hi", false);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_said() {
        check(b"caf\xE9", "caf\u{fffd}", true);
    }

    #[test]
    fn a_binary_file_and_a_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, b"PK\x03\x04\0\0").unwrap();
        assert!(read(&file).err().unwrap().reason.contains("binary"));
        assert!(read(folder.path()).err().unwrap().reason.contains("regular file"));
    }
}
