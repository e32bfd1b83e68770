//! Error texts of sources, which may quote a value of any size; their length is limited.

use std::fmt;
use std::ops::Deref;

/// The maximum number of characters of a [`ReasonText`].
const MAX_REASON_CHARS: usize = 2_000;

/// The reason of a failure, as reported by a source or as a clause: at most 2,000 characters, with a mark if it was
/// truncated.
#[derive(Clone, PartialEq, Eq)]
pub struct ReasonText(Box<str>);

impl From<&str> for ReasonText {
    fn from(text: &str) -> Self {
        ReasonText(truncate(text, MAX_REASON_CHARS).into())
    }
}

impl From<String> for ReasonText {
    fn from(text: String) -> Self {
        match text.len() > MAX_REASON_CHARS {
            true => text.as_str().into(),
            false => ReasonText(text.into()),
        }
    }
}

impl Deref for ReasonText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReasonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ReasonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Truncates a text to `most` characters and appends a mark.
pub(crate) fn truncate(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}… (truncated to {most} characters)", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncates_and_marks_a_long_text() {
        let check = |text: String, expected: String| {
            assert_eq!(ReasonText::from(text.as_str()).to_string(), expected);
            assert_eq!(ReasonText::from(text).to_string(), expected);
        };
        check(String::new(), String::new());
        check("ä".repeat(2_000), "ä".repeat(2_000));
        check("ä".repeat(2_001), format!("{}… (truncated to 2000 characters)", "ä".repeat(2_000)));
        check("x".repeat(5_000_000), format!("{}… (truncated to 2000 characters)", "x".repeat(2_000)));
    }
}
