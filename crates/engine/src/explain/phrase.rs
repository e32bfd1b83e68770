//! Words with their binding strength, and lists of them.

use std::fmt::Display;

use prospector_core::mark::clean;

/// The maximum length of SQL between backticks, in characters.
const MAX_FRAGMENT_CHARS: usize = 200;

/// The maximum length of a quoted text, in characters.
const MAX_TEXT_CHARS: usize = 80;

/// The maximum number of listed entries; of a longer list, the number is shown.
const MAX_LISTED: usize = 24;

/// The binding strength of words, the loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
    /// `A or B`.
    Or,
    /// `A and B`.
    And,
    /// Words with conditions or parts of their own.
    Loose,
    Sum,
    Product,
    /// `sum of total`.
    Call,
    Atom,
}

/// Words for a part of a statement.
#[derive(Debug, Clone)]
pub(super) struct Phrase {
    pub(super) text: String,
    pub(super) binding: Binding,
}

impl Phrase {
    pub(super) fn new(text: impl Into<String>, binding: Binding) -> Self {
        Phrase { text: text.into(), binding }
    }

    pub(super) fn atom(text: impl Into<String>) -> Self {
        Phrase::new(text, Binding::Atom)
    }

    /// Creates a phrase from SQL that has no words.
    pub(super) fn fragment(sql: &impl Display) -> Self {
        let text = clean(&sql.to_string(), MAX_FRAGMENT_CHARS);
        Phrase::atom(format!("`{}`", text.replace('`', "\"")))
    }

    /// Returns the text, in parentheses if its binding is looser than required.
    pub(super) fn at_least(self, binding: Binding) -> String {
        if self.binding < binding { format!("({})", self.text) } else { self.text }
    }
}

/// Quotes a text.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", clean(text, MAX_TEXT_CHARS).replace('\'', "''"))
}

/// Joins entries as `a, b and c`.
pub(super) fn list(entries: &[String], word: &str) -> String {
    let (shown, hidden) = entries.split_at(entries.len().min(MAX_LISTED));
    match (shown, hidden.len()) {
        ([], _) => String::new(),
        ([only], 0) => only.clone(),
        ([first @ .., last], 0) => format!("{} {word} {last}", first.join(", ")),
        (shown, more) => format!("{} {word} {more} more", shown.join(", ")),
    }
}

/// Truncates a text to at most `most` characters.
pub(super) fn shorten(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    }
}

/// Returns a number with a word in the singular or plural.
pub(super) fn count(number: &str, word: &str) -> String {
    let plural = if matches!(number.trim_start_matches(['-', '+']), "1") { "" } else { "s" };
    format!("{number} {word}{plural}")
}
