//! Converts MDX to Markdown: prose and the text of components are kept; imports, exports and expressions are removed.
//!
//! Source: documentation of MDX 3. Line numbers are preserved. One pass over the text; unclosed constructs are treated
//! as text.

use super::markup::{indent, skip_indent};

/// Maximum distance to the end of a tag, expression or code span, in bytes, and maximum depth of braces in it.
const MAX_REACH: usize = 4_000;
const MAX_BRACES: usize = 12;
/// Maximum number of open elements; indentation is kept in deeper ones.
const MAX_OPEN: usize = 64;
/// Maximum number of lines of a statement after its first empty line.
const MAX_STATEMENT: usize = 40;
/// Component attributes that are visible to a reader.
const SHOWN: [&str; 10] =
    ["title", "label", "summary", "caption", "description", "alt", "heading", "header", "question", "term"];
/// Void elements of HTML.
const VOID: [&str; 7] = ["br", "hr", "img", "input", "source", "wbr", "col"];

/// Converts a text without front matter.
pub(super) fn read(text: &str) -> String {
    let mut reader = Reader { out: String::with_capacity(text.len()), open: Vec::new() };
    let mut rest = text;
    let mut is_start = true;
    while !rest.is_empty() {
        let line = first_line(rest);
        let own = reader.dedent(line);
        let before = line.len() - own.len();
        let is_code = fence_of(own).is_some();
        let is_statement = is_start && !is_code && is_statement(line);
        let taken = match fence_of(own) {
            Some(fence) => reader.code(rest, fence),
            None if is_statement => reader.blank(&rest[..statement_length(rest)]),
            None => before + reader.prose(&rest[before..]),
        };
        is_start = is_statement || line.trim().is_empty();
        rest = &rest[taken..];
    }
    reader.out
}

struct Reader {
    out: String,
    /// The open elements, each with the indentation of its content if known.
    open: Vec<Option<usize>>,
}

impl Reader {
    /// Removes the indentation due to enclosing elements: MDX has no indented code.
    fn dedent<'a>(&mut self, line: &'a str) -> &'a str {
        if line.trim().is_empty() {
            return line;
        }
        let own = indent(line);
        let is_end = line.trim_start().starts_with("</");
        match self.open.last_mut() {
            None => line,
            Some(Some(columns)) => skip_indent(line, *columns),
            Some(_) if is_end => line.trim_start(),
            Some(unknown) => {
                *unknown = Some(own);
                skip_indent(line, own)
            }
        }
    }

    /// Copies a fenced code block.
    fn code(&mut self, text: &str, fence: &str) -> usize {
        let mut taken = 0;
        while taken < text.len() {
            let line = first_line(&text[taken..]);
            let own = self.dedent(line);
            self.out.push_str(own);
            let words = own.trim();
            let is_end = taken > 0 && words.starts_with(fence) && words.chars().all(|c| fence.starts_with(c));
            taken += line.len();
            if is_end {
                break;
            }
        }
        taken
    }

    /// Skips a text except for its line ends.
    fn blank(&mut self, text: &str) -> usize {
        self.out.extend(text.matches('\n'));
        text.len()
    }

    /// Reads to the end of a line, or of a construct that starts on it; returns the number of bytes read.
    fn prose(&mut self, text: &str) -> usize {
        let mut rest = text;
        while let Some(at) = rest.find(['\n', '`', '\\', '<', '{']) {
            self.out.push_str(&rest[..at]);
            rest = &rest[at..];
            let near = &rest[..rest.floor_char_boundary(MAX_REACH)];
            let taken = match rest.as_bytes()[0] {
                b'\n' => {
                    self.out.push('\n');
                    return text.len() - rest.len() + 1;
                }
                b'`' => code_span(near).map(|end| (end, rest[..end].to_owned())),
                b'\\' => near.chars().nth(1).map(|c| (1 + c.len_utf8(), rest[..1 + c.len_utf8()].to_owned())),
                b'<' => tag_end(near).map(|end| (end, self.tag(&rest[..end]))),
                _ => expression_end(near).map(|end| (end, expression_text(&rest[..end]))),
            };
            let (end, words) = taken.filter(|(end, _)| *end > 0).unwrap_or((1, rest[..1].to_owned()));
            self.out.push_str(&words);
            if words.is_empty() || !words.contains('\n') {
                self.out.extend(rest[..end].matches('\n'));
            }
            rest = &rest[end..];
        }
        self.out.push_str(rest);
        text.len()
    }

    /// Returns the visible text of a tag, and opens or closes its element.
    fn tag(&mut self, tag: &str) -> String {
        let inner = tag.trim_start_matches('<').trim_end_matches('>');
        let name: String = inner.chars().take_while(|c| !c.is_whitespace() && *c != '/').collect();
        if inner.starts_with('/') {
            self.open.pop();
            return String::new();
        }
        let is_empty = inner.ends_with('/') || VOID.contains(&name.as_str()) || inner.starts_with('!');
        if !is_empty && self.open.len() < MAX_OPEN {
            self.open.push(None);
        }
        let shown: Vec<&str> =
            attributes(inner).filter(|(name, _)| SHOWN.contains(name)).map(|(_, text)| text).collect();
        match (shown.is_empty(), is_empty) {
            (true, _) => {
                if name == "br" {
                    " ".to_owned()
                } else {
                    String::new()
                }
            }
            (false, true) => shown.join(": "),
            (false, false) => format!("{}: ", shown.join(": ")),
        }
    }
}

fn first_line(text: &str) -> &str {
    &text[..text.find('\n').map_or(text.len(), |at| at + 1)]
}

/// Returns the fence of a code block.
fn fence_of(line: &str) -> Option<&str> {
    let words = line.trim_start();
    let sign = words.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = words.len() - words.trim_start_matches(sign).len();
    (length >= 3 && (sign == '~' || !words[length..].contains('`'))).then(|| &words[..length])
}

/// Returns whether a line starts an import or export statement.
fn is_statement(line: &str) -> bool {
    if let Some(rest) = line.strip_prefix("import ") {
        return rest.contains(" from ") || rest.trim_end().ends_with('{') || rest.starts_with(['\'', '"', '{', '*']);
    }
    let words = ["const", "let", "var", "default", "function", "async", "class", "type", "interface", "{", "*", "{}"];
    let after = line.strip_prefix("export ").and_then(|rest| rest.split([' ', '\n', '\r']).next());
    after.is_some_and(|word| words.contains(&word) || word.starts_with('{'))
}

/// Returns the length up to the first empty line at which all brackets are closed; otherwise up to the first empty
/// line.
fn statement_length(text: &str) -> usize {
    let (mut at, mut depth, mut first, mut behind) = (0, 0_isize, None, 0);
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            first.get_or_insert(at);
            if depth <= 0 {
                return at;
            }
        }
        behind += usize::from(first.is_some());
        if behind > MAX_STATEMENT {
            break;
        }
        depth +=
            line.bytes().map(|b| isize::from(b"{[(".contains(&b)) - isize::from(b"}])".contains(&b))).sum::<isize>();
        at += line.len();
    }
    if depth <= 0 && at == text.len() { at } else { first.unwrap_or(at) }
}

/// Returns the end of the code span at the start of the text.
fn code_span(text: &str) -> Option<usize> {
    let marks = &text[..text.len() - text.trim_start_matches('`').len()];
    let line = first_line(text);
    let mut at = marks.len();
    while let Some(found) = line.get(at..)?.find(marks) {
        at += found;
        let run = line[at..].len() - line[at..].trim_start_matches('`').len();
        if run == marks.len() {
            return Some(at + run);
        }
        at += run;
    }
    None
}

/// Returns the end of the tag or comment at the start of the text.
fn tag_end(text: &str) -> Option<usize> {
    if text.starts_with("<!--") {
        return text.find("-->").map(|at| at + 3);
    }
    if !text[1..].starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '>' | '_' | '$')) {
        return None;
    }
    let mut at = 1;
    while let Some(&byte) = text.as_bytes().get(at) {
        match byte {
            b'>' => return Some(at + 1),
            // A URL or another tag: the text is not a tag.
            b'<' | b':' if byte == b'<' || text[at..].starts_with("://") => return None,
            b'"' | b'\'' => at += text[at + 1..].find(char::from(byte))? + 2,
            b'{' => at += expression_end(&text[at..])?,
            _ => at += 1,
        }
    }
    None
}

/// Returns the end of the braced expression at the start of the text.
fn expression_end(text: &str) -> Option<usize> {
    let (mut at, mut depth) = (0, 0);
    while let Some(&byte) = text.as_bytes().get(at) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at + 1),
            b'}' => depth -= 1,
            b'"' | b'\'' | b'`' => at += text[at + 1..].find(char::from(byte)).map_or(0, |end| end + 1),
            b'/' if text[at..].starts_with("/*") => at += text[at..].find("*/")? + 1,
            _ => {}
        }
        if depth > MAX_BRACES {
            return None;
        }
        at += 1;
    }
    None
}

/// Returns the content of a string literal, or the identifier of a heading with its braces; otherwise an empty text.
fn expression_text(expression: &str) -> String {
    let inner = expression[1..expression.len() - 1].trim();
    if inner.starts_with('#') {
        return expression.to_owned();
    }
    let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let text =
        quote.and_then(|quote| inner.strip_prefix(quote)?.strip_suffix(quote).filter(|text| !text.contains(quote)));
    text.map(|text| text.replace("${", "{")).unwrap_or_default()
}

/// Iterates over the attributes of a tag.
fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = tag;
    std::iter::from_fn(move || {
        let (before, after) = rest.split_once(['='])?;
        let name = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let value = after.trim_start().trim_start_matches('{');
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        let Some((text, left)) = quote.and_then(|quote| value[1..].split_once(quote)) else {
            rest = after;
            return Some((name, ""));
        };
        rest = left;
        Some((name, text))
    })
    .filter(|(_, text)| !text.is_empty())
}
