//! Round trips: a parser of the grammar, independent of the renderer.

use serde_json::{Map, Value, json};

use super::render;

/// Parses a text of the grammar.
struct Reader<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn read(text: &'a str) -> Value {
        let mut reader = Reader { lines: text.split('\n').collect(), at: 0 };
        let first = reader.lines[0];
        let is_block = first.starts_with("# ") || first.starts_with("- ") || Self::key(first).is_some();
        let value = if is_block {
            reader.block(0)
        } else {
            reader.at = 1;
            let (value, rest) = inline(first, &[]);
            assert_eq!(rest, "", "{first}");
            value
        };
        assert_eq!(reader.at, reader.lines.len(), "something is left of {text}");
        value
    }

    /// Returns the next line, if it has this level.
    fn next(&self, depth: usize) -> Option<&'a str> {
        let line = self.lines.get(self.at)?.strip_prefix(&" ".repeat(depth))?;
        (!line.starts_with(' ')).then_some(line)
    }

    /// Returns a key, and the text after its colon.
    fn key(line: &str) -> Option<(String, &str)> {
        let (key, rest) = if line.starts_with('"') {
            let (key, rest) = parsed(line)?;
            (key.as_str()?.to_owned(), rest)
        } else {
            let end = line.find(|c: char| !(c.is_alphanumeric() || "_./$".contains(c)))?;
            (line[..end].to_owned(), &line[end..])
        };
        let rest = rest.strip_prefix(':')?;
        (rest.is_empty() || rest.starts_with(' ')).then_some((key, rest.strip_prefix(' ').unwrap_or(rest)))
    }

    fn block(&mut self, depth: usize) -> Value {
        let first = self.next(depth).expect("a block");
        if let Some(header) = first.strip_prefix("# ") {
            self.at += 1;
            return self.table(header, depth);
        }
        if first.starts_with("- ") {
            let mut items: Vec<Value> = Vec::new();
            while let Some(item) = self.next(depth).and_then(|line| line.strip_prefix("- ")) {
                self.at += 1;
                items.push(inline(item, &[]).0);
            }
            return items.into();
        }
        let mut fields = Map::new();
        while let Some((key, rest)) = self.next(depth).and_then(Self::key) {
            self.at += 1;
            let value = match rest {
                "|" => self.text(depth + 1).into(),
                "" => self.block(depth + 1),
                rest => {
                    let (value, left) = inline(rest, &[]);
                    assert_eq!(left, "", "{rest}");
                    value
                }
            };
            assert!(fields.insert(key.clone(), value).is_none(), "{key} twice");
        }
        fields.into()
    }

    fn text(&mut self, depth: usize) -> String {
        let mut text = Vec::new();
        while let Some(line) = self.lines.get(self.at) {
            match line.strip_prefix(&" ".repeat(depth)) {
                Some(line) => text.push(line),
                None if line.is_empty() => text.push(""),
                None => break,
            }
            self.at += 1;
        }
        text.join("\n")
    }

    fn table(&mut self, header: &str, depth: usize) -> Value {
        let (mut keys, mut common) = (Vec::new(), Map::new());
        let mut left = header;
        loop {
            let (key, mut rest) = inline(left, &[" | ", " = "]);
            let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
            match rest.strip_prefix(" = ") {
                Some(said) => {
                    let (value, after) = inline(said, &[" | "]);
                    common.insert(key, value);
                    rest = after;
                }
                None => keys.push(key),
            }
            let Some(rest) = rest.strip_prefix(" | ") else { break };
            left = rest;
        }
        let mut items: Vec<Value> = Vec::new();
        while let Some(mut left) = self.next(depth) {
            self.at += 1;
            let mut fields = common.clone();
            for key in &keys {
                let missing = left == "-" || left.starts_with("- | ");
                let (value, rest) = if missing { (Value::Null, &left[1..]) } else { inline(left, &[" | "]) };
                if !missing {
                    fields.insert(key.clone(), value);
                }
                left = rest;
                let Some(rest) = left.strip_prefix(" | ") else { break };
                left = rest;
            }
            assert_eq!(left, "", "too many cells");
            items.push(fields.into());
        }
        items.into()
    }
}

/// Returns the JSON value at the start of a text, and the rest.
fn parsed(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

/// Returns a value that ends at the end of the line or before one of the marks.
fn inline<'a>(text: &'a str, marks: &[&str]) -> (Value, &'a str) {
    if text.starts_with('"') {
        return parsed(text).expect("a JSON string");
    }
    if let Some(json) = text.strip_prefix('=') {
        return parsed(json).expect("JSON");
    }
    if let Some(mut left) = text.strip_prefix('[') {
        let mut items: Vec<Value> = Vec::new();
        while !left.starts_with(']') {
            let (item, rest) = inline(left, &["; ", "]"]);
            items.push(item);
            left = rest.strip_prefix("; ").unwrap_or(rest);
        }
        return (items.into(), &left[1..]);
    }
    let end = marks.iter().filter_map(|mark| text.find(mark)).min().unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let value = match word {
        "null" => Value::Null,
        "true" => true.into(),
        "false" => false.into(),
        word => match serde_json::from_str(&word.strip_prefix('.').map_or(word.to_owned(), |rest| format!("0.{rest}")))
        {
            Ok(Value::Number(number)) => number.into(),
            _ => word.into(),
        },
    };
    (value, rest)
}

fn check(value: &Value) -> String {
    let text = render(value);
    assert_eq!(Reader::read(&text), *value, "{text}");
    for mark in ["<data", "</data"] {
        assert!(!text.to_lowercase().contains(mark), "{text}");
    }
    text
}

#[test]
fn renders_a_list_of_objects_as_a_table() {
    let text = check(&json!([
        {"kind": "table", "id": "shop.orders", "relevance": 0.93, "description": "One row per order."},
        {"kind": "table", "id": "shop.lines", "relevance": 0.4, "joins": ["lines.order_id = orders.id", "a = b"]},
    ]));
    assert_eq!(
        text,
        "# id | relevance | description | joins | kind = table\n\
         shop.orders | .93 | One row per order.\n\
         shop.lines | .4 | - | [lines.order_id = orders.id; a = b]"
    );
}

#[test]
fn writes_common_values_once() {
    let text = check(&json!([{"type": "rest", "name": "a"}, {"type": "rest", "name": "b"}, {"type": "rest"}]));
    assert_eq!(text, "# name | type = rest\na\nb\n-");
    assert_eq!(check(&json!([{"a": 1}, {"a": 1}])), "# a\n1\n1");
}

#[test]
fn writes_one_line_per_field() {
    let text = check(&json!({
        "name": "rules", "content": "# Rules\n\nkey: value\n", "parts": {"a": 1, "b": []}, "truncated": true,
    }));
    assert_eq!(text, "name: rules\ncontent: |\n # Rules\n\n key: value\n\nparts:\n a: 1\n b: []\ntruncated: true");
}

/// Texts that could be mistaken for structure.
const HOSTILE: &[&str] = &[
    "",
    " ",
    "-",
    "- a",
    "# a | b",
    "|",
    "a | b",
    "a |",
    "[a; b]",
    "a; b",
    "a]",
    "={}",
    "\"",
    "\"a\"",
    "null",
    "true",
    "12",
    "-0",
    ".5",
    "1e9",
    "NaN",
    "a: b",
    "key:",
    "key: |",
    "a\nb",
    "a\n\n",
    "\n",
    "\n\n b: c\n",
    "a\r\nb",
    "a\tb",
    "</data>",
    "x <DATA> y",
    "< /data",
    "a\n</data>\nb",
    "\u{2028}next: line",
    "\u{85}",
    "\u{0}",
    "{\"a\": 1}",
    "<",
    "é日本",
    "unchanged: true",
    "---",
    "0.50",
    " lead",
    "trail ",
];

#[test]
fn data_cannot_imitate_structure() {
    for text in HOSTILE {
        check(&json!(text));
        check(&json!({"a": text, "b": 1}));
        check(&json!({*text: [text, text], "deep": {*text: {"x": {"y": text}}}}));
        check(&json!([{"a": text, "b": text}, {"b": text}, {"c": text}]));
        check(&json!([[text], {"a": text}, text]));
    }
}

#[test]
fn round_trips_any_value() {
    // A fixed sequence (the constants are Knuth's for MMIX): every run draws the same values.
    let mut state = 7_u64;
    let mut draw = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    fn value(draw: &mut impl FnMut(usize) -> usize, depth: usize) -> Value {
        match draw(if depth > 7 { 5 } else { 9 }) {
            0 => Value::Null,
            1 => (draw(2) == 0).into(),
            2 => (draw(2_000) as i64 - 1_000).into(),
            3 => json!((draw(2_000) as f64 - 1_000.0) / 128.0),
            4 | 5 => HOSTILE[draw(HOSTILE.len())].into(),
            6 => (0..draw(4)).map(|_| value(draw, depth + 1)).collect(),
            _ => (0..draw(4))
                .map(|n| (format!("k{n}{}", HOSTILE[draw(HOSTILE.len())]), value(draw, depth + 1)))
                .collect(),
        }
    }
    for _ in 0..3_000 {
        check(&value(&mut draw, 0));
    }
}
