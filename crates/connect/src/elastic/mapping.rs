//! Conversion of mappings to columns: objects are flattened to dotted paths; keyword subfields provide exact values of
//! texts.
//! <https://www.elastic.co/guide/en/elasticsearch/reference/current/mapping.html>

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::table::{Column, ColumnType};

/// Maximum nesting depth of objects.
const DEEPEST: usize = 32;

/// Maximum number of fields per table; further fields are omitted.
pub(super) const MAX_FIELDS: usize = 2_000;

/// The supported queries on a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The document id.
    Id,
    /// Texts indexed as a whole.
    Exact,
    /// Texts indexed as a whole that do not support patterns, such as IP addresses.
    Address,
    /// Texts indexed word by word.
    Words,
    Integer,
    Float,
    Date,
    Boolean,
    /// Any other type: readable, but not searchable.
    Opaque,
}

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// The dotted path.
    pub(super) name: String,
    pub(super) data_type: String,
    pub(super) shape: Shape,
    /// The subfield that indexes whole values, and the length above which it ignores them.
    pub(super) exact: Option<(String, Option<u64>)>,
    /// The enclosing nested list, whose objects are indexed separately.
    pub(super) nested: Option<String>,
    /// Whether it is absent from `_source`: a computed field or an alias.
    pub(super) is_computed: bool,
    description: Vec<String>,
}

impl Field {
    /// Returns the field of the document id.
    fn id() -> Field {
        Field {
            name: "_id".to_owned(),
            data_type: "keyword".to_owned(),
            shape: Shape::Id,
            exact: None,
            nested: None,
            is_computed: false,
            description: Vec::new(),
        }
    }

    pub(super) fn column(&self) -> Column {
        Column {
            name: self.name.clone(),
            data_type: self.data_type.clone(),
            column_type: column_type(&self.data_type),
            nullable: self.shape != Shape::Id,
            primary_key: self.shape == Shape::Id,
            description: self.description.join("; "),
            ..Column::default()
        }
    }

    /// Returns the field that can be aggregated and sorted.
    pub(super) fn countable_path(&self) -> Option<&str> {
        match self.shape {
            Shape::Exact | Shape::Words | Shape::Address => self.exact.as_ref().map(|(name, _)| name.as_str()),
            Shape::Integer | Shape::Float | Shape::Date | Shape::Boolean => Some(&self.name),
            Shape::Id | Shape::Opaque => None,
        }
    }
}

/// Returns the fields of several indices, and whether some were omitted; earlier indices take precedence.
pub(super) fn fields<'a>(mappings: impl Iterator<Item = &'a Value>) -> (Vec<Field>, bool) {
    let mut found: IndexMap<String, Field> = IndexMap::new();
    found.insert("_id".to_owned(), Field::id());
    for mapping in mappings {
        let mut own = Vec::new();
        if let Some(properties) = mapping.get("properties").and_then(Value::as_object) {
            read("", properties, None, 0, &mut own);
        }
        for (name, runtime) in mapping.get("runtime").and_then(Value::as_object).into_iter().flatten() {
            let mut field = leaf(name.clone(), runtime, None);
            field.is_computed = true;
            field.description.push("computed for each query".to_owned());
            own.push(field);
        }
        for field in own {
            match found.get_mut(&field.name) {
                Some(known) if known.data_type != field.data_type && known.shape != Shape::Id => {
                    let other = format!("{} in some of the indices", field.data_type);
                    if !known.description.contains(&other) {
                        known.description.push(other);
                    }
                    // Queries valid for one type would be rejected by the other.
                    known.shape = Shape::Opaque;
                }
                Some(_) => {}
                None => {
                    found.insert(field.name.clone(), field);
                }
            }
        }
    }
    let is_cut = found.len() > MAX_FIELDS;
    (found.into_values().take(MAX_FIELDS).collect(), is_cut)
}

fn read(path: &str, properties: &Map<String, Value>, nested: Option<&str>, depth: usize, found: &mut Vec<Field>) {
    for (name, field) in properties {
        let name = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let kind = field.get("type").and_then(Value::as_str);
        match field.get("properties").and_then(Value::as_object) {
            Some(inner) if depth < DEEPEST => {
                let nested = if kind == Some("nested") { Some(name.as_str()) } else { nested };
                read(&name, inner, nested, depth + 1, found);
            }
            _ if found.len() <= MAX_FIELDS => found.push(leaf(name, field, nested)),
            _ => return,
        }
    }
}

fn leaf(name: String, field: &Value, nested: Option<&str>) -> Field {
    let kind = field.get("type").and_then(Value::as_str).unwrap_or("object");
    let word = |key: &str| field.get(key).and_then(Value::as_str);
    let is_indexed = field.get("index") != Some(&Value::Bool(false));
    let mut description = Vec::new();
    for (key, value) in field.get("meta").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        description.push(if key == "description" { value } else { format!("{key}: {value}") });
    }
    if let Some(path) = nested {
        description.push(format!("one for each object of the list {path}"));
    }
    let mut data_type = kind.to_owned();
    let mut exact = None;
    let mut shape = shape(kind);
    let ignored = |field: &Value| field.get("ignore_above").and_then(Value::as_u64);
    if matches!(shape, Shape::Exact | Shape::Address) {
        exact = Some((name.clone(), ignored(field)));
    }
    for (sub, inner) in field.get("fields").and_then(Value::as_object).into_iter().flatten() {
        let inner_kind = inner.get("type").and_then(Value::as_str).unwrap_or("object");
        description.push(format!("also indexed as {name}.{sub} ({inner_kind})"));
        let is_plain = inner_kind == "keyword" && inner.get("normalizer").is_none();
        if shape == Shape::Words && exact.is_none() && is_plain && inner.get("index") != Some(&Value::Bool(false)) {
            exact = Some((format!("{name}.{sub}"), ignored(inner)));
        }
    }
    let mut is_computed = kind == "constant_keyword";
    if kind == "alias" {
        data_type = format!("alias of {}", word("path").unwrap_or_default());
        is_computed = true;
    }
    if !is_indexed || field.get("normalizer").is_some() {
        shape = Shape::Opaque;
    }
    if !is_indexed {
        description.push("not indexed".to_owned());
    }
    Field { name, data_type, shape, exact, nested: nested.map(str::to_owned), is_computed, description }
}

fn shape(kind: &str) -> Shape {
    match kind {
        "keyword" | "constant_keyword" | "wildcard" => Shape::Exact,
        "ip" | "version" => Shape::Address,
        "text" | "match_only_text" | "search_as_you_type" | "annotated_text" => Shape::Words,
        "long" | "integer" | "short" | "byte" | "unsigned_long" | "token_count" => Shape::Integer,
        "double" | "float" | "half_float" | "scaled_float" => Shape::Float,
        "date" | "date_nanos" => Shape::Date,
        "boolean" => Shape::Boolean,
        _ => Shape::Opaque,
    }
}

/// Maps a field type.
fn column_type(data_type: &str) -> ColumnType {
    match data_type {
        "long" | "integer" | "short" | "byte" => ColumnType::Integer,
        "double" | "float" | "half_float" | "scaled_float" => ColumnType::Float,
        "boolean" => ColumnType::Boolean,
        "date" | "date_nanos" => ColumnType::Timestamp,
        "keyword" | "constant_keyword" => ColumnType::Text,
        "text" | "match_only_text" | "annotated_text" | "semantic_text" => ColumnType::Text,
        "binary" => ColumnType::Bytes,
        // Includes objects, which may be in lists, addresses, and unsigned 64-bit numbers.
        _ => ColumnType::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(mappings: &[Value], expected: &[&str]) {
        let (found, is_cut) = fields(mappings.iter());
        let written: Vec<String> = found[1..]
            .iter()
            .map(|field| {
                let column = field.column();
                format!("{} {} {:?} {}", column.name, column.data_type, field.shape, column.description)
                    .trim()
                    .to_owned()
            })
            .collect();
        assert_eq!(written, expected);
        assert!(!is_cut);
        assert!(found[0].column().primary_key);
    }

    #[test]
    fn flattens_objects_and_notes_subfields() {
        let mapping = json!({"properties": {
            "name": {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}},
            "to": {"properties": {"city": {"type": "keyword", "meta": {"description": "where it goes"}}}},
            "items": {"type": "nested", "properties": {"n": {"type": "integer", "meta": {"unit": "pieces"}}}},
            "raw": {"type": "keyword", "index": false},
            "who": {"type": "alias", "path": "name"},
            "at": {"type": "geo_point"},
        }, "runtime": {"day": {"type": "date"}}});
        check(
            &[mapping],
            &[
                "name text Words also indexed as name.keyword (keyword)",
                "to.city keyword Exact where it goes",
                "items.n integer Integer unit: pieces; one for each object of the list items",
                "raw keyword Opaque not indexed",
                "who alias of name Opaque",
                "at geo_point Opaque",
                "day date Date computed for each query",
            ],
        );
    }

    #[test]
    fn notes_differing_types_between_indices() {
        let of = |kind: &str| json!({"properties": {"a": {"type": kind}}});
        check(&[of("long"), of("long")], &["a long Integer"]);
        check(&[of("long"), of("keyword"), of("keyword")], &["a long Opaque keyword in some of the indices"]);
        check(&[json!({}), json!({"properties": 5})], &[]);
    }

    #[test]
    fn limits_depth_and_number_of_fields() {
        let mut deep = json!({"type": "keyword"});
        for _ in 0..100 {
            deep = json!({"properties": {"a": deep}});
        }
        assert_eq!(fields([&deep].into_iter()).0.len(), 2);
        let many: Map<String, Value> = (0..5_000).map(|n| (format!("f{n}"), json!({"type": "long"}))).collect();
        let (found, is_cut) = fields([&json!({"properties": many})].into_iter());
        assert_eq!((found.len(), is_cut), (MAX_FIELDS, true));
    }
}
