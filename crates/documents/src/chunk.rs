//! A long section in parts that are small enough to be found and shown.

use std::ops::Range;

use text_splitter::{MarkdownSplitter, TextSplitter};

use crate::Format;

/// A section up to this many characters stays whole.
pub(crate) const MAX_CHARS: usize = 1_200;
/// A part below this is added to the one before or after it: alone it would be found for its few words only, and a
/// lead-in belongs to its table.
const MIN_CHARS: usize = 200;
/// The splitter's work grows with the square of its input.
const MAX_SPLIT_BYTES: usize = 32 * 1024;

/// The parts of a section's text: whole paragraphs, list items, table rows and code blocks where they are not too long
/// themselves. A part that begins inside a table gets its head again. Parts without a letter or digit are left out.
pub(crate) fn split(text: &str, format: Format) -> Vec<String> {
    if text.chars().count() <= MAX_CHARS {
        return Vec::from_iter(Some(text.to_owned()).filter(|text| readable(text)));
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    for block in blocks(text) {
        let offset = block.start;
        let found: Vec<Range<usize>> = match format {
            Format::Text => ranges(TextSplitter::new(MAX_CHARS).chunk_indices(&text[block]), offset),
            _ => ranges(MarkdownSplitter::new(MAX_CHARS).chunk_indices(&text[block]), offset),
        };
        for part in found {
            match parts.last_mut() {
                Some(last) if short(&text[part.clone()]) || short(&text[last.clone()]) => last.end = part.end,
                _ => parts.push(part),
            }
        }
    }
    let tables = if format == Format::Text { Vec::new() } else { tables(text) };
    parts
        .into_iter()
        .filter(|part| readable(&text[part.clone()]))
        .map(|part| {
            let inside = |table: &&Table| (table.head.end..table.end).contains(&part.start);
            match tables.iter().find(inside) {
                Some(table) => format!("{}{}", &text[table.head.clone()], &text[part]),
                None => text[part].to_owned(),
            }
        })
        .collect()
}

fn short(text: &str) -> bool {
    text.chars().count() < MIN_CHARS
}

fn readable(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn ranges<'a>(parts: impl Iterator<Item = (usize, &'a str)>, offset: usize) -> Vec<Range<usize>> {
    parts.map(|(start, part)| offset + start..offset + start + part.len()).collect()
}

/// The text in blocks that are not too large for the splitter, cut at empty lines, else at line ends.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut start = 0;
    while text.len() - start > MAX_SPLIT_BYTES {
        let mut end = start + MAX_SPLIT_BYTES;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let part = &text[start..end];
        let cut = part.rfind("\n\n").map(|at| at + 2).or_else(|| part.rfind('\n').map(|at| at + 1));
        let end = cut.filter(|at| *at > 0).map_or(end, |at| start + at);
        blocks.push(start..end);
        start = end;
    }
    blocks.push(start..text.len());
    blocks
}

struct Table {
    /// The line of names and the line below it.
    head: Range<usize>,
    end: usize,
}

/// The tables whose rows begin with a bar.
fn tables(text: &str) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut previous = 0..0;
    let mut at = 0;
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        if !is_row(line) {
            inside = false;
        } else if inside {
            if let Some(table) = tables.last_mut() {
                table.end = range.end;
            }
        } else if is_delimiter(line) && is_row(&text[previous.clone()]) {
            inside = true;
            tables.push(Table { head: previous.start..range.end, end: range.end });
        }
        previous = range;
    }
    // A head as long as a part would crowd out the rows.
    tables.retain(|table| table.head.len() < MAX_CHARS / 2);
    tables
}

/// Whether a line is a row of a table.
pub(crate) fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

/// Whether a row is the one between the head and the rows of a table: `|---|:-:|`.
pub(crate) fn is_delimiter(line: &str) -> bool {
    is_row(line) && line.contains('-') && line.trim().chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first words of each part.
    fn check(text: &str, format: Format, expected: &[&str]) {
        let parts = split(text, format);
        let starts: Vec<&str> =
            parts.iter().zip(expected).map(|(part, start)| part.get(..start.len()).unwrap_or(part)).collect();
        assert_eq!(starts, expected);
        assert_eq!(parts.len(), expected.len(), "{parts:?}");
        assert!(parts.iter().all(|part| part.chars().count() <= MAX_CHARS + MIN_CHARS + MAX_CHARS / 2));
    }

    fn paragraph(name: &str) -> String {
        format!("{name} {}.\n\n", "word ".repeat(130).trim_end())
    }

    #[test]
    fn a_short_text_stays_whole_and_an_empty_one_is_none() {
        check("One.\n\nTwo.", Format::Markdown, &["One.\n\nTwo."]);
        check("---", Format::Markdown, &[]);
        check("", Format::Text, &[]);
    }

    #[test]
    fn paragraphs_are_not_cut() {
        let text = ["A", "B", "C"].map(paragraph).concat();
        check(&text, Format::Markdown, &["A word", "B word", "C word"]);
        check(&text, Format::Text, &["A word", "B word", "C word"]);
    }

    #[test]
    fn a_short_end_stays_with_what_is_before_it() {
        check(&format!("{}{}End.", paragraph("A"), paragraph("B")), Format::Markdown, &["A word", "B word"]);
    }

    #[test]
    fn a_long_table_is_cut_between_rows_and_keeps_its_head() {
        let rows: String = (0..60).map(|n| format!("| customer {n} | a discount of {n} percent |\n")).collect();
        let text = format!("Rates.\n\n| who | rate |\n|-----|------|\n{rows}");
        let parts = split(&text, Format::Markdown);
        assert!(parts.len() > 1 && parts[0].starts_with("Rates.\n\n| who | rate |"), "{parts:?}");
        assert!(
            parts[1..].iter().all(|part| part.starts_with("| who | rate |\n|-----|------|\n| customer ")),
            "{parts:?}"
        );
        assert!(parts.iter().all(|part| part.trim_end().ends_with("percent |")), "{parts:?}");
    }

    #[test]
    fn a_code_block_is_not_cut() {
        let code = format!("```\n{}```", "call()\n\n".repeat(80));
        let text = format!("{}{code}\n\n{}", paragraph("A"), paragraph("B"));
        let parts = split(&text, Format::Markdown);
        assert!(parts.iter().any(|part| part.contains(&code)), "{parts:?}");
    }

    #[test]
    fn a_very_long_text_without_ends_is_cut_all_the_same() {
        let parts = split(&"é".repeat(40_000), Format::Markdown);
        assert_eq!(parts.iter().map(|part| part.chars().count()).sum::<usize>(), 40_000);
        assert!(parts.len() >= 30);
    }
}
