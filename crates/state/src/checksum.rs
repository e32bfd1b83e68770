//! Files sealed with a checksum: `blake3 `, 64 hexadecimal digits, a line feed, then the content.

use std::{fs, io, path::Path};

use serde::{Serialize, de::DeserializeOwned};

use crate::replace::replace;

/// The first bytes of a sealed file.
const MARK: &[u8] = b"blake3 ";

/// The length of the checksum written by [`seal`], in bytes.
pub const SEAL_BYTES: usize = MARK.len() + 64 + 1;

/// A file was not written by [`seal`], or was altered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BrokenSeal {
    /// There is no checksum: the file was not sealed, or its start is damaged.
    #[error("it does not start with a checksum")]
    Missing,
    /// The content does not match its checksum.
    #[error("it does not match its checksum")]
    Different,
}

/// Prepends the checksum to a content.
pub fn seal(content: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(SEAL_BYTES + content.len());
    sealed.extend(MARK);
    sealed.extend(blake3::hash(content).to_hex().as_bytes());
    sealed.push(b'\n');
    sealed.extend(content);
    sealed
}

/// Verifies and returns the content of a sealed file.
///
/// # Errors
/// [`BrokenSeal`] if the checksum is missing or does not match.
pub fn unseal(bytes: &[u8]) -> Result<&[u8], BrokenSeal> {
    let (head, content) = bytes.split_at_checked(SEAL_BYTES).ok_or(BrokenSeal::Missing)?;
    let stated = head.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(b"\n")).ok_or(BrokenSeal::Missing)?;
    if stated != blake3::hash(content).to_hex().as_bytes() {
        return Err(BrokenSeal::Different);
    }
    Ok(content)
}

/// Why a file of [`write_json`] could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SealedError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The file is damaged.
    #[error(transparent)]
    Damaged(#[from] BrokenSeal),
    /// The content is not JSON of this value.
    #[error(transparent)]
    Format(#[from] serde_json::Error),
}

/// Returns a value as [`read_json`] would return it after [`write_json`]: the parser may return a float next to the written one.
pub fn read_back<T: Serialize + DeserializeOwned>(value: &T) -> Option<T> {
    serde_json::from_slice(&serde_json::to_vec(value).ok()?).ok()
}

/// Replaces a file atomically by a sealed value; only its owner can read it.
///
/// # Errors
/// If a system call fails; the file is unchanged then.
pub fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    replace(path, &seal(&serde_json::to_vec(value)?))
}

/// Reads a value of [`write_json`]; `None` if the file does not exist.
///
/// # Errors
/// [`SealedError`] if the file cannot be read, is damaged, or contains something else.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, SealedError> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        bytes => Ok(Some(serde_json::from_slice(unseal(&bytes?)?)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_back_as_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sums.json");
        let sums: Vec<f64> = (1..1_000).map(|at| f64::from(at) * 0.1 + 18773.600000000003).collect();
        write_json(&path, &sums).unwrap();
        assert_eq!(read_json::<Vec<f64>>(&path).unwrap(), read_back(&sums));
    }

    #[test]
    fn detects_every_bit_flip_and_truncation() {
        let sealed = seal(b"{\"files\": \"as they were\"}");
        assert_eq!(unseal(&sealed), Ok(b"{\"files\": \"as they were\"}".as_slice()));
        for bit in 0..sealed.len() * 8 {
            let mut damaged = sealed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(unseal(&damaged).is_err(), "bit {bit}");
        }
        for length in 0..sealed.len() {
            assert!(unseal(&sealed[..length]).is_err(), "{length} bytes");
        }
        assert_eq!(unseal(b"{\"format\": 4}"), Err(BrokenSeal::Missing));
        assert_eq!(unseal(&seal(b"")), Ok(b"".as_slice()));
    }

    #[test]
    fn reads_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.json");
        assert_eq!(read_json::<Vec<u8>>(&path).unwrap(), None);
        write_json(&path, &[1, 2]).unwrap();
        assert_eq!(read_json::<Vec<u8>>(&path).unwrap(), Some(vec![1, 2]));
        assert!(matches!(read_json::<String>(&path), Err(SealedError::Format(_))));
        fs::write(&path, "[1,2]").unwrap();
        assert!(matches!(read_json::<Vec<u8>>(&path), Err(SealedError::Damaged(BrokenSeal::Missing))));
    }
}
