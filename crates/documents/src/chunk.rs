//! Splits long sections into parts that are small enough to index and show.
//!
//! A part consists of whole blocks (paragraphs, list items, tables, code blocks) up to [`MAX_CHARS`]. A longer block is
//! a part of its own up to [`MAX_BLOCK_CHARS`]. Blocks beyond that are divided: tables between rows, repeating the
//! head; code blocks at empty lines, else between lines, repeating the fence; other text between sentences. A row, line
//! or sentence beyond the limit is split between words.

mod blocks;
mod divide;

use crate::Format;
use blocks::{Kind, blocks};
pub(crate) use blocks::{is_delimiter, is_row};

/// Maximum size of an undivided section, in characters; about 300 tokens, which one embedding still represents well.
pub(crate) const MAX_CHARS: usize = 1_200;
/// Maximum size of an undivided block, in characters; about 500 tokens, the input limit of common transformers.
pub(crate) const MAX_BLOCK_CHARS: usize = 2_000;
/// Minimum size of a part, in characters. Smaller ones are merged with a neighbour: a lead-in belongs to its table.
const MIN_CHARS: usize = 200;

/// Splits the text of a section into parts. Parts without a letter or digit are omitted.
pub(crate) fn split(text: &str, format: Format) -> Vec<String> {
    if chars(text) <= MAX_CHARS {
        return Vec::from_iter(Some(text.to_owned()).filter(|text| readable(text)));
    }
    let mut parts = Parts::default();
    for block in blocks(text, format) {
        let whole = &text[block.range.clone()];
        if chars(whole) <= MAX_BLOCK_CHARS {
            parts.add(whole, block.kind);
        } else {
            divide::divide(whole, block.kind).iter().for_each(|piece| parts.add(piece, block.kind));
        }
    }
    parts.close();
    parts.done.retain(|part| readable(part));
    parts.done
}

/// Accumulates parts.
#[derive(Default)]
struct Parts {
    done: Vec<String>,
    open: String,
    /// Start of the last block in `open` if that is short prose, i.e. the lead-in to a table or to code.
    lead: Option<usize>,
}

impl Parts {
    fn add(&mut self, piece: &str, kind: Kind) {
        let limit = if is_short(&self.open) { MAX_BLOCK_CHARS + MIN_CHARS } else { MAX_CHARS };
        if !fits(&self.open, piece, limit) {
            let lead = self.lead.filter(|_| kind != Kind::Prose).map(|at| self.open.split_off(at));
            self.close();
            self.open = lead.unwrap_or_default();
        }
        self.lead = (kind == Kind::Prose && is_short(piece)).then_some(self.open.len());
        self.open.push_str(piece);
    }

    fn close(&mut self) {
        let part = std::mem::take(&mut self.open);
        match self.done.last_mut() {
            Some(last) if is_short(&part) && fits(last, &part, MAX_BLOCK_CHARS + MIN_CHARS) => last.push_str(&part),
            _ => self.done.push(part),
        }
    }
}

fn is_short(text: &str) -> bool {
    chars(text) < MIN_CHARS
}

fn fits(one: &str, other: &str, limit: usize) -> bool {
    one.len() + other.len() <= limit || chars(one) + chars(other) <= limit
}

fn chars(text: &str) -> usize {
    text.trim_end().chars().count()
}

fn readable(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the start of each part.
    fn check(text: &str, format: Format, expected: &[&str]) -> Vec<String> {
        let parts = split(text, format);
        let starts: Vec<&str> =
            parts.iter().zip(expected).map(|(part, start)| part.get(..start.len()).unwrap_or(part)).collect();
        assert_eq!(starts, expected);
        assert_eq!(parts.len(), expected.len(), "{parts:?}");
        assert!(parts.iter().all(|part| chars(part) <= MAX_BLOCK_CHARS + MIN_CHARS), "{parts:?}");
        parts
    }

    /// Returns a paragraph with this number of sentences of 40 characters.
    fn paragraph(name: &str, sentences: usize) -> String {
        format!("{name} {}\n\n", "It goes on for about forty characters. ".repeat(sentences).trim_end())
    }

    #[test]
    fn keeps_short_texts_whole_and_drops_empty_ones() {
        check("One.\n\nTwo.", Format::Markdown, &["One.\n\nTwo."]);
        check("---", Format::Markdown, &[]);
        check("", Format::Text, &[]);
    }

    #[test]
    fn splits_between_paragraphs_without_loss() {
        let text = ["A", "B", "C"].map(|name| paragraph(name, 17)).concat();
        for format in [Format::Markdown, Format::Text] {
            let parts = check(&text, format, &["A It", "B It", "C It"]);
            assert_eq!(parts.concat(), text);
        }
        // A paragraph longer than a part.
        let text = [paragraph("A", 17), paragraph("B", 45), paragraph("C", 17)].concat();
        let parts = check(&text, Format::Markdown, &["A It", "B It", "C It"]);
        assert_eq!(parts[1], paragraph("B", 45));
    }

    #[test]
    fn merges_a_short_end_with_the_previous_part() {
        let text = format!("{}{}End.", paragraph("A", 17), paragraph("B", 17));
        check(&text, Format::Markdown, &["A It", "B It"]);
    }

    #[test]
    fn splits_long_paragraphs_between_sentences() {
        for format in [Format::Markdown, Format::Text] {
            let parts = check(&paragraph("A", 80), format, &["A It", "It goes", "It goes"]);
            assert!(parts.iter().all(|part| part.trim_end().ends_with("characters.")), "{parts:?}");
            assert_eq!(parts.concat(), paragraph("A", 80));
        }
    }

    fn table(rows: usize) -> String {
        let rows: String = (0..rows).map(|n| format!("| customer {n} | a discount of {n} percent |\n")).collect();
        format!("| who | rate |\n|-----|------|\n{rows}")
    }

    #[test]
    fn keeps_tables_whole_up_to_the_limit() {
        let text = format!("{}Rates.\n\n{}\n{}", paragraph("A", 20), table(40), paragraph("B", 20));
        let parts = check(&text, Format::Markdown, &["A It", "Rates.\n\n| who", "B It"]);
        assert_eq!(parts[1], format!("Rates.\n\n{}\n", table(40)));
    }

    #[test]
    fn splits_long_tables_between_rows_with_head() {
        let text = format!("Rates.\n\n{}", table(60));
        let parts = check(
            &text,
            Format::Markdown,
            &["Rates.\n\n| who", "| who | rate |\n|-----|------|\n| customer ", "| who"],
        );
        assert!(parts.iter().all(|part| part.trim_end().ends_with("percent |")), "{parts:?}");
        // A table without outer bars, and one in a block quote.
        let bare: String = (0..90).map(|n| format!("customer {n} | a discount of {n}\n")).collect();
        check(
            &format!("who | rate\n--- | ---\n{bare}"),
            Format::Markdown,
            &["who | rate\n", "who | rate\n", "who | rate\n"],
        );
        let quoted = table(60).replace("| who", "> | who").replace("\n|", "\n> |");
        check(&quoted, Format::Markdown, &["> | who | rate |\n> |---", "> | who | rate |\n> |---", "> | who"]);
    }

    #[test]
    fn keeps_code_blocks_whole_up_to_the_limit() {
        let code = format!("```\n{}```", "call()\n\n".repeat(200));
        let text = format!("{}{code}\n\n{}", paragraph("A", 17), paragraph("B", 17));
        let parts = check(&text, Format::Markdown, &["A It", "```\ncall()", "B It"]);
        assert!(parts[1].contains(&code), "{parts:?}");
    }

    #[test]
    fn splits_long_code_blocks_at_empty_lines_with_fence() {
        let body = "fn x() {\n    call();\n}\n\n".repeat(120);
        let text = format!("Like this:\n\n~~~rust\n{body}~~~\n\n{}", paragraph("B", 17));
        let parts =
            check(&text, Format::Markdown, &["Like this:\n\n~~~rust\nfn", "~~~rust\nfn x", "~~~rust\nfn x", "B It"]);
        assert!(parts[..3].iter().all(|part| part.trim_end().ends_with("}\n\n~~~")), "{parts:?}");
        // Without empty lines, between lines; an unclosed block ends with the text.
        let text = format!("```\n{}", "call(1, 2);\n".repeat(250));
        let parts = check(&text, Format::Markdown, &["```\ncall", "```\ncall", "```\ncall"]);
        assert!(parts.iter().all(|part| part.trim_end().ends_with("\ncall(1, 2);\n```")), "{parts:?}");
    }

    #[test]
    fn fills_parts_with_short_paragraphs() {
        let parts = split(&"A short one.\n\n".repeat(300), Format::Markdown);
        assert!(parts.iter().all(|part| chars(part) <= MAX_CHARS + MIN_CHARS), "{parts:?}");
        assert!(parts.len() <= 4, "{parts:?}");
    }

    #[test]
    fn splits_lists_between_items() {
        let item = format!("- {}", paragraph("Item", 12));
        let parts = check(&item.repeat(5), Format::Markdown, &["- Item", "- Item", "- Item"]);
        assert_eq!(parts.concat(), item.repeat(5));
        let nested = format!("- Outer\n{}", format!("  - {}", paragraph("Inner", 12)).repeat(5));
        let parts = split(&nested, Format::Markdown);
        assert!(parts[1..].iter().all(|part| part.starts_with("  - Inner")), "{parts:?}");
    }

    #[test]
    fn splits_long_texts_without_boundaries() {
        for text in ["é".repeat(40_000), format!("| a |\n|---|\n| {} |", "é".repeat(40_000))] {
            let parts = split(&text, Format::Markdown);
            assert_eq!(parts.concat().matches('é').count(), 40_000);
            assert!(parts.len() >= 20 && parts.iter().all(|part| chars(part) <= MAX_BLOCK_CHARS + MIN_CHARS));
        }
        let nested = format!("{}x", "+ ".repeat(100_000));
        assert!(!split(&nested, Format::Markdown).is_empty());
        let fence = format!("```{}\n{}", "x".repeat(5_000), "call()\n".repeat(1_000));
        assert!(split(&fence, Format::Markdown).iter().all(|part| chars(part) <= MAX_BLOCK_CHARS + MIN_CHARS));
    }
}
