//! Parses Markdown into blocks: paragraphs, items, rows and entries as plain text, each with its range in the source.

use std::{ops::Range, sync::Arc};

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Maximum length of a column name that is repeated with each row, in bytes.
const MAX_NAME: usize = 100;

/// A paragraph, list item, table row or the like.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Block {
    pub(crate) kind: BlockKind,
    /// Without Markdown, on one line.
    pub(crate) text: String,
    /// The bytes of `text` that are bold.
    pub(crate) bold: Vec<Range<usize>>,
    /// The cells of a row.
    pub(crate) cells: Vec<String>,
    /// The column names of a row.
    pub(crate) columns: Arc<[String]>,
    /// The bytes of the source.
    pub(crate) range: Range<usize>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    #[default]
    Paragraph,
    Heading(u8),
    Item,
    Row,
    Code,
    /// A term of a definition list.
    Entry,
    /// The definition of the preceding entry.
    Meaning,
}

impl Block {
    /// Returns whether a paragraph is entirely bold, like a heading.
    pub(crate) fn is_all_bold(&self) -> bool {
        let rest = self.text.trim_end_matches([':', '.']);
        self.kind == BlockKind::Paragraph
            && self.bold.first().is_some_and(|bold| bold.start == 0 && bold.end >= rest.len())
    }

    /// Returns whether it is part of a list or table.
    pub(crate) fn is_listed(&self) -> bool {
        matches!(self.kind, BlockKind::Item | BlockKind::Row | BlockKind::Code)
    }

    /// Returns the cells of a row with their column names.
    pub(crate) fn render_row(&self) -> String {
        let cells = self.cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
        let rendered = cells.map(|(at, cell)| match self.columns.get(at).filter(|name| !name.is_empty()) {
            Some(name) => format!("{name}: {cell}"),
            None => cell.clone(),
        });
        rendered.collect::<Vec<_>>().join("; ")
    }
}

/// Renders blocks as text: items with a dash, rows below the names of their columns.
pub(crate) fn render<'b>(blocks: impl IntoIterator<Item = &'b Block>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut columns: &[String] = &[];
    for block in blocks {
        if block.kind == BlockKind::Row && *block.columns != *columns {
            lines.push(block.columns.join(" | "));
            columns = &block.columns;
        }
        lines.push(match block.kind {
            BlockKind::Item => format!("- {}", block.text),
            BlockKind::Row => block.cells.join(" | "),
            BlockKind::Meaning => format!(": {}", block.text),
            BlockKind::Paragraph | BlockKind::Heading(_) | BlockKind::Code | BlockKind::Entry => block.text.clone(),
        });
    }
    lines.join("\n")
}

/// Parses the blocks of a text.
pub(crate) fn read_blocks(text: &str) -> Vec<Block> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM
        | Options::ENABLE_DEFINITION_LIST;
    let mut reader = Reader::default();
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        reader.read(event, range);
    }
    reader.close(BlockKind::Paragraph);
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    open: Block,
    bold_from: Option<usize>,
    columns: Arc<[String]>,
    cells: Vec<String>,
    items: usize,
    in_meaning: bool,
}

impl Reader {
    fn read(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Item) => {
                let running = if self.items > 0 { BlockKind::Item } else { BlockKind::Paragraph };
                self.close(running);
                self.items += 1;
            }
            Event::End(TagEnd::Item) => {
                self.close(BlockKind::Item);
                self.items = self.items.saturating_sub(1);
            }
            Event::Start(Tag::Table(_)) => self.columns = Arc::default(),
            Event::End(TagEnd::TableCell) => {
                let cell = std::mem::take(&mut self.open);
                self.bold_from = None;
                self.cells.push(cell.text.trim().to_owned());
            }
            Event::End(TagEnd::TableHead) => {
                let names = std::mem::take(&mut self.cells).into_iter();
                self.columns = names.map(|name| if name.len() > MAX_NAME { String::new() } else { name }).collect();
            }
            Event::End(TagEnd::TableRow) => {
                let (cells, columns) = (std::mem::take(&mut self.cells), self.columns.clone());
                self.blocks.push(Block { kind: BlockKind::Row, cells, columns, range, ..Block::default() });
            }
            Event::End(TagEnd::DefinitionListTitle) => self.close(BlockKind::Entry),
            Event::Start(Tag::DefinitionListDefinition) => self.in_meaning = true,
            Event::End(TagEnd::DefinitionListDefinition) => {
                self.close(BlockKind::Meaning);
                self.in_meaning = false;
            }
            Event::End(TagEnd::CodeBlock) => self.close(BlockKind::Code),
            Event::Start(Tag::Paragraph | Tag::Heading { .. }) if !self.open.text.is_empty() => self.push(" ", range),
            Event::End(TagEnd::Heading(level)) if self.items == 0 && !self.in_meaning => {
                self.close(BlockKind::Heading(match level {
                    HeadingLevel::H1 => 1,
                    _ => 2,
                }));
            }
            Event::End(TagEnd::Paragraph) if self.items == 0 && !self.in_meaning => self.close(BlockKind::Paragraph),
            Event::Start(Tag::Strong) => self.bold_from = Some(self.open.text.len()),
            Event::End(TagEnd::Strong) => {
                if let Some(start) = self.bold_from.take().filter(|start| *start < self.open.text.len()) {
                    self.open.bold.push(start..self.open.text.len());
                }
            }
            Event::Text(part) | Event::Code(part) => self.push(&part, range),
            Event::SoftBreak | Event::HardBreak => self.push(" ", range),
            _ => {}
        }
    }

    fn push(&mut self, text: &str, range: Range<usize>) {
        if self.open.text.is_empty() {
            self.open.range.start = range.start;
        }
        self.open.range.end = range.end;
        self.open.text.push_str(text);
    }

    fn close(&mut self, kind: BlockKind) {
        self.bold_from = None;
        let mut block = std::mem::take(&mut self.open);
        let start = block.text.len() - block.text.trim_start().len();
        block.text.truncate(block.text.trim_end().len());
        block.text.drain(..start.min(block.text.len()));
        let end = block.text.len();
        for bold in &mut block.bold {
            *bold = bold.start.saturating_sub(start)..bold.end.saturating_sub(start).min(end);
        }
        block.bold.retain(|bold| bold.start < bold.end);
        block.kind = kind;
        if !block.text.is_empty() {
            self.blocks.push(block);
        }
    }
}
