//! Splits lines into sentences, and table rows into cells.

use std::ops::Range;

use prospector_text::{periods::find_month, sentences::is_unspaced};

/// Splits a line into sentences, without losing text. A reference after a full stop belongs to the sentence before it.
pub(super) fn split_sentences(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut begin = 0;
    let bytes = line.as_bytes();
    let mut depth = 0_usize;
    for (at, c) in line.char_indices() {
        let after = &line[at + c.len_utf8()..];
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let word = line[..at].rsplit(' ').next().unwrap_or_default();
        let next = after.trim_start();
        let is_list_number = line[..at].trim().bytes().all(|byte| byte.is_ascii_digit());
        // List numbers, abbreviations and initials do not end a sentence.
        let ends = matches!(c, '.' | '!' | '?')
            && depth == 0
            && after.starts_with(' ')
            && !next.starts_with('[')
            && !is_list_number
            && (word.len() > 1 || word.bytes().all(|byte| byte.is_ascii_digit()))
            && !(c == '.' && (is_abbreviation(word, next) || is_day(word, next)))
            && next.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || "*_`\"'“„«({".contains(c));
        let ends_wide = WIDE_STOPS.contains(&c) && depth == 0 && !next.starts_with('[');
        let closes = c == ']'
            && !next.starts_with('[')
            && after.starts_with(|c: char| c == ' ' || is_unspaced(c))
            && is_after_stop(&line[begin..at])
            && bytes[at - 1].is_ascii_alphanumeric();
        if (ends || ends_wide || closes) && !line[begin..at].trim().is_empty() {
            let quotes = if ends_wide {
                after.len() - after.trim_start_matches(['”', '’', '」', '』', '）']).len()
            } else {
                0
            };
            let end = at + c.len_utf8() + quotes;
            found.push(&line[begin..end]);
            begin = end;
        }
    }
    if begin < line.len() || found.is_empty() {
        found.push(&line[begin..]);
    }
    found
}

/// The characters that end a Chinese or Japanese sentence.
const WIDE_STOPS: [char; 3] = ['。', '！', '？'];

/// Returns whether a text ends in a reference that follows the end of a sentence: `It rose. [Q1`.
fn is_after_stop(text: &str) -> bool {
    let mut head = text;
    while let Some(opened) = head.rfind('[') {
        head = head[..opened].trim_end();
        if !head.ends_with(']') {
            return head.ends_with('.') || head.ends_with(WIDE_STOPS);
        }
    }
    false
}

/// Returns whether a word before a full stop is an abbreviation, by its form: it has a full stop after each letter or two, has no vowel, is a
/// short capitalized word such as a title, or is followed by a number. Two sentences that are not separated are still traced.
fn is_abbreviation(word: &str, next: &str) -> bool {
    const MAX_TITLE_CHARS: usize = 4;
    const MAX_PART_CHARS: usize = 2;
    if word.ends_with(']') {
        return false;
    }
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    if word.contains(|c: char| !c.is_alphabetic() && c != '.') {
        return false;
    }
    let is_vowel = |c: char| "aeiouy".contains(c) || !c.is_ascii();
    let is_capital = word.chars().all(char::is_uppercase);
    let has_vowel = word.to_lowercase().contains(is_vowel);
    let is_title = word.starts_with(char::is_uppercase) && word.chars().count() <= MAX_TITLE_CHARS && !is_capital;
    let is_before_number = next.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(char::is_lowercase);
    let is_dotted = word.contains('.') && word.split('.').all(|part| part.chars().count() <= MAX_PART_CHARS);
    is_dotted || (!has_vowel && !is_capital) || is_title || is_before_number
}

/// Returns whether a number before a full stop is the day of a month: `24. März`.
fn is_day(word: &str, next: &str) -> bool {
    let month = next.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit()) && find_month(&month.to_lowercase()).is_some()
}

/// Returns whether a line is an item of a numbered list.
pub(super) fn starts_with_number(line: &str) -> bool {
    line.split_once(['.', ')']).is_some_and(|(number, rest)| {
        !number.is_empty() && number.len() < 4 && number.bytes().all(|b| b.is_ascii_digit()) && rest.starts_with(' ')
    })
}

/// Returns the trimmed cells of a table row; empty for another line.
pub(super) fn split_cells(line: &str) -> Vec<Range<usize>> {
    let begin = line.len() - line.trim_start().len();
    if !line[begin..].starts_with('|') {
        return Vec::new();
    }
    let mut cells = Vec::new();
    let mut from = begin + 1;
    for (at, c) in line.char_indices().skip_while(|(at, _)| *at <= begin) {
        if c == '|' && !line[..at].ends_with('\\') {
            let cell = &line[from..at];
            let start = from + (cell.len() - cell.trim_start().len());
            cells.push(start..start + cell.trim().len());
            from = at + 1;
        }
    }
    cells
}

/// Returns whether a line separates the header of a table from its rows.
pub(super) fn is_delimiter(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.contains("--") && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_neither_at_abbreviations_nor_in_references() {
        let check = |line: &str, expected: &[&str]| assert_eq!(split_sentences(line), expected);
        check("Dr. May leads [Q1]. Ms. Ray has 3 [Q1].", &["Dr. May leads [Q1].", " Ms. Ray has 3 [Q1]."]);
        check(
            "It has 3, e.g. Monday, approx. 40 in no. 7. So it is.",
            &["It has 3, e.g. Monday, approx. 40 in no. 7.", " So it is."],
        );
        check("Brazil spent 3. [Q1] Portugal 4 [Q1].", &["Brazil spent 3. [Q1]", " Portugal 4 [Q1]."]);
        check("It is {{Q1: n where city = 'St. Louis'}} there.", &["It is {{Q1: n where city = 'St. Louis'}} there."]);
        check("We sell in the US. Germany leads.", &["We sell in the US.", " Germany leads."]);
        check("Am 24. März sind es 7 [Q1]. Im Mai 3 [Q1].", &["Am 24. März sind es 7 [Q1].", " Im Mai 3 [Q1]."]);
        check("It rose. **Brazil** leads.", &["It rose.", " **Brazil** leads."]);
        check("There are 5 [shop.orders]. They grow.", &["There are 5 [shop.orders].", " They grow."]);
        check("It is in shop.orders. It has 3, i.e. Mo.", &["It is in shop.orders.", " It has 3, i.e. Mo."]);
        check("] It rose.", &["] It rose."]);
        check("It rose. [Q1][Q2] It fell [Q1].", &["It rose. [Q1][Q2]", " It fell [Q1]."]);
    }

    #[test]
    fn wide_stops_end_sentences() {
        let check = |line: &str, expected: &[&str]| assert_eq!(split_sentences(line), expected);
        check("7月有11起；6月有23起 [Q1]。共34起。", &["7月有11起；6月有23起 [Q1]。", "共34起。"]);
        check("「増えた。」と11件。[Q1]減った。", &["「増えた。」", "と11件。[Q1]", "減った。"]);
    }

    #[test]
    fn a_row_has_cells() {
        let cells = |line: &str| split_cells(line).into_iter().map(|span| line[span].to_owned()).collect::<Vec<_>>();
        assert_eq!(cells("| a | 1\\|2 |  | [Q1]"), ["a", "1\\|2", ""]);
        assert!(cells("a | b").is_empty());
        assert!(is_delimiter("|---|:--|") && !is_delimiter("| a | b |"));
    }
}
