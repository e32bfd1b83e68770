//! Finds the blocks of a text, between which it may be divided.

use std::{collections::BTreeMap, ops::Range};

use pulldown_cmark::{Event, Parser, Tag};

use crate::{Format, markdown};

/// A piece of a text that should stay whole, with the empty lines after it.
#[derive(Debug, PartialEq)]
pub(super) struct Block {
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
}

/// The kind of a block, which determines how it may be divided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// A paragraph, list item or quote.
    Prose,
    Table,
    Code,
}

/// Divides a text into blocks, which cover all of it.
pub(super) fn blocks(text: &str, format: Format) -> Vec<Block> {
    let starts = if format.is_plain() { paragraphs(text) } else { structure(text) };
    let ends: Vec<usize> = starts.keys().skip(1).copied().chain([text.len()]).collect();
    starts.into_iter().zip(ends).map(|((start, kind), end)| Block { range: start..end, kind }).collect()
}

/// Returns the offsets at which the paragraphs of a plain text start.
fn paragraphs(text: &str) -> BTreeMap<usize, Kind> {
    let mut starts = BTreeMap::from([(0, Kind::Prose)]);
    let (mut at, mut empty) = (0, false);
    for line in text.split_inclusive('\n') {
        let is_empty = line.trim().is_empty();
        if empty && !is_empty {
            starts.insert(at, Kind::Prose);
        }
        empty = is_empty;
        at += line.len();
    }
    starts
}

/// Returns the offsets of the lines at which the blocks of a Markdown text start, including those in lists and quotes.
fn structure(text: &str) -> BTreeMap<usize, Kind> {
    let mut starts = BTreeMap::from([(0, Kind::Prose)]);
    // Start of the last block, and its line: one line may contain many nested blocks.
    let (mut at, mut line) = (0, 0);
    for (event, range) in Parser::new_ext(text, markdown::options()).into_offset_iter() {
        let kind = match event {
            Event::Start(Tag::Table(_)) => Kind::Table,
            Event::Start(Tag::CodeBlock(_)) => Kind::Code,
            Event::Start(
                Tag::Paragraph
                | Tag::Heading { .. }
                | Tag::BlockQuote(_)
                | Tag::HtmlBlock
                | Tag::Item
                | Tag::FootnoteDefinition(_),
            )
            | Event::Rule => Kind::Prose,
            _ => continue,
        };
        // The parser yields footnotes at the end, wherever they are defined.
        let (from, otherwise) = if range.start < at { (0, 0) } else { (at, line) };
        line = text[from..range.start].rfind('\n').map_or(otherwise, |found| from + found + 1);
        at = range.start;
        let known = starts.entry(line).or_insert(kind);
        if kind != Kind::Prose {
            *known = kind;
        }
    }
    starts
}

/// Returns whether a line is a table row.
pub(crate) fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

/// Returns whether a row is the delimiter between the head and the rows of a table: `|---|:-:|`.
pub(crate) fn is_delimiter(line: &str) -> bool {
    is_row(line) && line.contains('-') && line.trim().chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, format: Format, expected: &[(&str, Kind)]) {
        let found: Vec<(&str, Kind)> =
            blocks(text, format).into_iter().map(|block| (&text[block.range], block.kind)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn blocks_start_at_line_starts() {
        use Kind::{Code, Prose, Table};
        check("One\ntwo\n\n\nThree\n", Format::Text, &[("One\ntwo\n\n\n", Prose), ("Three\n", Prose)]);
        check(
            "One\n\n- a\n  - b\n\n    ```\n    c\n    ```\n> | x |\n> |---|\n> | y |\n\n***\n    code\n\n[r]: x\n",
            Format::Markdown,
            &[
                ("One\n\n", Prose),
                ("- a\n", Prose),
                ("  - b\n\n", Prose),
                ("    ```\n    c\n    ```\n", Code),
                ("> | x |\n> |---|\n> | y |\n\n", Table),
                ("***\n", Prose),
                ("    code\n\n[r]: x\n", Code),
            ],
        );
    }
}
