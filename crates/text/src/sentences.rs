//! Paragraphs to sentences.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

/// The sentences of a paragraph as byte ranges, together all of it. A point ends one where white space and no small letter
/// follow; so do the points of Chinese and Japanese. For showing parts of a text as they stand.
pub fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_abbreviation = ["e.g", "i.e", "vs", "cf"].iter().any(|word| text[start..at].ends_with(word));
        let end = match c {
            '.' if is_abbreviation => None,
            '。' | '！' | '？' => chars.peek().map(|(at, _)| *at),
            '.' | '!' | '?' => {
                while chars.next_if(|(_, c)| matches!(c, ')' | '"' | '\'' | '”' | '*' | '_')).is_some() {}
                let space = chars.peek().is_some_and(|(_, c)| c.is_whitespace());
                while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
                chars.peek().filter(|(_, next)| space && !next.is_lowercase()).map(|(at, _)| *at)
            }
            _ => None,
        };
        if let Some(end) = end {
            sentences.push(start..end);
            start = end;
        }
    }
    if start < text.len() {
        sentences.push(start..text.len());
    }
    sentences
}

/// The sentences of a Markdown paragraph, trimmed. Stricter than [`ranges`]: the next one begins with a capital, a digit or
/// code, and more abbreviations are known. For reading definitions, where half a sentence would mean something else.
pub fn split(text: &str) -> Vec<String> {
    static END: LazyLock<Regex> = LazyLock::new(|| pattern(r#"[.!?]["'”’)*_`\]]*\s+"#));
    let mut out = Vec::new();
    let mut start = 0;
    for end in END.find_iter(text) {
        let head = &text[start..end.end()];
        let next = text[end.end()..].trim_start_matches(['*', '_', '`', '"', '“', '(', '[', '\'']);
        let code = text[end.end()..].starts_with('`');
        let begins = code || next.chars().next().is_some_and(|c| c.is_uppercase() || c.is_numeric());
        if begins && !is_abbreviation(head, end.as_str()) {
            out.push(head.trim().to_owned());
            start = end.end();
        }
    }
    out.push(text[start..].trim().to_owned());
    out.retain(|sentence| !sentence.is_empty());
    out
}

/// The length of the longest abbreviation with what stands before it, in bytes.
const MAX_ABBREVIATION: usize = 16;

/// Whether the full stop at the end of `head` belongs to a word, or closes a bold label (`**Churn.** A customer ..`).
fn is_abbreviation(head: &str, end: &str) -> bool {
    static LABEL: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:\*\*|__)[^*_]{2,80}\.(?:\*\*|__)$"));
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d{1,3}\.$"));
    static WORD: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|approx|incl|excl|cf|fig|no|nos|dr|mr|mrs|ms|st|inc|ltd|co|min|max|resp|a\.k\.a|u\.s|avg|est|sec)\.$",
        )
    });
    if !end.starts_with('.') {
        return false;
    }
    let head = head.trim_end();
    // The longest is `approx.`: what stands before the last letters says nothing, and may be as long as the text.
    let tail = &head[head.floor_char_boundary(head.len().saturating_sub(MAX_ABBREVIATION))..];
    LABEL.is_match(head) || NUMBER.is_match(head) || WORD.is_match(tail)
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is constant")
}

/// The first sentence of a description; a single word such as `Deprecated.` is none, and a line end ends one too.
pub fn first(text: &str) -> &str {
    let Some(second) = text.split_whitespace().nth(1) else { return text };
    let second = second.as_ptr() as usize - text.as_ptr() as usize;
    let mut ends = text[second..].match_indices(['.', '!', '?', '\n']).map(|(at, end)| second + at + end.len());
    let end = ends.find(|end| text[*end..].chars().next().is_none_or(char::is_whitespace));
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_all_of_the_text() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<&str> = ranges(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expected);
        };
        check("One (e.g. Ada). Two! three? Four", &["One (e.g. Ada). ", "Two! three? ", "Four"]);
        check("一。二", &["一。", "二"]);
        check("", &[]);
    }

    #[test]
    fn prose_is_cut_into_sentences_and_not_at_numbers_or_abbreviations() {
        let text =
            "A big order is over 45.00 in total. It counts once, e.g. Monday. Approx. 3 of them are late! See no. 7.";
        let expected = [
            "A big order is over 45.00 in total.",
            "It counts once, e.g. Monday.",
            "Approx. 3 of them are late!",
            "See no. 7.",
        ];
        assert_eq!(split(text), expected);
        assert_eq!(split("**Churn.** A customer who left. Done."), ["**Churn.** A customer who left.", "Done."]);
    }

    #[test]
    fn the_first_sentence_says_what_it_is() {
        assert_eq!(first("Lists the orders. Newest first."), "Lists the orders.");
        assert_eq!(first("Deprecated. Lists orders. See v1.2 instead."), "Deprecated. Lists orders.");
        assert_eq!(first("Uses api.example and more"), "Uses api.example and more");
        assert_eq!(first("Deprecated."), "Deprecated.");
        assert_eq!(first("Deprecated.\n\nLists all.\n\nMore."), "Deprecated.\n\nLists all.");
        assert_eq!(first(""), "");
        let lines = "\n".repeat(1_000_000);
        assert_eq!(first(&lines), lines, "each line end is looked at once");
    }
}
