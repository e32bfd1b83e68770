//! What a terminal would obey instead of showing it, made visible: escape sequences, which can move the cursor, rename the
//! window or answer as if somebody typed, and marks that turn the direction of the text around.

use std::{
    borrow::Cow,
    io::{self, Write},
};

/// The text with each control character but line ends and tabs as `\u{1b}`, and so the marks that override or isolate
/// the direction of a text. A carriage return counts as one unless a line ends with it.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |out, c, next| match c {
        '\r' if next == Some('\n') => {}
        c => out.push_str(&c.escape_unicode().to_string()),
    })
}

/// JSON with what JSON itself does not escape written as `\u009b`: control characters can only stand in its texts.
pub(crate) fn visible_json(json: &str) -> Cow<'_, str> {
    escape(json, |out, c, _| {
        let mut units = [0; 2];
        out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
    })
}

fn escape(text: &str, mut write: impl FnMut(&mut String, char, Option<char>)) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if is_hidden(c) {
            write(&mut out, c, chars.peek().copied());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Control characters of ASCII and of Latin-1, and the explicit marks of direction (Unicode annex 9).
fn is_hidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A standard error on which nothing but visible text is written.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VisibleErrors;

impl Write for VisibleErrors {
    /// A whole record of the log at a time: it is never divided within a character.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stderr().lock().write_all(visible(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        let check = |text: &str, shown: &str| assert_eq!(visible(text), shown);
        check("a\u{1b}[31mb\u{7}", "a\\u{1b}[31mb\\u{7}");
        check("\u{9b}2J\u{7f}\u{0}", "\\u{9b}2J\\u{7f}\\u{0}");
        check("user\u{202e}nimda\u{2069}", "user\\u{202e}nimda\\u{2069}");
        check("line\r\nover\rwritten", "line\nover\\u{d}written");
        for text in ["", "größe 名前 👩‍🔬", "a\tb\nc", "שלום \u{200f}"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({"a\u{9b}": "\u{1b}\u{7f}\u{202e}\r\n\t", "b": ["\u{85}"]});
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        let shown = visible_json(&text);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).ok(), Some(value));
        assert_eq!(visible(&shown), shown);
        assert!(shown.contains("\\u009b") && shown.contains("\\u202e"), "{shown}");
    }
}
