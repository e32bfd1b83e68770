//! Detects unambiguous headings in plain text.

use crate::sections::Heading;

/// Maximum length of a heading; longer lines are sentences.
const MAX_HEADING: usize = 80;

/// Returns lines underlined with `===` or `---`, and lines in capitals between empty lines.
pub(crate) fn headings(text: &str) -> Vec<Heading> {
    let mut lines: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.push((at, line));
        at += line.len();
    }
    let empty = |n: Option<usize>| n.and_then(|n| lines.get(n)).is_none_or(|(_, line)| line.trim().is_empty());
    let mut headings = Vec::new();
    for (n, (start, line)) in lines.iter().enumerate() {
        let words = line.trim();
        if words.is_empty() || words.chars().count() > MAX_HEADING || !empty(n.checked_sub(1)) {
            continue;
        }
        let (next, below) = lines.get(n + 1).copied().unwrap_or((at, ""));
        let (level, end) = match underline(below) {
            Some(level) if words.chars().any(char::is_alphanumeric) => (level, next + below.len()),
            _ if empty(Some(n + 1)) && capitals(words) => (2, start + line.len()),
            _ => continue,
        };
        headings.push(Heading { level, text: words.trim_end_matches(':').to_owned(), range: *start..end });
    }
    headings
}

fn underline(line: &str) -> Option<u8> {
    let line = line.trim();
    let of = |mark: char| line.len() >= 3 && line.chars().all(|c| c == mark);
    if of('=') { Some(1) } else { of('-').then_some(2) }
}

/// Returns whether a line consists mostly of letters, all capitals, without sentence end.
fn capitals(line: &str) -> bool {
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    letters >= 3
        && letters * 2 > line.chars().count()
        && !line.chars().any(char::is_lowercase)
        && line.chars().any(char::is_uppercase)
        && !line.ends_with(['.', ',', ';', '!', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(u8, &str, &str)]) {
        let found = headings(text);
        let found: Vec<(u8, &str, &str)> =
            found.iter().map(|h| (h.level, h.text.as_str(), &text[h.range.clone()])).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn detects_underlined_and_capital_headings() {
        check(
            "Rules\n=====\nText\n\nReturns\n-------\n\nVIP CUSTOMERS:\n\nText",
            &[
                (1, "Rules", "Rules\n=====\n"),
                (2, "Returns", "Returns\n-------\n"),
                (2, "VIP CUSTOMERS", "VIP CUSTOMERS:\n"),
            ],
        );
    }

    #[test]
    fn ignores_other_lines() {
        check("A short line\n\nSHOUTING STOPS HERE.\n\nTHIS IS\npart of a paragraph\n\n1234\n\n日本語\n\n---\n\n", &[]);
    }
}
