//! Converts Org to Markdown: headings, blocks, lists, tables and the text of links. Keywords at the top become
//! metadata; drawers are removed.
//!
//! Source: "Org Syntax", Org project. Works line by line, in linear time; unrecognised constructs are treated as text.

use super::{
    Converted,
    markup::{Writer, indent, list_item},
};

const BULLETS: [char; 3] = ['-', '+', '*'];
/// Maximum length of a link, in bytes.
const MAX_LINK: usize = 1_000;
/// Maximum number of lines of a drawer.
const MAX_DRAWER: usize = 500;
/// Task states before a heading.
const STATES: [&str; 8] = ["TODO", "DONE", "NEXT", "WAITING", "HOLD", "CANCELED", "CANCELLED", "STARTED"];

pub(super) fn read(text: &str) -> Converted {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let last_end = lines.iter().rposition(|line| is_end(line)).unwrap_or(0);
    let mut reader = Reader { last_end, ..Reader::default() };
    let mut at = 0;
    while at < lines.len() {
        at = reader.block(&lines, at);
    }
    Converted { text: reader.out.finish(), ..reader.about }
}

#[derive(Default)]
struct Reader {
    out: Writer,
    about: Converted,
    /// The last line that closes a block.
    last_end: usize,
    /// The line up to which the end of a drawer was searched, and the result.
    searched: usize,
    drawer_end: Option<usize>,
}

impl Reader {
    fn block(&mut self, lines: &[&str], at: usize) -> usize {
        let line = lines[at];
        let words = line.trim_start();
        let stars = line.bytes().take_while(|byte| *byte == b'*').count();
        if let Some(heading) = line[stars..].strip_prefix(' ').filter(|_| stars > 0) {
            self.out.heading(stars, &inline(heading_text(heading)));
            return at + 1;
        }
        if let Some(rest) = words.strip_prefix("#+") {
            return self.keyword(lines, at, rest);
        }
        if words.is_empty() || words == "#" || words.starts_with("# ") || is_rule(words) {
            return at + 1;
        }
        if is_drawer(words) {
            // A drawer must end before the next heading. Lines are searched only once.
            if self.searched <= at {
                self.searched = lines.len().min(at + MAX_DRAWER);
                let is_over = |line: &str| line.trim().eq_ignore_ascii_case(":end:") || is_heading(line);
                self.drawer_end = (at + 1..self.searched).find(|at| is_over(lines[*at]));
                self.searched = self.drawer_end.unwrap_or(self.searched).max(at + 1);
            }
            return self.drawer_end.filter(|end| *end > at && !is_heading(lines[*end])).unwrap_or(at) + 1;
        }
        if words == ":" || words.starts_with(": ") {
            let end = (at..lines.len()).find(|at| !lines[*at].trim_start().starts_with(':')).unwrap_or(lines.len());
            let code: Vec<&str> = lines[at..end]
                .iter()
                .map(|line| line.trim_start()[1..].strip_prefix(' ').unwrap_or_default())
                .collect();
            self.out.code("", &code);
            return end;
        }
        if words.starts_with('|') {
            let end = (at..lines.len()).find(|at| !lines[*at].trim_start().starts_with('|')).unwrap_or(lines.len());
            let rows: Vec<Vec<String>> = lines[at..end]
                .iter()
                .map(|line| line.trim().trim_matches('|'))
                .filter(|line| !line.starts_with("-"))
                .map(|line| line.split('|').map(|cell| inline(cell.trim())).collect())
                .collect();
            self.out.table(&rows);
            return end;
        }
        let item = list_item(words, &BULLETS).filter(|_| !(words.starts_with('*') && indent(line) == 0));
        let end = (at + 1..lines.len()).find(|at| ends_paragraph(lines[*at])).unwrap_or(lines.len());
        let rest = lines[at + 1..end].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        match item {
            Some((mark, first)) => {
                let first = first.replacen(" :: ", ": ", 1);
                self.out.item(indent(line), &mark, &inline(format!("{first} {rest}").trim()));
            }
            None => self.out.paragraph(&inline(format!("{words} {rest}").trim())),
        }
        end
    }

    /// Parses the text after `#+`: the start of a block, or a document keyword.
    fn keyword(&mut self, lines: &[&str], at: usize, rest: &str) -> usize {
        let (name, value) = rest.split_once([':', ' ']).unwrap_or((rest, ""));
        let (name, value) = (name.to_lowercase(), value.trim());
        if let Some(block) = name.strip_prefix("begin_") {
            let is_shown = matches!(block, "src" | "example");
            if !is_shown && !matches!(block, "comment" | "export") || at >= self.last_end {
                return at + 1;
            }
            // Verbatim blocks cannot contain other blocks.
            let close = (at + 1..lines.len()).find(|at| is_end(lines[*at])).unwrap_or(lines.len());
            if is_shown {
                let language = value.split_whitespace().next().filter(|_| block == "src").unwrap_or_default();
                self.out.code(language, &lines[at + 1..close]);
            }
            return (close + 1).min(lines.len());
        }
        let words = inline(value);
        match name.as_str() {
            "title" => {
                let before = self.about.title.take().map(|title| title + " ").unwrap_or_default();
                self.about.title = Some(before + &words);
            }
            "description" => self.about.description = Some(words),
            "keywords" | "filetags" => {
                let tags = value.split(if name == "keywords" { [' ', ','] } else { [':', ' '] });
                self.about.tags.extend(tags.filter(|tag| !tag.is_empty()).map(str::to_owned));
            }
            "date" => self.about.last_updated = Some(words.trim_matches(['<', '>', '[', ']']).to_owned()),
            "author" | "email" | "language" | "subtitle" => drop(self.about.metadata.insert(name, words)),
            "caption" => self.out.paragraph(&words),
            _ => {}
        }
        at + 1
    }
}

/// Returns the text of a heading without task state, priority, progress and tags.
fn heading_text(heading: &str) -> &str {
    let mut words = heading.trim();
    if let Some((first, rest)) =
        words.split_once(' ').filter(|(first, _)| STATES.contains(first) || *first == "COMMENT")
    {
        words = if first.is_empty() { words } else { rest.trim_start() };
    }
    if let Some((_, rest)) =
        words.strip_prefix("[#").and_then(|rest| rest.split_once("] ")).filter(|(p, _)| p.len() == 1)
    {
        words = rest.trim_start();
    }
    if let Some((rest, tags)) = words.rsplit_once(' ').filter(|(_, tags)| is_drawer(tags)) {
        words = if tags.is_empty() { words } else { rest.trim_end() };
    }
    match words.rsplit_once(" [") {
        Some((rest, progress)) if progress.ends_with(']') && progress.contains(['/', '%']) => rest.trim_end(),
        _ => words,
    }
}

/// Returns whether a text is `:NAME:`, or the tags of a heading.
fn is_drawer(words: &str) -> bool {
    let inner = words.strip_prefix(':').and_then(|words| words.strip_suffix(':'));
    inner.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_@#%:".contains(c)))
}

/// Returns whether a line ends a block.
fn is_end(line: &str) -> bool {
    line.trim_start().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("#+end_"))
}

fn is_heading(line: &str) -> bool {
    line.starts_with('*') && line.trim_start_matches('*').starts_with(' ')
}

fn is_rule(words: &str) -> bool {
    words.len() >= 5 && words.bytes().all(|byte| byte == b'-')
}

fn ends_paragraph(line: &str) -> bool {
    let words = line.trim_start();
    let is_item = list_item(words, &BULLETS).is_some();
    words.is_empty()
        || is_item
        || is_heading(line)
        || words.starts_with("#+")
        || words.starts_with('|')
        || is_drawer(words)
}

/// Converts inline markup: links are reduced to their text, code is put in backquotes.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['[', '=', '~', '*']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let begins_word = out.chars().next_back().is_none_or(|c| c.is_whitespace() || "-('\"{".contains(c));
        let sign = &rest[..1];
        let marked = rest[1..].split_once(sign).filter(|(inner, after)| {
            let ends_word = after.chars().next().is_none_or(|c| !c.is_alphanumeric());
            begins_word && ends_word && inner.len() < 400 && !inner.is_empty() && inner.trim() == *inner
        });
        let link = rest.strip_prefix("[[").map(|link| &link[..link.floor_char_boundary(MAX_LINK)]);
        if let Some((link, after)) =
            link.and_then(|near| near.split_once("]]")).map(|(link, _)| (link, &rest[link.len() + 4..]))
        {
            out.push_str(link.split_once("][").map_or(link, |(_, text)| text));
            rest = after;
        } else if let Some((inner, after)) = marked.filter(|_| sign != "[") {
            let mark = if sign == "*" { "**" } else { "`" };
            out.push_str(&format!("{mark}{inner}{mark}"));
            rest = after;
        } else {
            out.push_str(sign);
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}
