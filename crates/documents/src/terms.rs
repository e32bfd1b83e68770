//! The terms that the structure of documents marks: headings, bold words, entries of definition lists and first cells of rows, each
//! with all that stands under its mark. What sentences say is not read.

use std::ops::Range;

use prospector_text::sentences;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::{
    DocumentDiscovery, Format,
    markdown::options,
    model::{Document, MarkedTerm, Section},
};

/// More words than this are no term.
const MAX_WORDS: usize = 8;

/// A heading over more text than this, in characters, is a subject and defines no term.
const MAX_TEXT: usize = 1_500;

/// The most terms of all documents that are kept.
const MAX_TERMS: usize = 50_000;

impl DocumentDiscovery {
    /// The terms that the documents mark, in their order.
    pub fn terms(&self) -> Vec<MarkedTerm> {
        let sections = self.documents().iter().flat_map(|document| {
            document
                .sections
                .iter()
                .map(move |section| (document, section))
                .filter(|(_, section)| !section.text.is_empty())
        });
        sections.flat_map(|(document, section)| terms_of(document, section)).take(MAX_TERMS).collect()
    }
}

/// The terms of a section: its heading first.
fn terms_of(document: &Document, section: &Section) -> Vec<MarkedTerm> {
    let marked = |term: &str, text: String| MarkedTerm {
        term: term.trim().trim_end_matches([':', '.']).to_owned(),
        document: document.name.clone(),
        section: section.full_name(),
        text,
    };
    let is_plain = document.format == Format::Text;
    let blocks = if is_plain { vec![Block::of_text(section.text.trim())] } else { read_blocks(&section.text) };
    let mut found = Vec::new();
    let whole = render(&blocks);
    let heading = section.heading();
    if section.level > 0 && heading != document.title && whole.chars().count() <= MAX_TEXT {
        found.push(marked(heading, whole));
    }
    for (at, block) in blocks.iter().enumerate() {
        found.extend(block.terms(&blocks[at + 1..]).into_iter().map(|(term, text)| marked(&term, text)));
    }
    let mut seen: Vec<String> = Vec::new();
    found.retain(|one| {
        let key = one.term.to_lowercase();
        let is_new = is_term(&one.term) && !one.text.is_empty() && !seen.contains(&key);
        seen.push(key);
        is_new
    });
    found
}

/// Whether a text can be a term: a few words, with a letter among them.
fn is_term(text: &str) -> bool {
    text.chars().any(char::is_alphabetic) && text.split_whitespace().count() <= MAX_WORDS && !text.ends_with(['?', '!'])
}

/// A paragraph, an item, a row or the like.
#[derive(Debug, Default, PartialEq)]
struct Block {
    kind: BlockKind,
    /// Without marks, in one line.
    text: String,
    /// The bytes of `text` that are bold.
    bold: Vec<Range<usize>>,
    /// Of a row: its cells.
    cells: Vec<String>,
    /// Of a row: the names of its columns.
    columns: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    #[default]
    Paragraph,
    Item,
    Row,
    Code,
    /// A term of a definition list; what it means follows.
    Entry,
    Meaning,
}

impl Block {
    fn of_text(text: &str) -> Self {
        Block { text: text.to_owned(), ..Block::default() }
    }

    /// The terms that it marks, with what is said of each; `after` are the blocks that follow.
    fn terms(&self, after: &[Block]) -> Vec<(String, String)> {
        match self.kind {
            BlockKind::Row => self.cells.first().map(|term| (term.clone(), self.render_row())).into_iter().collect(),
            BlockKind::Entry => {
                let meanings = after.iter().take_while(|block| block.kind == BlockKind::Meaning);
                vec![(self.text.clone(), meanings.map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n"))]
            }
            BlockKind::Paragraph if self.is_all_bold() => {
                // It stands for a heading.
                let under = after.iter().take_while(|block| !block.is_all_bold());
                vec![(self.text.clone(), render(under))]
            }
            BlockKind::Paragraph | BlockKind::Item | BlockKind::Meaning => self.bold_terms(),
            BlockKind::Code => Vec::new(),
        }
    }

    fn is_all_bold(&self) -> bool {
        let rest = self.text.trim_end_matches([':', '.']);
        self.kind == BlockKind::Paragraph
            && self.bold.first().is_some_and(|bold| bold.start == 0 && bold.end >= rest.len())
    }

    /// Of a row: its cells with the names of their columns.
    fn render_row(&self) -> String {
        let cells = self.cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
        let rendered = cells.map(|(at, cell)| match self.columns.get(at).filter(|name| !name.is_empty()) {
            Some(name) => format!("{name}: {cell}"),
            None => cell.clone(),
        });
        rendered.collect::<Vec<_>>().join("; ")
    }

    /// The bold words, and a short form that follows one in brackets, with the sentences up to the next that has some.
    fn bold_terms(&self) -> Vec<(String, String)> {
        let sentences = sentences::ranges(&self.text);
        let has_bold = |sentence: &Range<usize>| self.bold.iter().any(|bold| sentence.contains(&bold.start));
        let mut terms = Vec::new();
        for bold in &self.bold {
            let Some(first) = sentences.iter().position(|sentence| sentence.contains(&bold.start)) else { continue };
            let next = sentences[first + 1..].iter().position(has_bold).map_or(sentences.len(), |at| first + 1 + at);
            let text = self.text[sentences[first].start..sentences[next - 1].end].trim().to_owned();
            let rest = &self.text[bold.end..];
            let short =
                rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(short, _)| short);
            terms.push((self.text[bold.clone()].to_owned(), text.clone()));
            terms.extend(
                short.filter(|short| short.split_whitespace().count() <= 4).map(|short| (short.to_owned(), text)),
            );
        }
        terms
    }
}

/// Blocks as text: items with a dash, rows with the names of their columns once.
fn render<'b>(blocks: impl IntoIterator<Item = &'b Block>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut columns: &[String] = &[];
    for block in blocks {
        if block.kind == BlockKind::Row && block.columns != columns {
            lines.push(block.columns.join(" | "));
            columns = &block.columns;
        }
        lines.push(match block.kind {
            BlockKind::Item => format!("- {}", block.text),
            BlockKind::Row => block.cells.join(" | "),
            BlockKind::Meaning => format!(": {}", block.text),
            BlockKind::Paragraph | BlockKind::Code | BlockKind::Entry => block.text.clone(),
        });
    }
    lines.join("\n")
}

/// Reads the blocks of a text.
#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    open: Block,
    bold_from: Option<usize>,
    columns: Vec<String>,
    cells: Vec<String>,
    in_items: usize,
    in_meaning: bool,
}

fn read_blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    for event in Parser::new_ext(text, options() | Options::ENABLE_DEFINITION_LIST) {
        reader.read(event);
    }
    reader.close(BlockKind::Paragraph);
    reader.blocks
}

impl Reader {
    fn read(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Item) => {
                let running = self.running();
                self.close(running);
                self.in_items += 1;
            }
            Event::End(TagEnd::Item) => {
                self.close(BlockKind::Item);
                self.in_items = self.in_items.saturating_sub(1);
            }
            Event::Start(Tag::Table(_)) => self.columns.clear(),
            Event::End(TagEnd::TableCell) => {
                let cell = std::mem::take(&mut self.open);
                self.bold_from = None;
                self.cells.push(cell.text.trim().to_owned());
            }
            Event::End(TagEnd::TableHead) => self.columns = std::mem::take(&mut self.cells),
            Event::End(TagEnd::TableRow) => {
                let (cells, columns) = (std::mem::take(&mut self.cells), self.columns.clone());
                self.blocks.push(Block { kind: BlockKind::Row, cells, columns, ..Block::default() });
            }
            Event::End(TagEnd::DefinitionListTitle) => self.close(BlockKind::Entry),
            Event::Start(Tag::DefinitionListDefinition) => self.in_meaning = true,
            Event::End(TagEnd::DefinitionListDefinition) => {
                self.close(BlockKind::Meaning);
                self.in_meaning = false;
            }
            Event::End(TagEnd::CodeBlock) => self.close(BlockKind::Code),
            Event::Start(Tag::Paragraph | Tag::Heading { .. }) if !self.open.text.is_empty() => self.push(" "),
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_)) if self.in_items == 0 && !self.in_meaning => {
                self.close(BlockKind::Paragraph);
            }
            Event::Start(Tag::Strong) => self.bold_from = Some(self.open.text.len()),
            Event::End(TagEnd::Strong) => {
                if let Some(start) = self.bold_from.take().filter(|start| *start < self.open.text.len()) {
                    self.open.bold.push(start..self.open.text.len());
                }
            }
            Event::Text(part) | Event::Code(part) => self.push(&part),
            Event::SoftBreak | Event::HardBreak => self.push(" "),
            _ => {}
        }
    }

    /// What is open where an item begins.
    fn running(&self) -> BlockKind {
        if self.in_items > 0 { BlockKind::Item } else { BlockKind::Paragraph }
    }

    fn push(&mut self, text: &str) {
        self.open.text.push_str(text);
    }

    fn close(&mut self, kind: BlockKind) {
        self.bold_from = None;
        let mut block = std::mem::take(&mut self.open);
        let start = block.text.len() - block.text.trim_start().len();
        block.text.truncate(block.text.trim_end().len());
        block.text.drain(..start.min(block.text.len()));
        for bold in &mut block.bold {
            *bold = bold.start.saturating_sub(start)..bold.end.saturating_sub(start).min(block.text.len());
        }
        block.bold.retain(|bold| bold.start < bold.end);
        block.kind = kind;
        if !block.text.is_empty() {
            self.blocks.push(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DocumentSource;

    /// The terms of a document, with what is said of each.
    fn check(text: &str, expected: &[(&str, &str)]) {
        let (discovery, problems) = DocumentDiscovery::load(&[DocumentSource::inline("d", text)]);
        assert!(problems.is_empty(), "{problems:?}");
        let found: Vec<(String, String)> = discovery.terms().into_iter().map(|one| (one.term, one.text)).collect();
        let found: Vec<(&str, &str)> = found.iter().map(|(term, text)| (term.as_str(), text.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_heading_marks_all_that_stands_under_it() {
        check(
            "# Glossary\n\nWords.\n\n## Clean sweep\n\nA driver makes a **clean sweep** when\nhe wins. Sprints have none.\n\n- Not a `slam`.\n",
            &[("Clean sweep", "A driver makes a clean sweep when he wins. Sprints have none.\n- Not a slam.")],
        );
        let long = "word ".repeat(400);
        check(&format!("# G\n\n## Long\n\n{long}"), &[]);
        check("# G\n\n## Empty\n\n### Inner\n\nText.", &[("Inner", "Text.")]);
        check("# G\n\n## What is it?\n\nText.", &[]);
    }

    #[test]
    fn bold_words_mark_the_sentences_up_to_the_next() {
        check(
            "# Rules\n\nA **customer** has an account. Any. A **buyer** has **paid** once.\n\n**Average order value** (AOV) is a ratio.\n",
            &[
                ("customer", "A customer has an account. Any."),
                ("buyer", "A buyer has paid once."),
                ("paid", "A buyer has paid once."),
                ("Average order value", "Average order value (AOV) is a ratio."),
                ("AOV", "Average order value (AOV) is a ratio."),
            ],
        );
    }

    #[test]
    fn a_bold_line_stands_for_a_heading() {
        check(
            "# R\n\n**Churn**\n\nA loss.\n\nOf customers.\n\n**Bounce:**\n\n- One page.\n",
            &[("Churn", "A loss.\nOf customers."), ("Bounce", "- One page.")],
        );
    }

    #[test]
    fn rows_items_and_entries_of_definition_lists_mark_terms() {
        check(
            "# R\n\n| Tier | Spend | Note |\n|---|--:|---|\n| **Gold** | 45 | |\n| 2 | 9 | |\n\n- **Late**: after ten days\n  of waiting\n  - inner\n- plain\n",
            &[("Gold", "Tier: Gold; Spend: 45"), ("Late", "Late: after ten days of waiting")],
        );
        check(
            "# R\n\nBasket\n: everything that is paid\n  in one go\n",
            &[("Basket", "everything that is paid in one go")],
        );
    }
}
