//! Schemaless documents: values of any document store, their types and display.
//!
//! A column is a dotted path of names, `address.city`. If the path passes through a list, it means that field of every
//! item, and the type ends in `[]`.

pub(crate) mod compare;
pub(crate) mod inferred;

use serde_json::{Map, Value};

use crate::table::ColumnType;
use crate::{budget, display};

/// Maximum nesting depth of values.
pub(crate) const DEEPEST: usize = 32;

/// A value of a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    /// A null.
    Null,
    /// The store's name of the type, and the full value as JSON.
    Scalar(&'static str, Value),
    /// Names and values, in document order.
    Object(Vec<(String, Node)>),
    /// Items of any type.
    List(Vec<Node>),
}

impl Node {
    /// Converts it to JSON, without truncation.
    pub(crate) fn json(self) -> Value {
        match self {
            Node::Null => Value::Null,
            Node::Scalar(_, value) => value,
            Node::Object(fields) => {
                fields.into_iter().map(|(name, node)| (name, node.json())).collect::<Map<_, _>>().into()
            }
            Node::List(items) => items.into_iter().map(Node::json).collect::<Vec<_>>().into(),
        }
    }

    /// Converts it to the value of a row: lists and objects become JSON texts.
    #[cfg(any(feature = "cassandra", feature = "elasticsearch"))]
    pub(crate) fn cell(self) -> Value {
        match self.json() {
            value @ (Value::Array(_) | Value::Object(_)) => Value::String(value.to_string()),
            other => other,
        }
    }

    /// Returns the size in bytes, counted as in [`budget::size`].
    #[cfg(any(feature = "cassandra", feature = "elasticsearch"))]
    pub(crate) fn size(&self) -> usize {
        match self {
            Node::Null => 0,
            Node::Scalar(_, value) => budget::size(value),
            Node::Object(fields) => fields.iter().map(|(name, node)| name.len() + node.size() + 2 * budget::CELL).sum(),
            Node::List(items) => items.iter().map(|item| item.size() + budget::CELL).sum(),
        }
    }

    /// Returns the value at the path; for a list, the values in each item that has the path.
    pub(crate) fn at(&self, path: &str) -> Node {
        let mut found = Vec::new();
        let is_listed = self.collect(path, &mut found);
        match is_listed {
            true => Node::List(found.into_iter().cloned().collect()),
            false => found.first().map_or(Node::Null, |node| (*node).clone()),
        }
    }

    /// Returns the values at the path without nulls, with lists flattened.
    pub(crate) fn values(&self, path: &str) -> Vec<&Node> {
        let mut found = Vec::new();
        self.collect(path, &mut found);
        found.into_iter().flat_map(Node::flatten).collect()
    }

    /// Returns the items of a list, or the value itself; without nulls.
    pub(crate) fn flatten(&self) -> Vec<&Node> {
        match self {
            Node::Null => Vec::new(),
            Node::List(items) => items.iter().filter(|item| **item != Node::Null).collect(),
            other => vec![other],
        }
    }

    /// Collects the values at the path, and returns whether it passes through a list.
    fn collect<'a>(&'a self, path: &str, found: &mut Vec<&'a Node>) -> bool {
        match self {
            Node::List(items) => {
                for item in items.iter().filter(|item| matches!(item, Node::Object(_))) {
                    item.collect(path, found);
                }
                true
            }
            Node::Object(fields) => {
                let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
                match (fields.iter().find(|(known, _)| known == name), rest) {
                    (Some((_, node)), Some(rest)) => node.collect(rest, found),
                    (Some((_, node)), None) => {
                        found.push(node);
                        false
                    }
                    (None, _) => false,
                }
            }
            Node::Null | Node::Scalar(..) => false,
        }
    }
}

/// Returns the column type of a field from the store's names of the types in a sample or a schema, by descending
/// frequency: `int | string[]`.
pub(crate) fn column_type(declared: &str) -> ColumnType {
    let word = declared.to_lowercase();
    let starts = |words: &[&str]| words.iter().any(|start| word.starts_with(start));
    let is_all = |words: &[&str]| word.split(" | ").all(|part| words.contains(&part));
    match () {
        () if word.ends_with("[]") || starts(&["array", "list", "map"]) => ColumnType::Nested,
        () if starts(&["binary", "bindata"]) => ColumnType::Bytes,
        () if is_all(&["int", "long", "integer"]) => ColumnType::Integer,
        () if is_all(&["int", "long", "integer", "double", "decimal", "number"]) => ColumnType::Float,
        () if is_all(&["bool", "boolean"]) => ColumnType::Boolean,
        () if is_all(&["date"]) => ColumnType::Timestamp,
        () if word.contains("[]") => ColumnType::Other,
        () if word.contains("string") || word.contains("objectid") => ColumnType::Text,
        () => ColumnType::Other,
    }
}

/// Returns a JSON value for display: long texts are truncated, objects and lists become texts.
pub(crate) fn short(value: Value) -> Value {
    match value {
        Value::String(text) => display::text(&text),
        Value::Array(_) | Value::Object(_) => display::text(&value.to_string()),
        other => other,
    }
}

/// Like [`short`] for a document value; bytes are only counted.
pub(crate) fn brief(node: Node) -> Value {
    let is_bytes = matches!(node, Node::Scalar("binary" | "binData", _));
    match node.json() {
        // Two digits per byte, after `\x`.
        Value::String(digits) if is_bytes => display::blob(digits.len().saturating_sub(2) / 2),
        other => short(other),
    }
}

/// Returns a minimum or maximum if it is meaningful for the type.
pub(crate) fn end(node: Node) -> Option<Value> {
    match node {
        Node::Scalar("binary" | "binData", _) => None,
        Node::Scalar(..) => Some(brief(node)),
        Node::Null | Node::Object(_) | Node::List(_) => None,
    }
}

/// Whether a field can be named in a path: no segment is empty, an operator, or contains a NUL character.
pub(crate) fn is_usable(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('$') && !name.contains(['.', '\0'])
}

#[cfg(test)]
pub(crate) use tests::node;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Converts JSON to a document.
    pub(crate) fn node(value: Value) -> Node {
        match value {
            Value::Null => Node::Null,
            Value::Object(fields) => {
                Node::Object(fields.into_iter().map(|(name, value)| (name, node(value))).collect())
            }
            Value::Array(items) => Node::List(items.into_iter().map(node).collect()),
            Value::Bool(_) => Node::Scalar("bool", value),
            Value::Number(_) => Node::Scalar("int", value),
            Value::String(_) => Node::Scalar("string", value),
        }
    }

    #[test]
    fn merges_the_types_of_a_field() {
        let check = |declared: &str, expected| assert_eq!(column_type(declared), expected, "{declared}");
        check("int | long", ColumnType::Integer);
        check("int | double", ColumnType::Float);
        check("int | string", ColumnType::Text);
        check("objectId", ColumnType::Text);
        check("date", ColumnType::Timestamp);
        check("string[]", ColumnType::Nested);
        check("string[] | string", ColumnType::Other);
        check("binData", ColumnType::Bytes);
        check("null", ColumnType::Other);
    }

    #[test]
    fn paths_lead_into_lists() {
        let order = node(json!({
            "id": 7, "to": {"city": "Oslo"}, "tags": ["a", null],
            "items": [{"sku": "A", "lots": [{"n": 1}, {"n": 2}]}, {"sku": "B"}, 5]
        }));
        let check = |path: &str, whole: Value, values: usize| {
            assert_eq!(order.at(path).json(), whole, "{path}");
            assert_eq!(order.values(path).len(), values, "{path}");
        };
        check("id", json!(7), 1);
        check("to.city", json!("Oslo"), 1);
        check("to.gone", json!(null), 0);
        check("gone.city", json!(null), 0);
        check("id.city", json!(null), 0);
        check("tags", json!(["a", null]), 1);
        check("items.sku", json!(["A", "B"]), 2);
        check("items.lots.n", json!([1, 2]), 2);
    }
}
