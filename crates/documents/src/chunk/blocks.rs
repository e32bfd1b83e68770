//! Where a text may be divided without cutting what belongs together.

use std::{collections::BTreeMap, ops::Range};

use pulldown_cmark::{Event, Parser, Tag};

use crate::{Format, markdown};

/// A piece of a text that should stay whole, with the empty lines after it.
#[derive(Debug, PartialEq)]
pub(super) struct Block {
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
}

/// What a block is, where that tells how it may be divided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// A paragraph, a list item, a quote.
    Prose,
    Table,
    Code,
}

/// The blocks of a text, together all of it.
pub(super) fn blocks(text: &str, format: Format) -> Vec<Block> {
    let starts = if format == Format::Text { paragraphs(text) } else { structure(text) };
    let ends: Vec<usize> = starts.keys().skip(1).copied().chain([text.len()]).collect();
    starts.into_iter().zip(ends).map(|((start, kind), end)| Block { range: start..end, kind }).collect()
}

/// Where the paragraphs of a plain text begin.
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

/// The lines where the blocks of a Markdown text begin, those of lists and quotes too.
fn structure(text: &str) -> BTreeMap<usize, Kind> {
    let mut starts = BTreeMap::from([(0, Kind::Prose)]);
    // Where the last block begins, and its line: one line may hold very many, each in the one before.
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
        // Footnotes come at the end, wherever they stand.
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

    fn check(text: &str, format: Format, expected: &[(&str, Kind)]) {
        let found: Vec<(&str, Kind)> =
            blocks(text, format).into_iter().map(|block| (&text[block.range], block.kind)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn blocks_begin_at_the_start_of_a_line() {
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
