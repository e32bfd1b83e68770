//! Reads files with a size limit, and decodes them with normalised line ends.

use std::{fs::File, io::Read, path::Path, time::SystemTime};

use prospector_core::Problem;

/// Metadata of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStat {
    pub(crate) bytes: u64,
    /// Modification time.
    pub(crate) modified: Option<SystemTime>,
}

/// Reads the metadata of a regular file.
pub(crate) fn stat(path: &Path) -> Result<FileStat, Problem> {
    let place = path.display().to_string();
    // Checked before opening, as opening a pipe would block.
    let metadata = std::fs::metadata(path).map_err(|error| read_problem(path, &error))?;
    if !metadata.is_file() {
        return Err(Problem::error(&place, "this is not a regular file"));
    }
    Ok(FileStat { bytes: metadata.len(), modified: metadata.modified().ok() })
}

/// Reads a file of up to `limit` bytes.
pub(crate) fn bytes(path: &Path, limit: usize) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| read_problem(path, &error))?;
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(|error| read_problem(path, &error))?;
    if bytes.len() > limit {
        let reason = format!("the file exceeds the limit of {} MB for its format", limit >> 20);
        return Err(Problem::error(path.display().to_string(), reason).advise("split it into several files"));
    }
    Ok(bytes)
}

fn read_problem(path: &Path, error: &std::io::Error) -> Problem {
    Problem::error(path.display().to_string(), format!("the file cannot be read: {error}"))
}

/// Decodes bytes; also returns whether invalid sequences were replaced.
pub(crate) fn decode(bytes: &[u8]) -> (String, bool) {
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

/// Removes the byte order mark and normalises line ends to `\n`.
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
    fn normalises_line_ends_and_byte_order_marks() {
        check(b"\xEF\xBB\xBF# A\r\nb\r\n", "# A\nb\n", false);
        check(b"\xFF\xFEh\0i\0\r\0\n\0", "hi\n", false);
        check(b"\xFE\xFF\0h\0i", "hi", false);
    }

    #[test]
    fn replaces_and_reports_invalid_bytes() {
        check(b"caf\xE9", "caf\u{fffd}", true);
    }

    #[test]
    fn rejects_folders_and_large_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, vec![b'a'; 3 << 20]).unwrap();
        assert!(stat(folder.path()).err().unwrap().reason.contains("regular file"));
        assert!(bytes(&file, 2 << 20).err().unwrap().reason.contains("limit of 2 MB"));
        assert_eq!(bytes(&file, 3 << 20).unwrap().len(), 3 << 20);
    }
}
