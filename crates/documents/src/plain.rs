//! Detects the headings of text that is shown as written: plain text, reStructuredText, AsciiDoc and Org.
//!
//! Only headings and the title are interpreted. Tables, directives and code remain text.

use prospector_text::cut::one_line;

use crate::{Format, sections::Heading};

/// Maximum length of a heading in plain text; longer lines are sentences.
const MAX_HEADING: usize = 80;

/// Returns the headings of a text.
pub(crate) fn headings(text: &str, format: Format) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let mut styles = Vec::new();
    let mut fence = None;
    // Whether the current line is the first one of a block.
    let mut is_start = true;
    let mut at = 0;
    while at < text.len() {
        let mut rest = text[at..].split_inclusive('\n');
        let lines: [&str; 3] = std::array::from_fn(|_| rest.next().unwrap_or_default());
        let found = match format {
            Format::Rst => is_start.then(|| parse_rst(lines, &mut styles)).flatten(),
            Format::AsciiDoc => parse_asciidoc(lines, is_start, &mut fence),
            Format::Org => parse_marks(lines[0], '*'),
            _ => is_start.then(|| parse_text(lines)).flatten(),
        };
        let start = at;
        at += lines[..found.as_ref().map_or(1, |title| title.lines)].iter().map(|line| line.len()).sum::<usize>();
        is_start = is_blank(lines[0]) || format.is_markup(lines[0]) || found.is_some() && format != Format::Text;
        if let Some(Title { level, text, .. }) = found {
            let text = one_line(text);
            headings.push(Heading { level: level.min(6) as u8, text, range: start..at });
        }
    }
    headings
}

/// Returns the title of an Org file: `#+TITLE: Words` before the first heading.
pub(crate) fn org_title(text: &str) -> Option<String> {
    let lines = text.lines().take_while(|line| parse_marks(line, '*').is_none());
    let fields = lines.filter_map(|line| line.split_once(':'));
    fields.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("#+title")).map(|(_, title)| title.to_owned())
}

/// The first lines of a text, as a heading.
struct Title<'a> {
    /// From 1.
    level: usize,
    text: &'a str,
    /// Number of lines.
    lines: usize,
}

/// The character that underlines a title, and whether it is also above the title.
type Style = (char, bool);

/// Parses a title with a line below it, and perhaps the same line above it.
///
/// Source: "reStructuredText Markup Specification", Docutils, which accepts lines shorter than the title from four
/// characters.
fn parse_underline(lines: [&str; 3]) -> Option<(Style, &str)> {
    let [first, second, third] = lines;
    let above = rule(first);
    let (text, below) = if above.is_some() { (second, third) } else { (first, second) };
    let (mark, length) = rule(below).filter(|below| above.is_none_or(|above| above == *below))?;
    let is_indented = text.starts_with(char::is_whitespace);
    let is_title = (length >= 4 || length >= text.trim().chars().count()) && text.contains(char::is_alphanumeric);
    (is_title && (above.is_some() || !is_indented)).then_some(((mark, above.is_some()), text))
}

/// Parses a title whose level is the order in which the styles appear in a file.
fn parse_rst<'a>(lines: [&'a str; 3], styles: &mut Vec<Style>) -> Option<Title<'a>> {
    let (style, text) = parse_underline(lines)?;
    let known = styles.iter().position(|known| *known == style);
    let level = known.unwrap_or_else(|| {
        styles.push(style);
        styles.len() - 1
    });
    Some(Title { level: level + 1, text, lines: if style.1 { 3 } else { 2 } })
}

/// Parses `== Title` outside of verbatim blocks, or a title with a line of its length below it. `fence` is the line that
/// opened a verbatim block.
///
/// Source: "AsciiDoc Language Documentation", Eclipse Foundation.
fn parse_asciidoc<'a>(lines: [&'a str; 3], is_start: bool, fence: &mut Option<&'a str>) -> Option<Title<'a>> {
    let [first, second, _] = lines.map(str::trim_end);
    if is_start
        && fence.is_none()
        && first.chars().count().abs_diff(second.len()) < 2
        && let Some(((mark, false), text)) = parse_underline(lines)
        && let Some(level) = "=-~^+".find(mark)
    {
        return Some(Title { level: level + 1, text, lines: 2 });
    }
    let mark = if first.starts_with("```") { "```" } else { first };
    match *fence {
        Some(open) if open == mark => *fence = None,
        Some(_) => {}
        None if mark == "```" || rule(mark).is_some_and(|(c, length)| length >= 4 && "-./+".contains(c)) => {
            *fence = Some(mark);
        }
        None => return parse_marks(first, '='),
    }
    None
}

/// Parses a line with as many marks as the level of the heading, a space, and the title.
fn parse_marks(line: &str, mark: char) -> Option<Title<'_>> {
    let text = line.trim_start_matches(mark);
    let level = line.len() - text.len();
    (level > 0 && text.starts_with([' ', '\t']) && !is_blank(text)).then_some(Title { level, text, lines: 1 })
}

/// Parses a line underlined with `===` or `---`, or in capitals before an empty line.
fn parse_text(lines: [&str; 3]) -> Option<Title<'_>> {
    let [first, second, _] = lines;
    let words = first.trim();
    if words.is_empty() || words.chars().count() > MAX_HEADING {
        return None;
    }
    let (level, lines) = match rule(second.trim()) {
        Some(('=', 3..)) if words.contains(char::is_alphanumeric) => (1, 2),
        Some(('-', 3..)) if words.contains(char::is_alphanumeric) => (2, 2),
        _ => (is_blank(second) && capitals(words)).then_some((2, 1))?,
    };
    Some(Title { level, text: words.trim_end_matches(':'), lines })
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// Returns the repeated punctuation character of a line, and its length.
fn rule(line: &str) -> Option<(char, usize)> {
    let line = line.trim_end();
    let mark = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= 2 && line.chars().all(|c| c == mark)).then_some((mark, line.len()))
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

    #[track_caller]
    fn check(format: Format, text: &str, expected: &[(u8, &str, &str)]) {
        let found = headings(text, format);
        let found: Vec<(u8, &str, &str)> =
            found.iter().map(|h| (h.level, h.text.as_str(), &text[h.range.clone()])).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn detects_underlined_and_capital_headings() {
        check(
            Format::Text,
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
        let text = "A short line\n\nSHOUTING STOPS HERE.\n\nTHIS IS\npart of a paragraph\n\n1234\n\n日本語\n\n---\n\n";
        check(Format::Text, text, &[]);
    }

    /// Checks levels and titles.
    #[track_caller]
    fn check_titles(format: Format, text: &str, expected: &[(u8, &str)]) {
        let found = headings(text, format);
        assert_eq!(found.iter().map(|h| (h.level, h.text.as_str())).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn levels_of_restructured_text_follow_the_order_of_styles() {
        check(
            Format::Rst,
            ".. _a:\n\n====\n Été\n====\n\nB\n~~\nC `x`\n-----\ntext\n\nD\n~~\n====\nE\n====\n",
            &[
                (1, "Été", "====\n Été\n====\n"),
                (2, "B", "B\n~~\n"),
                (3, "C `x`", "C `x`\n-----\n"),
                (2, "D", "D\n~~\n"),
                (1, "E", "====\nE\n====\n"),
            ],
        );
    }

    #[test]
    fn ignores_other_lines_of_restructured_text() {
        let check = |text: &str, expected: &[(u8, &str)]| check_titles(Format::Rst, text, expected);
        check("A\n#\nB\n*****\n\n----\n\n  Code\n  ====\n\n", &[]);
        check("=== ===\nA   B\n=== ===\n1   2\n=== ===\n\n+---+\n| A |\n+---+\n", &[]);
        check("Title\n---\n\nLong title\n----\n\n=====\nTitle\n-----\n", &[(1, "Long title")]);
    }

    #[test]
    fn detects_marked_and_underlined_headings_of_asciidoc() {
        let check = |text: &str, expected: &[(u8, &str)]| check_titles(Format::AsciiDoc, text, expected);
        check("= A\nAda\n:b: c\n\n[[d]]\n== B  c\n======= D\n==E\n== \n", &[(1, "A"), (2, "B c"), (6, "D")]);
        check("----\n== no\n....\n----\n== A\n```sh\n== no\n```\n=== B\n////\n== no", &[(2, "A"), (3, "B")]);
        check("Title\n=====\n\nOther\n------\n\nOld\n-----\n== no", &[(1, "Title"), (2, "Other")]);
    }

    #[test]
    fn detects_headings_of_org() {
        let text = "#+title: T\n* A\n** TODO B :work:\n - * no\n*bold* text\n*\n******** C";
        check_titles(Format::Org, text, &[(1, "A"), (2, "TODO B :work:"), (6, "C")]);
        assert_eq!(org_title(text).as_deref(), Some(" T"));
        assert_eq!(org_title("* A\n#+title: T"), None);
    }
}
