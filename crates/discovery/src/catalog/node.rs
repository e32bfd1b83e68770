//! YAML as a tree with line numbers, so that each invalid entry is reported at its line and does not affect others.

use indexmap::IndexMap;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::Spanned;

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Placed>),
    Map(IndexMap<String, Placed>),
}

/// A value and the line where it starts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    pub(super) line: u64,
    pub(super) node: Node,
}

impl Node {
    /// Describes the value in messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Node::Null => "nothing".into(),
            Node::Bool(value) => format!("`{value}`"),
            Node::Number(value) => format!("the number {value}"),
            Node::Text(text) => format!("the text `{text}`"),
            Node::List(_) => "a list".into(),
            Node::Map(_) => "a mapping".into(),
        }
    }

    /// Describes the node without its text, which may be a secret: `headers` instead of a header.
    pub(super) fn describe_kind(&self) -> String {
        if let Node::Text(_) = self { "a text".into() } else { self.describe() }
    }

    /// Returns a text, or a number as written.
    pub(super) fn to_text(&self) -> Option<String> {
        match self {
            Node::Text(text) => Some(text.clone()),
            Node::Number(number) => Some(number.to_string()),
            Node::Null | Node::Bool(_) | Node::List(_) | Node::Map(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for Placed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Node>::deserialize(deserializer)?;
        Ok(Placed { line: spanned.referenced.line(), node: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Number(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = IndexMap::new();
        while let Some((key, value)) = map.next_entry::<String, Placed>()? {
            entries.insert(key, value);
        }
        Ok(Node::Map(entries))
    }
}
