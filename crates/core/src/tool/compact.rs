//! A compact text format for results: equivalent to JSON, with less than half the tokens.
//!
//! ```text
//! block  = object | table | list | inline        one space of indent for each level
//! object = key: inline                           one line per field
//!        | key:                                  a block of the next level follows
//!        | key: |                                a text follows, each of its lines indented, empty ones empty
//! table  = # key | key | key = inline            then one line per object: its values in that order; missing values
//!          inline | inline                       are `-`, or omitted at the end. Values that all objects share are
//!                                                written once, in the first line
//! list   = - inline                              one line per item
//! inline = null | true | 12 | .5                 `.5` is 0.5
//!        | [inline; inline]                      a list of values
//!        | ={"json": 1}                          anything else, as JSON
//!        | "json string"                         a text that is ambiguous without quotes
//!        | any other text                        as it is
//! ```
//!
//! A text is unquoted only if it is one line and cannot be mistaken for structure: data can neither end its field nor start another, and
//! cannot contain the delimiters of `<data>`. A top-level text is always quoted.
//!
//! Tables are inspired by TOON (Token-Oriented Object Notation); the marks are chosen by their token cost.

use serde_json::{Map, Value};

use crate::mark::is_marked;

/// Deeper values are written as JSON.
const MAX_DEPTH: usize = 5;

/// Renders a value.
pub fn render(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::String(text) => out.push_str(&quote(text)),
        value => match inline(value) {
            Some(text) => out.push_str(&text),
            None => block(&mut out, value, 0),
        },
    }
    out
}

/// Renders a text in a field, quoted if it is ambiguous.
pub fn word(text: &str) -> String {
    if is_bare(text) { text.to_owned() } else { quote(text) }
}

/// Renders a value in one line: a scalar, a list of scalars, or JSON.
pub fn cell(value: &Value) -> String {
    inline(value).unwrap_or_else(|| json(value))
}

/// Renders a name, also quoted if it contains white space.
pub fn name(text: &str) -> String {
    if is_bare(text) && !text.contains(char::is_whitespace) { text.to_owned() } else { quote(text) }
}

/// Appends the remaining fields of an object to `out`, one per line.
pub fn rest(out: &mut String, fields: &Map<String, Value>) {
    object(out, fields, 0);
}

fn line(out: &mut String, depth: usize) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.extend(std::iter::repeat_n(' ', depth));
}

fn block(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(fields) => object(out, fields, depth),
        Value::Array(items) => match columns(items) {
            Some(columns) => table(out, items, &columns, depth),
            None => {
                for item in items {
                    line(out, depth);
                    out.push_str("- ");
                    out.push_str(&cell(item));
                }
            }
        },
        scalar => {
            line(out, depth);
            out.push_str(&cell(scalar));
        }
    }
}

fn object(out: &mut String, fields: &Map<String, Value>, depth: usize) {
    for (key, value) in fields {
        line(out, depth);
        out.push_str(&self::key(key));
        out.push(':');
        match value {
            Value::String(text) if is_block(text) => {
                out.push_str(" |");
                for one in text.split('\n') {
                    out.push('\n');
                    if !one.is_empty() {
                        out.extend(std::iter::repeat_n(' ', depth + 1));
                        out.push_str(one);
                    }
                }
            }
            value => match inline(value) {
                Some(text) => {
                    out.push(' ');
                    out.push_str(&text);
                }
                None if depth < MAX_DEPTH => block(out, value, depth + 1),
                None => {
                    out.push(' ');
                    out.push_str(&json(value));
                }
            },
        }
    }
}

/// Returns the keys of a list of objects, those common to all first.
fn columns(items: &[Value]) -> Option<Vec<&str>> {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for item in items {
        let fields = item.as_object().filter(|fields| !fields.is_empty())?;
        for key in fields.keys() {
            match counted.iter_mut().find(|(known, _)| known == key) {
                Some((_, count)) => *count += 1,
                None => counted.push((key, 1)),
            }
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Some(counted.into_iter().map(|(key, _)| key).collect())
}

fn table(out: &mut String, items: &[Value], columns: &[&str], depth: usize) {
    // At least one column remains: without any, the number of lines would be lost.
    let is_common = |column: &&str| {
        let first = items[0].get(column);
        items.len() > 1 && first.is_some() && items.iter().all(|item| item.get(column) == first)
    };
    let mut columns: Vec<&str> = columns.to_vec();
    let common: Vec<&str> = columns.iter().copied().filter(is_common).collect();
    columns.retain(|column| !common.contains(column));
    let (columns, common) = if columns.is_empty() { (common, Vec::new()) } else { (columns, common) };
    line(out, depth);
    let said = common.iter().map(|column| format!("{} = {}", key(column), cell(&items[0][column])));
    let header: Vec<String> = columns.iter().map(|column| key(column)).chain(said).collect();
    out.push_str("# ");
    out.push_str(&header.join(" | "));
    for item in items {
        line(out, depth);
        let last = columns.iter().rposition(|column| item.get(column).is_some());
        let shown = &columns[..last.map_or(1, |last| last + 1)];
        let cells: Vec<String> = shown.iter().map(|column| item.get(column).map_or("-".to_owned(), cell)).collect();
        out.push_str(&cells.join(" | "));
    }
}

fn key(key: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '$');
    if !key.is_empty() && key.chars().all(plain) { key.to_owned() } else { quote(key) }
}

/// Renders a scalar, a list of scalars, or an empty value.
fn inline(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(word(text)),
        Value::Number(number) => {
            let text = number.to_string();
            Some(match text.strip_prefix("0.") {
                Some(digits) => format!(".{digits}"),
                None => text,
            })
        }
        Value::Array(items) => {
            if items.iter().any(|item| item.is_array() || item.is_object()) {
                return None;
            }
            let item = |item: &Value| match item {
                Value::String(text) if text.contains([';', ']']) => quote(text),
                other => cell(other),
            };
            Some(format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join("; ")))
        }
        Value::Object(fields) => fields.is_empty().then(|| "={}".to_owned()),
        Value::Null | Value::Bool(_) => Some(value.to_string()),
    }
}

fn json(value: &Value) -> String {
    format!("={}", escape(value.to_string()))
}

/// Returns a text in quotes, as JSON.
pub fn quote(text: &str) -> String {
    escape(Value::from(text).to_string())
}

/// Escapes characters in JSON that end a delimiter or, for some parsers, a line.
fn escape(json: String) -> String {
    if !json.contains(['<', '\u{2028}', '\u{2029}', '\u{85}']) {
        return json;
    }
    json.replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
        .replace('\u{85}', "\\u0085")
}

/// Returns whether a text can be written unquoted.
fn is_bare(text: &str) -> bool {
    let taken = |text: &str| matches!(text, "null" | "true" | "false") || text.parse::<f64>().is_ok();
    !text.is_empty()
        && text.trim() == text
        && !text.starts_with(['"', '[', '{', '=', '|', '-', '#'])
        && !text.contains(" | ")
        && !text.ends_with(" |")
        && !text.chars().any(breaks)
        && !taken(text)
        && !is_marked(text)
}

/// Returns whether a text can be written as a block.
fn is_block(text: &str) -> bool {
    text.contains('\n') && !text.chars().any(|c| breaks(c) && c != '\n' && c != '\t') && !is_marked(text)
}

fn breaks(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests;
