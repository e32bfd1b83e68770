//! Decoding of files of any encoding.

/// Returns the text without a byte order mark, and the name of its encoding unless it is UTF-8. Bytes that are not valid
/// UTF-8 are decoded as Windows-1252, which never fails.
pub(crate) fn decode(bytes: Vec<u8>) -> (String, Option<&'static str>) {
    let wide = |from: fn([u8; 2]) -> u16| {
        let units = bytes[2..].chunks_exact(2).map(|pair| from([pair[0], pair[1]]));
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => (wide(u16::from_le_bytes), Some("UTF-16")),
        [0xfe, 0xff, ..] => (wide(u16::from_be_bytes), Some("UTF-16")),
        _ => match String::from_utf8(bytes) {
            Ok(text) => match text.strip_prefix('\u{feff}') {
                Some(rest) => (rest.to_owned(), None),
                None => (text, None),
            },
            Err(error) => (error.into_bytes().into_iter().map(windows_1252).collect(), Some("Windows-1252")),
        },
    }
}

/// Returns the character of a byte in Windows-1252, which differs from Latin-1 in 32 characters
/// (<https://encoding.spec.whatwg.org/windows-1252.html>).
pub(crate) fn windows_1252(byte: u8) -> char {
    const OTHERS: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘',
        '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => OTHERS[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], text: &str, encoding: Option<&str>) {
        assert_eq!(decode(bytes.to_vec()), (text.to_owned(), encoding));
    }

    #[test]
    fn decodes_any_encoding() {
        check("é".as_bytes(), "é", None);
        check(b"\xef\xbb\xbf\xc3\xa9", "é", None);
        check(b"\xff\xfe\xe9\x00", "é", Some("UTF-16"));
        check(b"\xfe\xff\x00\xe9", "é", Some("UTF-16"));
        check(b"\xe9 \x80", "é €", Some("Windows-1252"));
        check(b"", "", None);
    }
}
