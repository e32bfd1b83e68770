//! Shared by the converters of plain-text markup: the Markdown writer and indentation.

use std::{cell::Cell, collections::HashMap};

use super::tables;

/// Maximum length of a substitution, in characters, and maximum number of bytes that all substitutions may add to one
/// file.
const MAX_REPLACEMENT: usize = 200;
const MAX_REPLACED_BYTES: usize = 4 << 20;

/// Substitutions defined in a file.
pub(super) struct Replacements {
    texts: HashMap<String, String>,
    left: Cell<usize>,
}

impl Default for Replacements {
    fn default() -> Self {
        Replacements { texts: HashMap::new(), left: Cell::new(MAX_REPLACED_BYTES) }
    }
}

impl Replacements {
    pub(super) fn insert(&mut self, name: &str, text: &str) {
        self.texts.insert(name.to_lowercase(), text.chars().take(MAX_REPLACEMENT).collect());
    }

    /// Returns the text of a name while the size limit allows it.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let text = self.texts.get(&name.to_lowercase())?;
        self.left.set(self.left.get().checked_sub(text.len())?);
        Some(text)
    }
}

/// Writes Markdown, block by block.
#[derive(Default)]
pub(super) struct Writer {
    out: String,
    /// Indentation of the items of the open list in the source, outermost first.
    indents: Vec<usize>,
}

impl Writer {
    pub(super) fn heading(&mut self, level: usize, words: &str) {
        self.indents.clear();
        if !words.is_empty() {
            self.out.push_str(&format!("{} {words}\n\n", "#".repeat(level.clamp(1, 6))));
        }
    }

    pub(super) fn paragraph(&mut self, words: &str) {
        self.indents.clear();
        if !words.trim().is_empty() {
            self.out.push_str(&literal(words.trim()));
            self.out.push_str("\n\n");
        }
    }

    /// Writes a list item at `indent` columns; deeper items are children of the previous one.
    pub(super) fn item(&mut self, indent: usize, mark: &str, words: &str) {
        // Items of one list are written without empty lines between them.
        if !self.indents.is_empty() {
            self.out.pop();
        }
        while self.indents.last().is_some_and(|last| *last > indent) {
            self.indents.pop();
        }
        if self.indents.last().is_none_or(|last| *last < indent) {
            self.indents.push(indent);
        }
        let depth = (self.indents.len() - 1).min(6);
        self.out.push_str(&format!("{}{mark} {}\n\n", "   ".repeat(depth), literal(words.trim())));
    }

    /// Writes a code block.
    pub(super) fn code(&mut self, language: &str, lines: &[&str]) {
        self.indents.clear();
        let start = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(lines.len());
        let end = lines.iter().rposition(|line| !line.trim().is_empty()).map_or(start, |at| at + 1);
        if start == end {
            return;
        }
        let longest = lines.iter().flat_map(|line| line.split(|c| c != '`')).map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let language: String = language.chars().take_while(|c| c.is_alphanumeric() || "+-#_".contains(*c)).collect();
        self.out.push_str(&format!("{fence}{language}\n{}\n{fence}\n\n", dedent(&lines[start..end]).join("\n")));
    }

    /// Writes a table whose first row is the head.
    pub(super) fn table(&mut self, rows: &[Vec<String>]) {
        self.indents.clear();
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        // Very sparse rows, whose padding would be unbounded, are written as paragraphs.
        if width * rows.len() <= 4 * rows.iter().map(Vec::len).sum::<usize>() {
            tables::write(rows, &mut self.out);
        } else {
            rows.iter().for_each(|row| self.paragraph(&row.join(" ")));
        }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }
}

/// Escapes text, keeping marks of emphasis and code.
fn literal(words: &str) -> String {
    let marks = words.len() - words.trim_start_matches(['*', '`', '_']).len();
    let (marks, rest) = words.split_at(marks);
    if marks.is_empty() || marks.len() > 2 || rest.is_empty() || rest.starts_with(char::is_whitespace) {
        return tables::literal(words);
    }
    format!("{marks}{}", tables::literal(rest))
}

/// Returns the indentation of a line in columns; a tab advances to the next multiple of eight.
pub(super) fn indent(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).fold(0, |at, c| if c == '\t' { at / 8 * 8 + 8 } else { at + 1 })
}

/// Removes at most `columns` of white space from the start of a line.
pub(super) fn skip_indent(line: &str, columns: usize) -> &str {
    let white = line.len() - line.trim_start().len();
    let end = line[..white].char_indices().nth(columns).map_or(white, |(at, _)| at);
    &line[end..]
}

/// Removes the common indentation of the lines.
pub(super) fn dedent<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    let white = |line: &&&str| line.chars().take_while(|c| c.is_whitespace()).count();
    let common = filled.map(|line| white(&line)).min().unwrap_or(0);
    lines.iter().map(|line| skip_indent(line, common).trim_end()).collect()
}

/// Splits a list item into its marker and text: `-`, or the number for `1.`, `1)`, `(1)`, `#.` and `a.`.
pub(super) fn list_item<'a>(line: &'a str, bullets: &[char]) -> Option<(String, &'a str)> {
    let (mark, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let mut chars = mark.chars();
    if let (Some(first), None) = (chars.next(), chars.next()) {
        return bullets.contains(&first).then(|| ("-".to_owned(), rest.trim_start()));
    }
    let number = mark.strip_suffix(['.', ')'])?.trim_start_matches('(');
    let is_number = !number.is_empty() && number.len() <= 3 && number.bytes().all(|b| b.is_ascii_digit());
    let is_counted = number == "#" || (number.len() == 1 && number.bytes().all(|b| b.is_ascii_alphabetic()));
    let mark = if is_number { format!("{number}.") } else { "1.".to_owned() };
    (!rest.is_empty() && (is_number || is_counted)).then(|| (mark, rest.trim_start()))
}
