//! Decoding of files of any encoding.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Returns the text without a byte order mark, and the name of its encoding unless it is UTF-8. Bytes that are not valid
/// UTF-8 are decoded as Windows-1252, which never fails.
pub(crate) fn decode(bytes: Vec<u8>) -> (String, Option<&'static str>) {
    let text = |encoding: &'static Encoding, bytes: &[u8]| encoding.decode_without_bom_handling(bytes).0.into_owned();
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => (text(UTF_16LE, rest), Some("UTF-16")),
        [0xfe, 0xff, rest @ ..] => (text(UTF_16BE, rest), Some("UTF-16")),
        _ => match String::from_utf8(bytes) {
            Ok(text) => match text.strip_prefix('\u{feff}') {
                Some(rest) => (rest.to_owned(), None),
                None => (text, None),
            },
            Err(error) => (text(WINDOWS_1252, error.as_bytes()), Some("Windows-1252")),
        },
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
