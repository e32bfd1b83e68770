//! Splits paragraphs into sentences.

use std::ops::Range;

/// Returns the sentences of a paragraph as byte ranges that cover it, for verbatim display. A full stop ends a sentence
/// if followed by white space and no lower-case letter; Chinese and Japanese full stops always do.
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

/// Returns whether a character is Chinese, Japanese or Korean: words have no spaces between them, or particles attached.
pub fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
        && c.is_alphanumeric()
}

/// Returns whether a character continues a word that spaces or punctuation delimit: a letter, a digit or `_`, but not a
/// character without spaces around its words.
///
/// ```
/// use prospector_text::sentences::continues_word;
///
/// assert_eq!(['é', '7', '_', '-', '月', '건'].map(continues_word), [true, true, true, false, false, false]);
/// ```
pub fn continues_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric() && !is_unspaced(c)
}

/// Returns the first sentence of a description. A line end also ends it; a single word such as `Deprecated.` does not
/// count.
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
    fn ranges_cover_the_text() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<&str> = ranges(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, expected);
        };
        check("One (e.g. Ada). Two! three? Four", &["One (e.g. Ada). ", "Two! three? ", "Four"]);
        check("一。二", &["一。", "二"]);
        check("", &[]);
    }

    #[test]
    fn returns_the_first_sentence() {
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
