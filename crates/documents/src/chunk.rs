//! A long section in parts that are small enough to be found and shown.
//!
//! The rule: a part is whole blocks (paragraphs, list items, tables, code blocks) up to [`MAX_CHARS`]. A block that is
//! longer is a part of its own, still whole, up to [`MAX_BLOCK_CHARS`]. Only what is longer than that is divided: a table between
//! rows, with its head repeated; a code block at empty lines, else between lines, with its fence repeated; any other text
//! between sentences. A row, line or sentence beyond the ceiling is cut between words.

mod blocks;
mod divide;

use crate::Format;
use blocks::{Kind, blocks};
pub(crate) use blocks::{is_delimiter, is_row};

/// A section up to this many characters stays whole; about 300 tokens, in which an embedding still says what it is about.
pub(crate) const MAX_CHARS: usize = 1_200;
/// A block up to this many characters stays whole; about 500 tokens, the most that common transformers read of a text.
pub(crate) const MAX_BLOCK_CHARS: usize = 2_000;
/// A part below this is added to the one before or after it: alone it would be found for its few words only, and a
/// lead-in belongs to its table.
const MIN_CHARS: usize = 200;

/// The parts of a section's text. Those without a letter or digit are left out.
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

/// Parts as they fill up.
#[derive(Default)]
struct Parts {
    done: Vec<String>,
    open: String,
    /// Where in `open` its last block begins, where that is short prose: what leads in to a table or to code.
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

    /// What each part begins with.
    fn check(text: &str, format: Format, expected: &[&str]) -> Vec<String> {
        let parts = split(text, format);
        let starts: Vec<&str> =
            parts.iter().zip(expected).map(|(part, start)| part.get(..start.len()).unwrap_or(part)).collect();
        assert_eq!(starts, expected);
        assert_eq!(parts.len(), expected.len(), "{parts:?}");
        assert!(parts.iter().all(|part| chars(part) <= MAX_BLOCK_CHARS + MIN_CHARS), "{parts:?}");
        parts
    }

    /// A paragraph of this many sentences of 40 characters.
    fn paragraph(name: &str, sentences: usize) -> String {
        format!("{name} {}\n\n", "It goes on for about forty characters. ".repeat(sentences).trim_end())
    }

    #[test]
    fn a_short_text_stays_whole_and_an_empty_one_is_none() {
        check("One.\n\nTwo.", Format::Markdown, &["One.\n\nTwo."]);
        check("---", Format::Markdown, &[]);
        check("", Format::Text, &[]);
    }

    #[test]
    fn paragraphs_are_not_cut_and_the_parts_together_are_the_text() {
        let text = ["A", "B", "C"].map(|name| paragraph(name, 17)).concat();
        for format in [Format::Markdown, Format::Text] {
            let parts = check(&text, format, &["A It", "B It", "C It"]);
            assert_eq!(parts.concat(), text);
        }
        // One that is longer than a part.
        let text = [paragraph("A", 17), paragraph("B", 45), paragraph("C", 17)].concat();
        let parts = check(&text, Format::Markdown, &["A It", "B It", "C It"]);
        assert_eq!(parts[1], paragraph("B", 45));
    }

    #[test]
    fn a_short_end_stays_with_what_is_before_it() {
        let text = format!("{}{}End.", paragraph("A", 17), paragraph("B", 17));
        check(&text, Format::Markdown, &["A It", "B It"]);
    }

    #[test]
    fn a_paragraph_beyond_the_ceiling_is_cut_between_sentences() {
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
    fn a_table_stays_whole_up_to_the_ceiling() {
        let text = format!("{}Rates.\n\n{}\n{}", paragraph("A", 20), table(40), paragraph("B", 20));
        let parts = check(&text, Format::Markdown, &["A It", "Rates.\n\n| who", "B It"]);
        assert_eq!(parts[1], format!("Rates.\n\n{}\n", table(40)));
    }

    #[test]
    fn a_longer_table_is_cut_between_rows_and_keeps_its_head() {
        let text = format!("Rates.\n\n{}", table(60));
        let parts = check(
            &text,
            Format::Markdown,
            &["Rates.\n\n| who", "| who | rate |\n|-----|------|\n| customer ", "| who"],
        );
        assert!(parts.iter().all(|part| part.trim_end().ends_with("percent |")), "{parts:?}");
        // A table without bars around it, and one in a quote.
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
    fn a_code_block_stays_whole_up_to_the_ceiling() {
        let code = format!("```\n{}```", "call()\n\n".repeat(200));
        let text = format!("{}{code}\n\n{}", paragraph("A", 17), paragraph("B", 17));
        let parts = check(&text, Format::Markdown, &["A It", "```\ncall()", "B It"]);
        assert!(parts[1].contains(&code), "{parts:?}");
    }

    #[test]
    fn a_longer_code_block_is_cut_at_empty_lines_and_keeps_its_fence() {
        let body = "fn x() {\n    call();\n}\n\n".repeat(120);
        let text = format!("Like this:\n\n~~~rust\n{body}~~~\n\n{}", paragraph("B", 17));
        let parts =
            check(&text, Format::Markdown, &["Like this:\n\n~~~rust\nfn", "~~~rust\nfn x", "~~~rust\nfn x", "B It"]);
        assert!(parts[..3].iter().all(|part| part.trim_end().ends_with("}\n\n~~~")), "{parts:?}");
        // Without empty lines, between lines; without an end, it ends all the same.
        let text = format!("```\n{}", "call(1, 2);\n".repeat(250));
        let parts = check(&text, Format::Markdown, &["```\ncall", "```\ncall", "```\ncall"]);
        assert!(parts.iter().all(|part| part.trim_end().ends_with("\ncall(1, 2);\n```")), "{parts:?}");
    }

    #[test]
    fn many_short_paragraphs_fill_a_part_and_no_more() {
        let parts = split(&"A short one.\n\n".repeat(300), Format::Markdown);
        assert!(parts.iter().all(|part| chars(part) <= MAX_CHARS + MIN_CHARS), "{parts:?}");
        assert!(parts.len() <= 4, "{parts:?}");
    }

    #[test]
    fn a_list_is_cut_between_its_items() {
        let item = format!("- {}", paragraph("Item", 12));
        let parts = check(&item.repeat(5), Format::Markdown, &["- Item", "- Item", "- Item"]);
        assert_eq!(parts.concat(), item.repeat(5));
        let nested = format!("- Outer\n{}", format!("  - {}", paragraph("Inner", 12)).repeat(5));
        let parts = split(&nested, Format::Markdown);
        assert!(parts[1..].iter().all(|part| part.starts_with("  - Inner")), "{parts:?}");
    }

    #[test]
    fn a_very_long_text_without_ends_is_cut_all_the_same() {
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
