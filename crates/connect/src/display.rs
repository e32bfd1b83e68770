//! Display of values: long texts are truncated, bytes are only counted, and numbers without a JSON form become text.

use serde_json::{Number, Value};

/// Texts are truncated to this many characters.
pub(crate) const MAX_CHARS: usize = 200;

/// Returns the text, truncated to [`MAX_CHARS`] characters.
pub(crate) fn text(text: &str) -> Value {
    Value::String(cut(text).to_owned())
}

/// Returns the first [`MAX_CHARS`] characters.
pub(crate) fn cut(text: &str) -> &str {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Returns a placeholder with the number of bytes.
pub(crate) fn blob(bytes: usize) -> Value {
    Value::String(format!("<blob {bytes} byte{}>", if bytes == 1 { "" } else { "s" }))
}

/// Formats bytes losslessly as PostgreSQL does: `\x00ff`.
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

/// Parses pairs of hexadecimal digits: the part after `\x` of a [`hexadecimal`] text.
pub(crate) fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pair = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// Converts a float; JSON has no infinity.
pub(crate) fn float(number: f64) -> Value {
    Number::from_f64(number).map_or_else(|| Value::String(number.to_string()), Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncates_texts_at_character_boundaries() {
        let long = "ä".repeat(MAX_CHARS + 1);
        assert_eq!(cut(&long).chars().count(), MAX_CHARS);
        assert_eq!(cut("ä"), "ä");
    }

    #[test]
    fn formats_and_parses_bytes() {
        let check =
            |digits: &str, expected: Option<&[u8]>| assert_eq!(bytes_of(digits).as_deref(), expected, "{digits}");
        check(hexadecimal(&[0, 255]).trim_start_matches("\\x"), Some(&[0, 255]));
        check("", Some(&[]));
        check("0", None);
        check("0g", None);
        check("äa", None);
    }

    #[test]
    fn numbers_without_a_json_form_are_text() {
        assert_eq!(float(f64::INFINITY), "inf");
        assert_eq!(float(0.5), 0.5);
        assert_eq!(blob(12), "<blob 12 bytes>");
    }
}
