//! How a value is shown: long texts are cut, bytes are only named, and what JSON has no number for becomes text.

use serde_json::{Number, Value};

/// Texts are cut to this many characters.
pub(crate) const MAX_CHARS: usize = 200;

/// The text, or the first [`MAX_CHARS`] characters of it.
pub(crate) fn text(text: &str) -> Value {
    Value::String(cut(text).to_owned())
}

/// The first [`MAX_CHARS`] characters.
pub(crate) fn cut(text: &str) -> &str {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Bytes have nothing to show but their number.
pub(crate) fn blob(bytes: usize) -> Value {
    Value::String(format!("<blob {bytes} byte{}>", if bytes == 1 { "" } else { "s" }))
}

/// Bytes as a text that loses none of them: `\x00ff`, as PostgreSQL writes them.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 + bytes.len() * 2), |mut text, byte| {
        if text.is_empty() {
            text.push_str("\\x");
        }
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes that pairs of hexadecimal digits stand for: what follows `\x` in the [`hexadecimal`] text.
pub(crate) fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pair = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// JSON has no infinity.
pub(crate) fn float(number: f64) -> Value {
    Number::from_f64(number).map_or_else(|| Value::String(number.to_string()), Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        let long = "ä".repeat(MAX_CHARS + 1);
        assert_eq!(cut(&long).chars().count(), MAX_CHARS);
        assert_eq!(cut("ä"), "ä");
    }

    #[test]
    fn bytes_are_read_as_they_are_written() {
        let check =
            |digits: &str, expected: Option<&[u8]>| assert_eq!(bytes_of(digits).as_deref(), expected, "{digits}");
        check(hexadecimal(&[0, 255]).trim_start_matches("\\x"), Some(&[0, 255]));
        check("", Some(&[]));
        check("0", None);
        check("0g", None);
        check("äa", None);
    }

    #[test]
    fn what_json_cannot_hold_is_text() {
        assert_eq!(float(f64::INFINITY), "inf");
        assert_eq!(float(0.5), 0.5);
        assert_eq!(blob(12), "<blob 12 bytes>");
    }
}
