//! Converts AsciiDoc to Markdown: headings, attributes, blocks, lists, tables, and the text of macros.
//!
//! Source: "AsciiDoc Language Documentation", Eclipse. Works line by line, in linear time. All branches of conditions
//! are included; includes are ignored.

use super::{
    Converted,
    markup::{Replacements, Writer, indent, list_item},
};

mod inline;

/// Delimiters of verbatim blocks and of comments.
const FENCES: [(&str, Fence); 5] = [
    ("----", Fence::Code),
    ("....", Fence::Code),
    ("```", Fence::Code),
    ("++++", Fence::Silent),
    ("////", Fence::Silent),
];
/// Delimiters of blocks whose content is parsed as text.
const FRAMES: [&str; 4] = ["====", "****", "____", "--"];

#[derive(Clone, Copy, PartialEq)]
enum Fence {
    Code,
    Silent,
}

pub(super) fn read(text: &str) -> Converted {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut reader = Reader::default();
    let mut at = reader.header(&lines);
    while at < lines.len() {
        at = reader.block(&lines, at);
    }
    Converted { text: reader.out.finish(), ..reader.about }
}

#[derive(Default)]
struct Reader {
    out: Writer,
    about: Converted,
    attributes: Replacements,
    /// The attribute line (`[...]`) above a block.
    style: String,
}

impl Reader {
    /// Parses the document header: title, author, revision and attributes, up to an empty line.
    fn header(&mut self, lines: &[&str]) -> usize {
        let skipped = |line: &&&str| line.is_empty() || line.starts_with("//");
        let start = lines.iter().take_while(skipped).count();
        let Some(title) = lines.get(start).and_then(|line| line.strip_prefix("= ")) else { return start };
        let end = (start..lines.len()).find(|at| lines[*at].is_empty()).unwrap_or(lines.len());
        let mut people = 0;
        for line in &lines[start + 1..end] {
            if self.attribute(line) || line.starts_with("//") {
                continue;
            }
            people += 1;
            let name = if people == 1 { "author" } else { "revision" };
            let words = line.split(" <").next().unwrap_or(line);
            self.about.metadata.insert(name.to_owned(), words.to_owned());
        }
        let words = self.inline(title);
        self.out.heading(1, &words);
        end
    }

    /// Parses `:name: value`.
    fn attribute(&mut self, line: &str) -> bool {
        let Some((name, value)) = line.strip_prefix(':').and_then(|rest| rest.split_once(':')) else { return false };
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_!".contains(c));
        if !is_name || !(value.is_empty() || value.starts_with(' ')) {
            return false;
        }
        let value = self.inline(value.trim_end_matches('\\').trim());
        match name {
            "description" => self.about.description = Some(value.clone()),
            "keywords" => self.about.tags = value.split(',').map(|tag| tag.trim().to_owned()).collect(),
            "revdate" | "docdate" => self.about.last_updated = Some(value.clone()),
            "author" | "revnumber" => drop(self.about.metadata.insert(name.to_owned(), value.clone())),
            _ => {}
        }
        self.attributes.insert(name, &value);
        true
    }

    fn block(&mut self, lines: &[&str], at: usize) -> usize {
        let line = lines[at];
        if let Some((_, fence)) = FENCES.iter().find(|(mark, _)| line.starts_with(mark) && is_fence(line)) {
            let mark = &line[..fence_length(line)];
            let close = (at + 1..lines.len()).find(|end| lines[*end] == mark);
            let close = close.unwrap_or(lines.len());
            if *fence == Fence::Code {
                let language = self.style.split(',').nth(1).unwrap_or_default().trim().to_owned();
                let language = if language.is_empty() { line.trim_start_matches('`') } else { &language };
                let language = if line.starts_with(['-', '.']) && language == line { "" } else { language };
                self.out.code(language, &lines[at + 1..close]);
            }
            self.style.clear();
            return (close + 1).min(lines.len());
        }
        if line.starts_with("|===") || line.starts_with(",===") || line.starts_with(":===") {
            let close = (at + 1..lines.len()).find(|end| lines[*end] == line).unwrap_or(lines.len());
            self.table(&lines[at + 1..close], line.chars().next().unwrap_or('|'));
            self.style.clear();
            return (close + 1).min(lines.len());
        }
        if let Some(end) = self.line(lines, at) {
            return end;
        }
        let end = (at + 1..lines.len()).find(|at| ends_paragraph(lines[*at])).unwrap_or(lines.len());
        let style = std::mem::take(&mut self.style);
        if indent(line) > 0 || style.starts_with("source") || style.starts_with("listing") {
            self.out.code(style.split(',').nth(1).unwrap_or_default().trim(), &lines[at..end]);
            return end;
        }
        let words: Vec<&str> = lines[at..end].iter().map(|line| line.strip_suffix(" +").unwrap_or(line)).collect();
        let label = ["NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"].into_iter().find(|label| *label == style);
        let words = format!("{}{}", label.map(|label| format!("{label}: ")).unwrap_or_default(), words.join(" "));
        let words = self.inline(&words);
        self.out.paragraph(&words);
        end
    }

    /// Parses constructs recognised by their first line; `None` for a paragraph.
    fn line(&mut self, lines: &[&str], at: usize) -> Option<usize> {
        let line = lines[at];
        let next = Some(at + 1);
        if line.is_empty() || line == "+" || line == "<<<" || line == "'''" || line.starts_with("//") {
            return next;
        }
        if FRAMES.iter().any(|frame| line.starts_with(frame)) && is_fence(line) {
            return next;
        }
        if self.attribute(line) || is_directive(line) {
            return next;
        }
        let level = line.bytes().take_while(|byte| *byte == b'=').count();
        if let Some(words) = line[level..].strip_prefix(' ').filter(|_| (1..=6).contains(&level)) {
            let words = self.inline(words.trim());
            self.out.heading(level, &words);
            return next;
        }
        if let Some(level) = lines.get(at + 1).and_then(|below| underline(line, below)).filter(|_| indent(line) == 0) {
            let words = self.inline(line);
            self.out.heading(level, &words);
            return Some(at + 2);
        }
        if let Some(style) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            if !style.starts_with('[') {
                style.clone_into(&mut self.style);
            }
            return next;
        }
        if let Some((alt, macro_name)) = block_macro(line) {
            let words = if macro_name == "image" { self.inline(alt) } else { String::new() };
            self.out.paragraph(&words);
            return next;
        }
        if let Some(title) = line.strip_prefix('.').filter(|title| !title.starts_with(['.', ' ']) && !title.is_empty())
        {
            let words = self.inline(title);
            self.out.paragraph(&words);
            return next;
        }
        self.item(lines, at)
    }

    /// Parses a list item with its continuation lines.
    fn item(&mut self, lines: &[&str], at: usize) -> Option<usize> {
        let line = lines[at].trim_start();
        let (depth, mark, first) = if let Some((mark, rest)) = line.split_once(' ')
            && is_mark(mark)
        {
            (mark.len(), if mark.starts_with('.') { "1." } else { "-" }.to_owned(), rest)
        } else if let Some((mark, rest)) = list_item(line, &[]) {
            (1, mark, rest)
        } else if let Some((number, rest)) = line.strip_prefix('<').and_then(|rest| rest.split_once("> ")) {
            number.parse::<u32>().ok().map(|number| (1, format!("{number}."), rest))?
        } else {
            let (term, rest) = line.split_once("::").filter(|(_, rest)| rest.is_empty() || rest.starts_with(' '))?;
            let end = (at + 1..lines.len()).find(|at| ends_paragraph(lines[*at])).unwrap_or(lines.len());
            let rest = format!("{rest} {}", lines[at + 1..end].iter().map(|l| l.trim()).collect::<Vec<_>>().join(" "));
            let words = self.inline(&format!("{term}: {}", rest.trim()));
            self.out.paragraph(&words);
            return Some(end);
        };
        let end = (at + 1..lines.len()).find(|at| ends_item(lines[*at])).unwrap_or(lines.len());
        let rest = lines[at + 1..end].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        let words = self.inline(&format!("{first} {rest}"));
        self.out.item(depth, &mark, &words);
        Some(end)
    }

    /// Parses a table. The number of columns is given by `cols`, otherwise by the first line.
    fn table(&mut self, lines: &[&str], sign: char) {
        let mut cells: Vec<String> = Vec::new();
        let mut width = columns(&self.style);
        for line in lines.iter().filter(|line| !line.is_empty() && !line.starts_with("//")) {
            let parts: Vec<&str> = line.split(sign).collect();
            if sign != '|' {
                cells.extend(parts.iter().map(|cell| self.inline(cell.trim().trim_matches('"'))));
            } else {
                // Text before the first bar continues a cell, or is the specifier of the next one.
                for (n, part) in parts.iter().enumerate() {
                    let words = if n + 1 < parts.len() { strip_specifier(part) } else { part };
                    let words = self.inline(words.trim());
                    match cells.last_mut() {
                        Some(cell) if n == 0 => {
                            cell.push(' ');
                            cell.push_str(&words);
                        }
                        None if n == 0 => {}
                        _ => cells.push(words),
                    }
                }
            }
            width = width.or(Some(cells.len()).filter(|width| *width > 0));
        }
        let rows: Vec<Vec<String>> = cells.chunks(width.unwrap_or(1).max(1)).map(<[String]>::to_vec).collect();
        self.out.table(&rows);
    }

    fn inline(&self, text: &str) -> String {
        inline::plain(text, &self.attributes)
    }
}

/// Returns whether a line is a delimiter of four or more equal characters, or a Markdown fence.
fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.chars().all(|c| line.starts_with(c))
}

fn fence_length(line: &str) -> usize {
    if line.starts_with("```") { 3 } else { line.len() }
}

/// Removes the cell specifier (`2+`, `.3+`, `a`, `^.>h`) of the next cell.
fn strip_specifier(part: &str) -> &str {
    let (before, last) = part.rsplit_once(' ').unwrap_or(("", part));
    let is_specifier = last.len() <= 8 && last.chars().all(|c| c.is_ascii_digit() || "+*.<>^adehlms".contains(c));
    if is_specifier { before } else { part }
}

/// Returns the number of columns in `cols="1,2*,a"`.
fn columns(style: &str) -> Option<usize> {
    let rest = style.split_once("cols=")?.1;
    let list = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split(',').next()?,
    };
    let times = |part: &str| part.split_once('*').and_then(|(times, _)| times.trim().parse::<usize>().ok());
    let count: usize = list.split([',', ';']).map(|part| times(part).unwrap_or(1).min(1_000)).sum();
    (1..=1_000).contains(&count).then_some(count)
}

/// Returns the level of a two-line (Setext) title: the underline is as long as the title, plus or minus one.
fn underline(title: &str, below: &str) -> Option<usize> {
    let level = ['=', '-', '~', '^', '+'].iter().position(|sign| below.starts_with(*sign))? + 1;
    let length = title.chars().count();
    let is_near = below.len() >= 4 && below.len().abs_diff(length) <= 1 && is_fence(below);
    (is_near && title.starts_with(char::is_alphanumeric)).then_some(level)
}

/// Returns whether a line is a directive: `include::file[]`, `ifdef::name[]`, `toc::[]`.
fn is_directive(line: &str) -> bool {
    let word = line.split_once("::").map_or("", |(word, _)| word);
    ["include", "ifdef", "ifndef", "ifeval", "endif", "toc"].contains(&word) && line.ends_with(']')
}

/// Parses `image::file.png[text]` into the text and the name of the macro.
fn block_macro(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once("::")?;
    let is_macro = ["image", "video", "audio"].contains(&name) && line.ends_with(']');
    let alt = rest.trim_end_matches(']').split_once('[')?.1;
    is_macro.then(|| (alt.split(',').next().unwrap_or_default().trim_matches('"'), name))
}

fn ends_paragraph(line: &str) -> bool {
    let is_block = FENCES.iter().any(|(mark, _)| line.starts_with(mark)) || line.starts_with("|===");
    let is_frame = line.len() >= 4 && FRAMES.iter().any(|frame| line.starts_with(frame)) && is_fence(line);
    line.is_empty()
        || line == "+"
        || line == "--"
        || is_block
        || is_frame
        || (line.starts_with('[') && line.ends_with(']'))
}

/// Returns whether a word is a list marker: `*`, `**`, `.`, `..` or `-`.
fn is_mark(mark: &str) -> bool {
    mark == "-" || (1..=6).contains(&mark.len()) && ['*', '.'].iter().any(|sign| mark.chars().all(|c| c == *sign))
}

fn ends_item(line: &str) -> bool {
    let line = line.trim_start();
    let mark = line.split_once(' ').map_or("", |(mark, _)| mark);
    ends_paragraph(line)
        || is_mark(mark)
        || list_item(line, &[]).is_some()
        || line.contains(":: ")
        || line.ends_with("::")
}
