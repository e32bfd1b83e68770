//! Converts reStructuredText to Markdown: sections, lists, tables, literal blocks, and the text of directives and
//! roles.
//!
//! Source: "reStructuredText Markup Specification", Docutils. Works line by line, in linear time per level of
//! indentation; unrecognised constructs are treated as text.

use std::collections::BTreeMap;

use super::{
    Converted,
    markup::{Replacements, Writer, dedent, indent, list_item},
};

mod inline;
mod tables;

/// Maximum nesting depth of blocks; deeper ones are treated as text.
const MAX_DEPTH: usize = 12;
const BULLETS: [char; 4] = ['-', '*', '+', '•'];

/// Directives for layout or generation, without text of their own.
#[rustfmt::skip]
const SILENT: [&str; 22] = [
    "toctree", "contents", "index", "highlight", "include", "literalinclude", "raw", "role", "default-role",
    "sectnum", "target-notes", "header", "footer", "class", "currentmodule", "tabularcolumns", "bibliography",
    "unicode", "automodule", "autoclass", "autofunction", "module",
];
/// Directives with verbatim content.
#[rustfmt::skip]
const LITERAL: [&str; 14] = [
    "code", "code-block", "sourcecode", "parsed-literal", "math", "doctest", "testcode", "testoutput", "prompt",
    "graphviz", "mermaid", "productionlist", "console", "ipython",
];

pub(super) fn read(text: &str) -> Converted {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut reader = Reader { substitutions: substitutions(&lines), ..Reader::default() };
    reader.blocks(&lines, 0);
    Converted { text: reader.out.finish(), ..reader.about }
}

/// Collects `.. |name| replace:: text` definitions.
fn substitutions(lines: &[&str]) -> Replacements {
    let mut found = Replacements::default();
    for line in lines {
        let rest = line.trim_start().strip_prefix(".. |").and_then(|rest| rest.split_once("| replace::"));
        if let Some((name, text)) = rest {
            found.insert(name, text.trim());
        }
    }
    found
}

#[derive(Default)]
struct Reader {
    out: Writer,
    about: Converted,
    substitutions: Replacements,
    /// The adornments of sections, outermost first, and whether each is also used as an overline.
    levels: Vec<(char, bool)>,
    /// Whether any text besides the title was written; later fields are not document fields.
    has_text: bool,
}

impl Reader {
    fn blocks(&mut self, lines: &[&str], depth: usize) {
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            at = match () {
                () if line.is_empty() => at + 1,
                () if depth == 0 && self.section(&lines[at..]) => at + if rule(line).is_some() { 3 } else { 2 },
                () if line == ".." || line.starts_with(".. ") => self.explicit(lines, at, depth),
                () => match tables::table(&lines[at..]) {
                    Some((rows, taken)) => {
                        let rows: Vec<Vec<String>> =
                            rows.iter().map(|row| row.iter().map(|cell| self.inline(cell)).collect()).collect();
                        self.out.table(&rows);
                        at + taken
                    }
                    None if rule(line).is_some_and(|(_, length)| length >= 4) => at + 1,
                    None => self.text(lines, at, depth),
                },
            };
        }
    }

    /// Parses a title with underline and optional overline.
    fn section(&mut self, lines: &[&str]) -> bool {
        let (title, mark, length, is_framed) = match lines {
            [above, title, below, ..] if rule(above).is_some() && rule(above) == rule(below) => {
                let Some((mark, length)) = rule(above) else { return false };
                (title.trim(), mark, length, true)
            }
            [title, below, ..] if indent(title) == 0 && rule(title).is_none() => {
                let Some((mark, length)) = rule(below) else { return false };
                (*title, mark, length, false)
            }
            _ => return false,
        };
        let is_long = length >= title.chars().count() || length >= 4;
        if title.is_empty() || !is_long || !title.chars().any(char::is_alphanumeric) {
            return false;
        }
        let known = self.levels.iter().position(|level| *level == (mark, is_framed));
        let level = known.unwrap_or_else(|| {
            self.levels.push((mark, is_framed));
            self.levels.len() - 1
        });
        let words = self.inline(title);
        self.out.heading(level + 1, &words);
        true
    }

    /// Parses a directive, footnote, target or comment.
    fn explicit(&mut self, lines: &[&str], at: usize, depth: usize) -> usize {
        let end = block_end(lines, at + 1, 1);
        let head = lines[at][2..].trim_start();
        let body = dedent(&lines[at + 1..end]);
        if let Some((label, text)) = head.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            let words = self.inline(&format!("{text} {}", body.join(" ")));
            self.out.paragraph(&format!("[{label}] {words}"));
        } else if let Some((name, argument)) = head.split_once("::").filter(|(name, _)| is_name(name)) {
            self.directive(name, argument.trim(), &body, depth);
        }
        end
    }

    fn directive(&mut self, name: &str, argument: &str, body: &[&str], depth: usize) {
        let options = body.iter().take_while(|line| field(line).is_some()).count();
        let (options, body) = body.split_at(options);
        let said: BTreeMap<&str, &str> = options.iter().filter_map(|line| field(line)).collect();
        let plain = name.rsplit(':').next().unwrap_or(name);
        match plain {
            "meta" => said.into_iter().for_each(|(name, value)| self.describe(name, value)),
            _ if SILENT.contains(&plain) => {}
            _ if LITERAL.contains(&plain) => self.out.code(argument, body),
            "csv-table" => {
                self.paragraph(argument);
                let head = said.get("header").copied();
                let cells = |line: &str| -> Vec<String> {
                    line.split(',').map(|cell| self.inline(cell.trim().trim_matches('"'))).collect()
                };
                let rows: Vec<Vec<String>> = head.into_iter().chain(body.iter().copied()).map(cells).collect();
                self.out.table(&rows);
            }
            "list-table" => {
                self.paragraph(argument);
                let rows: Vec<Vec<String>> =
                    tables::list(body).iter().map(|row| row.iter().map(|cell| self.inline(cell)).collect()).collect();
                self.out.table(&rows);
            }
            "image" | "figure" => {
                self.paragraph(said.get("alt").unwrap_or(&""));
                self.inner(body, depth);
            }
            "note" | "warning" | "tip" | "important" | "caution" | "danger" | "hint" | "attention" | "error"
            | "seealso" | "deprecated" | "versionadded" | "versionchanged" => {
                let label = match plain {
                    "seealso" => "See also",
                    "versionadded" => "Added in version",
                    "versionchanged" => "Changed in version",
                    other => other,
                };
                let start = body.iter().position(|line| !line.is_empty()).unwrap_or(body.len());
                let end = (start..body.len()).find(|at| body[*at].is_empty()).unwrap_or(body.len());
                let first = format!("{argument} {}", body[start..end].join(" "));
                let (head, tail) = label.split_at(1);
                let sign = if label.ends_with("version") || plain == "deprecated" { "" } else { ":" };
                self.paragraph(&format!("{}{tail}{sign} {}", head.to_uppercase(), first.trim()));
                self.inner(&body[end..], depth);
            }
            _ => {
                self.paragraph(argument);
                self.inner(body, depth);
            }
        }
    }

    /// Parses a list item, field, block quote, definition or paragraph.
    fn text(&mut self, lines: &[&str], at: usize, depth: usize) -> usize {
        let line = lines[at];
        let columns = indent(line);
        if columns > 0 {
            let end = block_end(lines, at, columns);
            self.inner(&dedent(&lines[at..end]), depth);
            return end;
        }
        if let Some((mark, words)) = list_item(line, &BULLETS).filter(|_| depth < MAX_DEPTH) {
            let end = block_end(lines, at + 1, 1);
            return self.item(lines, at..end, &mark, words, depth);
        }
        if let Some((name, value)) = field(line) {
            let end = block_end(lines, at + 1, 1);
            let value =
                format!("{value} {}", lines[at + 1..end].iter().map(|l| l.trim()).collect::<Vec<_>>().join(" "));
            if self.has_text {
                let words = self.inline(&format!("{name}: {}", value.trim()));
                self.out.item(0, "-", &words);
            } else {
                self.describe(name, value.trim());
            }
            return end;
        }
        // An indented line directly below a line makes it a definition term.
        let is_over = |below: &str| below.is_empty() || (indent(below) > 0 && !line.starts_with('|'));
        let end = (at + 1..lines.len()).find(|below| is_over(lines[*below])).unwrap_or(lines.len());
        let words = lines[at..end].iter().map(|line| line.trim_start_matches("| ")).collect::<Vec<_>>().join(" ");
        if line.starts_with(">>> ") {
            self.out.code("python", &lines[at..end]);
            return end;
        }
        let is_literal = words.ends_with("::");
        let next = (end..lines.len()).find(|at| !lines[*at].is_empty()).unwrap_or(lines.len());
        let is_term = !is_literal && next == end && next < lines.len();
        let body = block_end(lines, next, 1);
        if is_literal {
            let said = words.trim_end_matches(':').trim_end();
            self.paragraph(&if said.is_empty() { String::new() } else { format!("{said}:") });
            if next < lines.len() && indent(lines[next]) > 0 {
                self.out.code("", &lines[next..body]);
                return body;
            }
        } else if is_term {
            let stop = (end..body).find(|at| lines[*at].is_empty()).unwrap_or(body);
            let first = lines[end..stop].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
            self.paragraph(&format!("{}: {first}", words.trim_end_matches(':')));
            self.inner(&dedent(&lines[stop..body]), depth);
            return body;
        } else {
            self.paragraph(&words);
        }
        end
    }

    fn item(&mut self, lines: &[&str], range: std::ops::Range<usize>, mark: &str, first: &str, depth: usize) -> usize {
        let body = dedent(&lines[range.start + 1..range.end]);
        let stop = |line: &&str| line.is_empty() || list_item(line, &BULLETS).is_some() || line.starts_with(".. ");
        let own = body.iter().position(stop).unwrap_or(body.len());
        let words = self.inline(&format!("{first} {}", body[..own].join(" ")));
        self.has_text = true;
        self.out.item(depth, mark, words.trim_end_matches("::"));
        if words.ends_with("::") {
            self.out.code("", &body[own..]);
        } else {
            self.inner(&body[own..], depth);
        }
        range.end
    }

    fn inner(&mut self, lines: &[&str], depth: usize) {
        if depth < MAX_DEPTH {
            self.blocks(lines, depth + 1);
        } else {
            self.paragraph(&lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" "));
        }
    }

    fn paragraph(&mut self, text: &str) {
        let words = self.inline(text);
        self.has_text |= !words.is_empty();
        self.out.paragraph(&words);
    }

    fn inline(&self, text: &str) -> String {
        inline::plain(text, &self.substitutions)
    }

    /// Stores a document field as metadata.
    fn describe(&mut self, name: &str, value: &str) {
        let words = self.inline(value);
        match name.split_whitespace().next().unwrap_or_default().to_lowercase().as_str() {
            "title" => self.about.title = Some(words),
            "description" | "abstract" => self.about.description = Some(words),
            "tags" | "keywords" => self.about.tags = words.split(',').map(|tag| tag.trim().to_owned()).collect(),
            "date" | "updated" | "modified" => self.about.last_updated = Some(words.trim_matches('$').to_owned()),
            other => drop(self.about.metadata.insert(other.to_owned(), words)),
        }
    }
}

/// Returns the end of the lines from `at` that are empty or indented by at least `columns`, without trailing empty
/// lines.
fn block_end(lines: &[&str], at: usize, columns: usize) -> usize {
    let end = (at..lines.len()).find(|at| !lines[*at].is_empty() && indent(lines[*at]) < columns);
    let end = end.unwrap_or(lines.len());
    (at..end).rev().find(|at| !lines[*at].is_empty()).map_or(at, |last| last + 1)
}

/// Returns the repeated character of an adornment line, and its length.
fn rule(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= 2 && line.chars().all(|c| c == mark)).then_some((mark, line.len()))
}

/// Parses `:name: value`.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix(':')?.split_once(':')?;
    let is_field = !name.is_empty() && !name.contains('`') && (value.is_empty() || value.starts_with(' '));
    is_field.then(|| (name, value.trim()))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_.:+".contains(c))
}
