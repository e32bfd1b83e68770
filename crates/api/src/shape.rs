//! Renders shapes as JSON, with objects as `{field: type}` and lists as `[type]`, as deep as the space allows. Keys
//! that start with `$` are annotations (`$required`, `$one_of`, `$any_of`, `$content`, `$cycle`, `$cut`,
//! `$unresolved`); `*` is any key. An object beyond the depth is shown with its key fields (`id`, `name`) and its
//! name as `$cut`, or completely if it has few scalar fields.

use std::collections::BTreeMap;

use prospector_text::{
    cut,
    identifiers::{self, LABEL_WORDS},
};
use serde_json::{Map, Value, json};

use crate::model::{Field, Shape};

/// Maximum number of parts rendered before a smaller depth is tried.
const MAX_PARTS: usize = 3_000;

/// Maximum number of values of an enumeration that are rendered, and that are stored per parameter.
const MAX_VALUES: usize = 20;
const MAX_KEPT: usize = 200;

/// Maximum length of a chain of type names.
const MAX_NAMES: usize = 48;

/// Maximum size in bytes of an object of scalar fields that is shown beyond the depth.
const MAX_SMALL: usize = 60;

/// Maximum number of key fields of an object beyond the depth.
const MAX_KEYS: usize = 4;

/// Returns whether a field identifies its object, or is its human-readable label.
fn is_key(name: &str) -> bool {
    let words = identifiers::words(name);
    let is_label = |only: &str| LABEL_WORDS.contains(&only) || matches!(only, "login" | "username");
    identifiers::is_identifier(&words) || matches!(words.as_slice(), [only] if is_label(only))
}

/// Side of the exchange; fields that only the other side writes are omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// What the caller sends.
    Request,
    /// What the caller receives.
    Response,
    /// All fields.
    Both,
}

impl Side {
    fn shows(self, field: &Field) -> bool {
        match self {
            Side::Request => !field.read_only,
            Side::Response => !field.write_only,
            Side::Both => true,
        }
    }
}

/// A value that fits into a space, and whether it was truncated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fitted {
    pub(crate) value: Value,
    pub(crate) cut: bool,
}

/// Named types.
pub(crate) type Types = BTreeMap<String, Shape>;

/// Returns the deepest rendering of a shape, of at most `deepest` levels of objects, that takes at most `room` bytes
/// of JSON.
pub(crate) fn fit(types: &Types, shape: &Shape, side: Side, deepest: usize, room: usize) -> Fitted {
    let rendered = |depth| {
        let mut rendering = Rendering { types, side, open: Vec::new(), parts: 0, cut: false };
        let value = rendering.value(shape, depth);
        Fitted { value, cut: rendering.cut }
    };
    for depth in (2..=deepest).rev() {
        let fitted = rendered(depth);
        if bytes(&fitted.value) <= room {
            return fitted;
        }
    }
    let flat = rendered(deepest.min(1));
    let cut = flat.cut || bytes(&flat.value) > room;
    Fitted { value: shrunk(flat.value, room), cut }
}

/// Returns the size of a value in bytes of JSON.
pub(crate) fn bytes(value: &Value) -> usize {
    value.to_string().len()
}

/// Resolves a chain of names; `None` if a name is unknown or the chain is circular.
pub(crate) fn find_type<'t>(types: &'t Types, mut name: &'t str) -> Option<(&'t str, &'t Shape)> {
    for _ in 0..MAX_NAMES {
        match types.get(name)? {
            Shape::Named(next) => name = next,
            shape => return Some((name, shape)),
        }
    }
    None
}

struct Rendering<'t> {
    types: &'t Types,
    side: Side,
    /// Types being rendered; another occurrence of one is a cycle.
    open: Vec<&'t str>,
    parts: usize,
    cut: bool,
}

impl<'t> Rendering<'t> {
    fn value(&mut self, shape: &'t Shape, depth: usize) -> Value {
        self.parts += 1;
        match shape {
            Shape::Word(word) => Value::String(word.clone()),
            _ if self.parts > MAX_PARTS => self.render_cut(label(shape)),
            Shape::List(item) => json!([self.value(item, depth)]),
            Shape::Object { fields, .. } if depth == 0 => self.outline(fields, "object"),
            Shape::Object { fields, rest, besides } => self.object(fields, rest.as_deref(), besides, depth),
            Shape::Named(name) => self.render_named(name, depth),
            Shape::OneOf(variants) => self.variants("$one_of", variants, depth),
            Shape::AnyOf(variants) => self.variants("$any_of", variants, depth),
            Shape::Content(media_type, None) => json!({ "$content": media_type }),
            Shape::Content(media_type, Some(body)) => match self.value(body, depth) {
                Value::Object(fields) => {
                    let mut all = Map::from_iter([("$content".to_owned(), json!(media_type))]);
                    all.extend(fields);
                    Value::Object(all)
                }
                body => json!({ "$content": media_type, "$body": body }),
            },
            Shape::Cycle(name) => json!({ "$cycle": name }),
            Shape::Cut(name) => self.render_cut(name),
            Shape::Unresolved(reference) => json!({ "$unresolved": cut::sentences(reference, 120) }),
        }
    }

    fn render_cut(&mut self, what: &str) -> Value {
        self.cut = true;
        json!({ "$cut": what })
    }

    fn render_named(&mut self, name: &'t str, depth: usize) -> Value {
        let Some((name, shape)) = find_type(self.types, name) else { return json!({ "$cycle": name }) };
        if self.open.contains(&name) {
            return json!({ "$cycle": name });
        }
        // Keeps the list around a type beyond the depth.
        if let (0, Shape::Object { fields, .. }) = (depth, shape) {
            return self.outline(fields, name);
        }
        self.open.push(name);
        let value = self.value(shape, depth);
        self.open.pop();
        value
    }

    /// Renders an object beyond the depth: completely if it is small, otherwise its key fields.
    fn outline(&mut self, fields: &'t [Field], name: &str) -> Value {
        let shown = fields.iter().filter(|field| self.side.shows(field));
        let plain: Map<String, Value> =
            shown.clone().filter_map(|field| Some((field.name.clone(), word_of(self.types, &field.shape)?))).collect();
        let needs_remark = self.side != Side::Response && shown.clone().any(|field| field.required);
        let is_whole = !plain.is_empty() && plain.len() == shown.count() && !needs_remark;
        if is_whole && bytes_of(&plain) <= MAX_SMALL {
            return Value::Object(plain);
        }
        self.cut = true;
        let mut out: Map<String, Value> = plain.into_iter().filter(|(name, _)| is_key(name)).take(MAX_KEYS).collect();
        out.insert("$cut".into(), json!(name));
        Value::Object(out)
    }

    fn object(&mut self, fields: &'t [Field], rest: Option<&'t Shape>, besides: &'t [Shape], depth: usize) -> Value {
        let shown: Vec<&'t Field> = fields.iter().filter(|field| self.side.shows(field)).collect();
        let mut out = Map::new();
        if self.side != Side::Response {
            let needed: Vec<&str> = shown.iter().filter(|f| f.required).map(|f| f.name.as_str()).collect();
            if !needed.is_empty() && needed.len() == shown.len() {
                out.insert("$required".into(), json!("all"));
            } else if !needed.is_empty() {
                out.insert("$required".into(), json!(needed));
            }
        }
        for field in shown {
            let value = self.value(&field.shape, depth - 1);
            out.insert(field.name.clone(), value);
        }
        if let Some(rest) = rest {
            let value = self.value(rest, depth - 1);
            out.insert("*".into(), value);
        }
        for more in besides {
            match self.value(more, depth) {
                Value::Object(more) => out.extend(more),
                word => _ = out.insert("$one_of".into(), word),
            }
        }
        Value::Object(out)
    }

    fn variants(&mut self, key: &str, variants: &'t [Shape], depth: usize) -> Value {
        let mut shapes: Vec<Value> = Vec::new();
        for variant in variants {
            let shape = self.value(variant, depth);
            if shapes.last() != Some(&shape) {
                shapes.push(shape);
            }
            if self.parts > MAX_PARTS {
                shapes.push(self.render_cut("more"));
                break;
            }
        }
        if shapes.len() == 1 {
            return shapes.remove(0);
        }
        let words: Vec<&str> = shapes.iter().filter_map(Value::as_str).collect();
        if words.len() == shapes.len() && words.len() <= 4 {
            return Value::String(words.join(" or "));
        }
        // If all variants are beyond the depth, their names suffice.
        let names: Vec<&str> = shapes.iter().filter_map(|shape| only_cut(shape)).collect();
        if names.len() == shapes.len() {
            return json!({ key: names });
        }
        json!({ key: shapes })
    }
}

/// Returns the rendering of a scalar, also of a named one or a list of one.
fn word_of(types: &Types, shape: &Shape) -> Option<Value> {
    match shape {
        Shape::Word(word) => Some(json!(word)),
        Shape::Named(name) => match find_type(types, name)?.1 {
            Shape::Word(word) => Some(json!(word)),
            _ => None,
        },
        Shape::List(item) => match &**item {
            Shape::Word(word) => Some(json!([word])),
            _ => None,
        },
        _ => None,
    }
}

fn bytes_of(fields: &Map<String, Value>) -> usize {
    fields.iter().map(|(name, value)| name.len() + 4 + bytes(value)).sum::<usize>() + 1
}

fn only_cut(shape: &Value) -> Option<&str> {
    let fields = shape.as_object().filter(|fields| fields.len() == 1)?;
    fields.get("$cut")?.as_str()
}

fn label(shape: &Shape) -> &str {
    match shape {
        Shape::Named(name) => name,
        Shape::List(item) => label(item),
        _ => "object",
    }
}

/// Returns the first fields or items that fit, with the number of omitted ones, and their names if the space allows.
fn shrunk(value: Value, room: usize) -> Value {
    /// Space for the `$cut` annotation.
    const REMARK: usize = 32;
    if bytes(&value) <= room {
        return value;
    }
    let room = room.saturating_sub(REMARK);
    match value {
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let all_names: usize = names.iter().map(|name| name.len() + 2).sum();
            // All names are more useful than the types of a few.
            let named = all_names < room / 2;
            let space = if named { room - all_names } else { room };
            let total = fields.len();
            // Annotations and identifiers take precedence.
            let is_first = |name: &str| name.starts_with('$') || is_key(name);
            let order =
                (0..total).filter(|at| is_first(&names[*at])).chain((0..total).filter(|at| !is_first(&names[*at])));
            let (mut shown, mut used) = (vec![false; total], 0);
            for at in order {
                let cost = names[at].len() + 4 + bytes(&fields[&names[at]]);
                if used + cost > space {
                    break;
                }
                used += cost;
                shown[at] = true;
            }
            let mut left: Vec<&str> = Vec::new();
            let mut kept = Map::new();
            for (at, (name, value)) in fields.into_iter().enumerate() {
                if shown[at] {
                    kept.insert(name, value);
                } else if used == 0 && at == 0 {
                    let room = space.saturating_sub(name.len() + 4);
                    kept.insert(name, shrunk(value, room));
                } else if !names[at].starts_with('$') {
                    left.push(&names[at]);
                }
            }
            if kept.len() < total {
                let mut remark = format!("{} more fields", left.len());
                if named {
                    remark.push_str(": ");
                    remark.push_str(&left.join(", "));
                }
                kept.insert("$cut".into(), json!(remark));
            }
            Value::Object(kept)
        }
        Value::Array(items) => {
            let (mut kept, mut used, total) = (Vec::new(), 0, items.len());
            for item in items {
                let cost = bytes(&item) + 1;
                if used + cost > room {
                    if kept.is_empty() {
                        kept.push(shrunk(item, room));
                    }
                    break;
                }
                used += cost;
                kept.push(item);
            }
            if kept.len() < total {
                kept.push(json!({ "$cut": format!("{} more", total - kept.len()) }));
            }
            Value::Array(kept)
        }
        Value::String(text) => Value::String(cut::sentences(&text, room / 4)),
        other => other,
    }
}

/// Renders the values of an enumeration on one line.
pub(crate) fn enumeration(values: &[Value]) -> String {
    let words: Vec<String> = list_values(values, MAX_VALUES).iter().map(word).collect();
    format!("enum: {}", words.join(" | "))
}

/// Returns the values of a parameter that are stored.
pub(crate) fn keep_values(values: &[Value]) -> Vec<Value> {
    list_values(values, MAX_KEPT)
}

/// Returns at most `most` values, followed by the number of omitted ones.
fn list_values(values: &[Value], most: usize) -> Vec<Value> {
    let short = |value: &Value| if is_short(value) { value.clone() } else { Value::String(word(value)) };
    let mut shown: Vec<Value> = values.iter().take(most).map(short).collect();
    if values.len() > shown.len() {
        shown.push(json!(format!("… {} more", values.len() - shown.len())));
    }
    shown
}

/// Returns whether a value is short enough to be shown in full.
pub(crate) fn is_short(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= 80,
        Value::Array(items) => items.len() <= 8 && bytes(value) <= 80,
        Value::Object(fields) => fields.len() <= 8 && bytes(value) <= 80,
        _ => true,
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => cut::sentences(text, 60),
        other => cut::sentences(&other.to_string(), 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shape: &Shape, room: usize) -> Value {
        let small = fit(&Types::new(), shape, Side::Response, 3, room);
        assert!(bytes(&small.value) <= room, "{}", bytes(&small.value));
        small.value
    }

    fn object(fields: impl IntoIterator<Item = (String, Shape)>) -> Shape {
        let field = |(name, shape)| Field { name, shape, required: false, read_only: false, write_only: false };
        Shape::Object { fields: fields.into_iter().map(field).collect(), rest: None, besides: Vec::new() }
    }

    fn word(text: &str) -> Shape {
        Shape::Word(text.to_owned())
    }

    #[test]
    fn uses_deepest_rendering_that_fits() {
        let mut deep = word("string");
        for _ in 0..4 {
            deep = object([("inner".to_owned(), deep), ("text".to_owned(), word(&"x".repeat(100)))]);
        }
        for (room, levels) in [(2_000, 3), (300, 2), (200, 1)] {
            let shown = check(&deep, room).to_string();
            assert_eq!(shown.matches("inner").count(), levels, "{shown}");
            assert!(shown.contains("$cut"));
        }
    }

    #[test]
    fn truncates_with_annotation() {
        let wide = |count: usize| object((0..count).map(|n| (format!("field_{n}"), word("string"))));
        let small = check(&wide(500), 1_800);
        assert_eq!(small["field_0"], "string");
        let shown = small.as_object().unwrap().len() - 1;
        assert_eq!(small["$cut"], format!("{} more fields", 500 - shown));

        let long = object((0..80).map(|n| (format!("field_{n}"), word("string (date-time) or null"))));
        let small = check(&long, 2_000);
        assert!(small["$cut"].as_str().unwrap().ends_with("field_78, field_79"), "{small}");

        let nested = Shape::List(Box::new(object([("items".to_owned(), Shape::List(Box::new(wide(500))))])));
        assert_eq!(check(&nested, 1_800), json!([{"items": [{"$cut": "object"}]}]));
        check(&word(&"é".repeat(5_000)), 1_800);
        check(&Shape::OneOf((0..900).map(|n| word(&n.to_string())).collect()), 1_800);
    }

    #[test]
    fn keeps_identifiers() {
        let fields = |names: &[&str]| object(names.iter().map(|name| ((*name).to_owned(), word("string"))));
        let song = fields(&["added_at", "duration", "explicit", "id", "isrc", "name", "popularity", "uri"]);
        let point = fields(&["x", "y"]);
        let deep = object([("at".to_owned(), point), ("items".to_owned(), Shape::List(Box::new(song)))]);
        let shown = fit(&Types::new(), &deep, Side::Response, 1, 1_800);
        let song = json!({"id": "string", "name": "string", "uri": "string", "$cut": "object"});
        assert_eq!(shown.value, json!({"at": {"x": "string", "y": "string"}, "items": [song]}));

        let wide =
            object((0..80).map(|n| (if n == 70 { "id".to_owned() } else { format!("field_{n}") }, word("string"))));
        assert_eq!(check(&wide, 400)["id"], "string");
    }

    #[test]
    fn long_enumeration_reports_omitted_values() {
        let values: Vec<Value> = (0..100).map(|n| json!(n)).collect();
        assert!(enumeration(&values).ends_with("19 | … 80 more"));
        assert_eq!(enumeration(&[json!("a"), Value::Null]), "enum: a | null");
    }

    #[test]
    fn limits_exponential_types() {
        // Every level has 40 fields of the next one: 40^6 parts in total.
        let level = |n: usize| {
            let next = Shape::Named(format!("L{}", n + 1));
            (format!("L{n}"), object((0..40).map(|f| (format!("f{f}"), next.clone()))))
        };
        let types: Types = (0..6).map(level).collect();
        let shown = fit(&types, &Shape::Named("L0".to_owned()), Side::Response, 6, 1_800);
        assert_eq!((shown.value["f0"].clone(), shown.cut), (json!({"$cut": "L1"}), true));
    }

    #[test]
    fn recognises_identifying_fields() {
        for (name, expected) in [
            ("id", true),
            ("uri", true),
            ("name", true),
            ("albumId", true),
            ("file_name", false),
            ("identity", false),
            ("", false),
        ] {
            assert_eq!(is_key(name), expected, "{name}");
        }
    }
}
