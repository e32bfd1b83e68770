//! Converts DOCX, XLSX and PPTX to Markdown: parsed by the `undoc` crate within the limits of [`super::package`].
//!
//! A sheet becomes a section with a table; a slide becomes a section named by its title. Formatting, pictures, headers
//! and footers are omitted, as they rarely help a search.

use prospector_text::cut::one_line;
use undoc::{Block, Document, ErrorKind, Paragraph, Section, Table};

use super::{Converted, Refused, package, tables};
use crate::{Format, formats::limits, passage::is_item};

/// Maximum length of a title; longer paragraphs are text.
const MAX_TITLE: usize = 80;

pub(super) fn read(bytes: &[u8], format: Format) -> Result<Converted, Refused> {
    let package = package::clean(bytes, format)?;
    let document = undoc::parse_bytes(&package).map_err(|error| match error.kind() {
        ErrorKind::Encrypted => Refused::for_encryption(),
        _ => Refused::for_damage(format, error),
    })?;
    drop(package);
    let mut out = String::new();
    for section in &document.sections {
        write_section(section, format, &mut out)?;
    }
    Ok(Converted { text: out, ..properties(document) })
}

fn properties(document: Document) -> Converted {
    let said = document.metadata;
    let mut converted = Converted {
        title: said.title,
        description: said.description,
        tags: said.keywords,
        last_updated: said.modified,
        ..Converted::default()
    };
    let fields = [("author", said.author), ("created", said.created), ("subject", said.subject)];
    for (name, value) in fields {
        converted.metadata.extend(value.map(|value| (name.to_owned(), value)));
    }
    converted
}

fn write_section(section: &Section, format: Format, out: &mut String) -> Result<(), Refused> {
    // Headings inside a sheet or slide are nested below that of its section.
    let title = title_of(section).filter(|_| format == Format::Pptx);
    let mut shift = 0;
    if let Some(name) = section.name.as_ref().filter(|_| format != Format::Docx) {
        heading(1, &title.as_ref().map_or_else(|| name.clone(), |(_, title)| format!("{name}: {title}")), out);
        shift = 1;
    }
    for (at, block) in section.content.iter().enumerate() {
        match block {
            Block::Paragraph(_) if title.as_ref().is_some_and(|(title, _)| *title == at) => {}
            Block::Paragraph(paragraph) => write_paragraph(paragraph, shift, out),
            Block::Table(table) => write_table(table, out)?,
            Block::Note { label, content } => {
                let words: Vec<String> = content.iter().map(words).collect();
                out.push_str(&format!("[^{label}]: {}\n\n", words.join(" ")));
            }
            Block::Image { alt_text: Some(text), .. } if !text.trim().is_empty() => {
                out.push_str(&format!("{}\n\n", tables::literal(text.trim())));
            }
            _ => {}
        }
        enough(out)?;
    }
    let notes: Vec<&Paragraph> = section.notes.iter().flatten().filter(|note| !words(note).is_empty()).collect();
    if !notes.is_empty() {
        out.push_str("Speaker notes:\n\n");
        notes.into_iter().for_each(|note| write_paragraph(note, shift, out));
    }
    Ok(())
}

/// Returns the title of a slide: its heading, otherwise its first short paragraph.
fn title_of(section: &Section) -> Option<(usize, String)> {
    let paragraphs = section.content.iter().enumerate().filter_map(|(at, block)| match block {
        Block::Paragraph(paragraph) => Some((at, paragraph)).filter(|(_, paragraph)| !words(paragraph).is_empty()),
        _ => None,
    });
    let all: Vec<(usize, &Paragraph)> = paragraphs.collect();
    let short = |paragraph: &Paragraph| paragraph.list_info.is_none() && words(paragraph).chars().count() <= MAX_TITLE;
    let heading = all.iter().find(|(_, paragraph)| paragraph.heading.is_heading());
    let (at, paragraph) = heading.or_else(|| all.first().filter(|(_, paragraph)| short(paragraph)))?;
    Some((*at, words(paragraph)))
}

fn enough(out: &str) -> Result<(), Refused> {
    if out.len() > limits::MAX_RESULT_BYTES {
        return Err(Refused::too_large("the file contains too much text", limits::MAX_RESULT_BYTES));
    }
    Ok(())
}

fn heading(level: u8, words: &str, out: &mut String) {
    out.push_str(&format!("{} {words}\n\n", "#".repeat(usize::from(level.clamp(1, 6)))));
}

fn write_paragraph(paragraph: &Paragraph, shift: u8, out: &mut String) {
    let words = words(paragraph);
    if words.is_empty() {
        return;
    }
    if paragraph.heading.is_heading() {
        return heading(paragraph.heading.level() + shift, &words, out);
    }
    let words = tables::literal(&words);
    match &paragraph.list_info {
        Some(item) => {
            // Items of one list are written without empty lines between them.
            if out.trim_end().rsplit('\n').next().is_some_and(|line| is_item(line.trim_start())) {
                out.pop();
            }
            let mark = item.number.map_or("-".to_owned(), |number| format!("{number}."));
            out.push_str(&format!("{}{mark} {words}\n\n", "   ".repeat(usize::from(item.level.min(5)))));
        }
        None => out.push_str(&format!("{words}\n\n")),
    }
}

/// Returns the text of a paragraph on one line, without deleted text.
fn words(paragraph: &Paragraph) -> String {
    let mut text = String::new();
    for run in &paragraph.runs {
        if run.revision == undoc::model::RevisionType::Deleted {
            continue;
        }
        text.push_str(&run.text);
        if let Some(label) = &run.note {
            text.push_str(&format!("[^{label}]"));
        }
        if run.line_break || run.page_break {
            text.push(' ');
        }
    }
    one_line(&text)
}

fn write_table(table: &Table, out: &mut String) -> Result<(), Refused> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut cells = 0;
    for (row, columns) in table.rows.iter().zip(table.cell_columns()) {
        let mut line: Vec<String> = Vec::new();
        for (cell, column) in row.cells.iter().zip(columns) {
            // Cells covered by a merged cell stay empty. The total of their spans was limited in the package.
            line.resize(column.max(line.len()), String::new());
            line.push(cell_words(&cell.content, &cell.nested_tables));
        }
        cells += line.len();
        rows.push(line);
        if cells > limits::MAX_CELLS {
            return Err(Refused::new(format!("a table has over {} cells", limits::MAX_CELLS), "export it as CSV"));
        }
    }
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if width * rows.len() > limits::MAX_CELLS * 2 {
        return Err(Refused::new(format!("a table has over {} cells", limits::MAX_CELLS * 2), "export it as CSV"));
    }
    match rows.as_slice() {
        // A table of one cell is a frame around text.
        [row] if width == 1 => out.push_str(&format!("{}\n\n", tables::literal(&row[0]))),
        _ => tables::write(&rows, out),
    }
    Ok(())
}

/// Returns the text of a cell, including nested tables as text. Their depth is limited.
fn cell_words(content: &[Paragraph], nested: &[Table]) -> String {
    let own = content.iter().map(words);
    let inner = nested.iter().flat_map(|table| &table.rows).flat_map(|row| &row.cells);
    let inner = inner.map(|cell| cell_words(&cell.content, &cell.nested_tables));
    own.chain(inner).filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" ")
}
