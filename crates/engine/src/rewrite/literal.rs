//! Literals, rendered so that they are independent of the settings of the source.

use std::fmt::Write as _;

use sqlparser::ast::{Value, ValueWithSpan};
use sqlparser::tokenizer::Span;

use super::{WriteResult, Writer, reject};
use crate::Dialect;
use crate::position::Positions;

/// Renders a text as a string literal of the dialect.
pub(crate) fn string(dialect: Dialect, text: &str) -> String {
    let doubled = || text.replace('\'', "''");
    match dialect {
        // `standard_conforming_strings` decides whether backslashes are literal; in this form they are always escapes.
        Dialect::Postgres if text.contains('\\') => format!(" E'{}'", doubled().replace('\\', "\\\\")),
        // `sql_mode` decides the same.
        Dialect::Mysql if text.contains('\\') => format!("_utf8mb4 X'{}'", digits_of(text.as_bytes())),
        Dialect::Bigquery => {
            let mut literal = String::with_capacity(text.len() + 2);
            for char in text.chars() {
                match char {
                    '\\' => literal.push_str("\\\\"),
                    '\'' => literal.push_str("\\'"),
                    '\n' => literal.push_str("\\n"),
                    '\r' => literal.push_str("\\r"),
                    char => literal.push(char),
                }
            }
            format!("'{literal}'")
        }
        Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Joined => format!("'{}'", doubled()),
    }
}

pub(super) fn digits_of(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02X}");
        text
    })
}

/// Returns the number without the digit separators that only some dialects allow; `None` if it is not a plain number.
fn number(text: &str) -> Option<String> {
    let plain = text.replace('_', "");
    let (digits, exponent) = match plain.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (plain.as_str(), None),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = is_digits(whole)
        && is_digits(fraction)
        && whole.len() + fraction.len() > 0
        && exponent.is_none_or(|exponent| !exponent.is_empty() && is_digits(exponent));
    is_number.then_some(plain)
}

impl Writer<'_> {
    pub(super) fn value(&mut self, value: &ValueWithSpan) -> WriteResult {
        let span = value.span;
        let dialect = self.dialect;
        let literal = match &value.value {
            Value::Number(text, false) => number(&text.to_string()),
            Value::Null => Some("NULL".to_owned()),
            Value::Boolean(true) => Some("TRUE".to_owned()),
            Value::Boolean(false) => Some("FALSE".to_owned()),
            Value::SingleQuotedString(text)
            | Value::DoubleQuotedString(text)
            | Value::EscapedStringLiteral(text)
            | Value::UnicodeStringLiteral(text)
            | Value::TripleSingleQuotedString(text)
            | Value::TripleDoubleQuotedString(text)
            | Value::SingleQuotedRawStringLiteral(text)
            | Value::DoubleQuotedRawStringLiteral(text)
            | Value::TripleSingleQuotedRawStringLiteral(text)
            | Value::TripleDoubleQuotedRawStringLiteral(text) => self.string(text),
            Value::DollarQuotedString(text) if dialect == Dialect::Postgres => self.string(&text.value),
            // PostgreSQL gives it another type.
            Value::NationalStringLiteral(text) if dialect == Dialect::Mysql => self.string(text),
            Value::HexStringLiteral(digits) => self.hexadecimal(digits, span),
            Value::SingleQuotedByteStringLiteral(digits)
                if matches!(dialect, Dialect::Postgres | Dialect::Mysql)
                    && digits.bytes().all(|digit| matches!(digit, b'0' | b'1')) =>
            {
                Some(format!("B'{digits}'"))
            }
            Value::Placeholder(name) => {
                return reject(format!("the parameter `{name}` has no value"), span, "write the value itself");
            }
            _ => None,
        };
        match literal {
            Some(literal) => self.end(&literal),
            None => reject(
                format!("`{}` is not a literal of {}", value.value.to_string().escape_debug(), dialect.as_str()),
                span,
                "write numbers in digits and texts in single quotes",
            ),
        }
    }

    fn string(&self, text: &str) -> Option<String> {
        (!text.contains('\0')).then(|| string(self.dialect, text))
    }

    /// Renders hexadecimal digits: `X'1F'` is bytes, or bits in PostgreSQL, and `0x1F` is a number if the dialect supports it.
    /// The tree does not distinguish the two; the text does.
    fn hexadecimal(&self, digits: &str, span: Span) -> Option<String> {
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let (start, _) = Positions::new(self.source.sql).range(span);
        let is_number = self.source.sql.get(start..)?.starts_with('0');
        match (self.dialect, is_number) {
            (Dialect::Mysql | Dialect::Sqlite, true) => Some(format!("0x{digits}")),
            // A number since version 16; before, a zero and an alias.
            (Dialect::Postgres, true) | (Dialect::Bigquery | Dialect::Joined, true) => None,
            (Dialect::Postgres, false) => Some(format!("X'{digits}'")),
            (_, false) if digits.len().is_multiple_of(2) => Some(format!("X'{digits}'")),
            (_, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_plain_numbers() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(number(text).as_deref(), expected, "{text}");
        check("12", Some("12"));
        check("1_000", Some("1000"));
        check("1.", Some("1."));
        check(".5", Some(".5"));
        check("1e-3", Some("1e-3"));
        for text in ["", ".", "e1", "1e", "1e+", "0x1F", "1a", "--1", "1.2.3", "NaN"] {
            check(text, None);
        }
    }

    #[test]
    fn renders_texts_independently_of_settings() {
        let check = |dialect, text: &str, expected: &str| assert_eq!(string(dialect, text), expected);
        check(Dialect::Postgres, "it's", "'it''s'");
        check(Dialect::Postgres, "a\\' OR 1", " E'a\\\\'' OR 1'");
        check(Dialect::Mysql, "it's", "'it''s'");
        check(Dialect::Mysql, "a\\'", "_utf8mb4 X'615C27'");
        check(Dialect::Sqlite, "a\\'", "'a\\'''");
        check(Dialect::Bigquery, "a\\'\n", "'a\\\\\\'\\n'");
    }
}
