//! A checksum in front of a file's content: `blake3 `, 64 hexadecimal digits, a line feed.

/// How a sealed file begins.
const MARK: &[u8] = b"blake3 ";

/// The length in bytes of the checksum that [`seal`] puts before a content. Other contents have other checksums.
pub const SEAL_BYTES: usize = MARK.len() + 64 + 1;

/// A file is not what [`seal`] made: it has no checksum, or another content than its checksum says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BrokenSeal {
    /// There is no checksum: something else wrote it, or its beginning is damaged.
    #[error("it does not begin with a checksum")]
    Missing,
    /// The content and its checksum differ.
    #[error("it does not match its checksum")]
    Different,
}

/// The content with its checksum before it, to be written to a file.
pub fn seal(content: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(SEAL_BYTES + content.len());
    sealed.extend(MARK);
    sealed.extend(blake3::hash(content).to_hex().as_bytes());
    sealed.push(b'\n');
    sealed.extend(content);
    sealed
}

/// The content of what [`seal`] made.
///
/// # Errors
/// [`BrokenSeal`] for anything else.
pub fn unseal(bytes: &[u8]) -> Result<&[u8], BrokenSeal> {
    let (head, content) = bytes.split_at_checked(SEAL_BYTES).ok_or(BrokenSeal::Missing)?;
    let stated = head.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(b"\n")).ok_or(BrokenSeal::Missing)?;
    if stated != blake3::hash(content).to_hex().as_bytes() {
        return Err(BrokenSeal::Different);
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_single_bit_and_any_missing_end_is_noticed() {
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
}
