//! Words normalised for the comparison of values: without case and accents.

use std::ops::Range;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The word in lower case, without accents.
    pub(super) folded: String,
    /// Its byte range in the text.
    pub(super) range: Range<usize>,
}

/// Returns the words of a text: runs of letters and digits.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut is_inside = false;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        match words.last_mut().filter(|_| is_inside) {
            Some(word) if c.is_alphanumeric() => {
                word.folded.extend(fold(c));
                word.range.end = end;
            }
            // A combining mark belongs to the preceding letter.
            Some(word) if is_combining_mark(c) => word.range.end = end,
            _ => {
                is_inside = c.is_alphanumeric();
                if is_inside {
                    words.push(Word { folded: fold(c).collect(), range: at..end });
                }
            }
        }
    }
    words
}

fn fold(c: char) -> impl Iterator<Item = char> {
    c.nfkd().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Returns the lookup key of a phrase or value: its normalised words, separated by spaces. Empty if the text has no words.
pub(super) fn key(text: &str) -> String {
    join(&words(text))
}

/// Returns the key of these words.
pub(super) fn join(words: &[Word]) -> String {
    let words: Vec<&str> = words.iter().map(|word| word.folded.as_str()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_case_accents_and_punctuation() {
        for (text, expected) in [
            ("São Paulo", "sao paulo"),
            ("Sa\u{303}o  PAULO", "sao paulo"),
            ("INV-2024/7", "inv 2024 7"),
            ("O'Brien & Söhne", "o brien sohne"),
            ("東京", "東京"),
            ("--", ""),
            ("\u{301}", ""),
        ] {
            assert_eq!(key(text), expected, "{text}");
        }
        let text = "in Sa\u{303}o Paulo?";
        let found: Vec<&str> = words(text).into_iter().map(|word| &text[word.range]).collect();
        assert_eq!(found, ["in", "Sa\u{303}o", "Paulo"]);
    }
}
