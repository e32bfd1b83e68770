//! Neutralises terminal control characters: escape sequences, which can move the cursor, rename the window or inject input, and marks that
//! change the direction of text. Messages of one line are escaped by `prospector_core::mark::one_line`.

use std::{
    borrow::Cow,
    io::{self, Write},
};

/// Escapes control characters, except line ends and tabs, as `\u{1b}`, and marks that override or isolate text direction. A carriage return
/// is escaped unless a line ends with it.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |out, c, next| match c {
        '\r' if next == Some('\n') => {}
        c => out.push_str(&c.escape_unicode().to_string()),
    })
}

/// Escapes control characters that JSON itself does not, as `\u009b`: they can occur only in its strings.
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

/// Whether a character is an ASCII or Latin-1 control character, or an explicit directional mark (Unicode annex 9).
fn is_hidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Standard error that writes only visible text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VisibleErrors;

impl Write for VisibleErrors {
    /// Receives a whole log record at a time, never split within a character.
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
