//! YAML as a tree with line numbers, so that each invalid entry is reported at its line and does not affect others.

use indexmap::IndexMap;
use prospector_core::Problem;
use prospector_core::name::{is_similar, nearest};
use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::Spanned;

use super::file_schema::keys;

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

    /// Returns a text, or a number as written.
    fn to_text(&self) -> Option<String> {
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

/// A mapping of the catalog that is being parsed: removes its keys and reports their problems.
pub(super) struct Fields<'a> {
    file: &'a str,
    /// The name of the mapping in messages: `databases[2]`.
    what: String,
    line: u64,
    map: IndexMap<String, Placed>,
    problems: &'a mut Vec<Problem>,
    failed: bool,
}

impl<'a> Fields<'a> {
    /// Starts to parse a mapping with the keys of `T`. Returns `None`, with a problem reported, if the value is not a mapping.
    pub(super) fn of<T: JsonSchema + 'static>(
        file: &'a str,
        what: impl Into<String>,
        placed: Placed,
        problems: &'a mut Vec<Problem>,
    ) -> Option<Self> {
        let (what, allowed) = (what.into(), keys::<T>());
        let Node::Map(map) = placed.node else {
            problems.push(
                Problem::error(
                    format!("{file}:{}", placed.line),
                    format!("{what} must be a mapping, not {}", placed.node.describe()),
                )
                .advise(format!("write `{}: ...`", allowed.first().map_or("name", String::as_str))),
            );
            return None;
        };
        let mut fields = Fields { file, what, line: placed.line, map, problems, failed: false };
        let unknown: Vec<(String, u64)> = fields
            .map
            .iter()
            .filter(|(key, _)| !allowed.contains(key))
            .map(|(key, value)| (key.clone(), value.line))
            .collect();
        for (key, line) in unknown {
            let near = suggest(&key, allowed.iter().map(String::as_str));
            let reason = format!("{} has an unknown key `{key}`", fields.what);
            let keys = allowed.join(", ");
            fields.fail(line, reason, format!("{near}the keys are {keys}"));
        }
        Some(fields)
    }

    /// Reports an error and what to write instead.
    pub(super) fn fail(&mut self, line: u64, reason: impl Into<String>, advice: impl Into<String>) {
        self.failed = true;
        self.problems.push(Problem::error(format!("{}:{line}", self.file), reason).advise(advice));
    }

    /// Reports a warning and what to write instead.
    pub(super) fn warn(&mut self, line: u64, reason: impl Into<String>, advice: impl Into<String>) {
        self.problems.push(Problem::warning(format!("{}:{line}", self.file), reason).advise(advice));
    }

    /// Returns the line of the mapping.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Returns whether a key exists.
    pub(super) fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// Returns whether a key exists and is a list.
    pub(super) fn is_list(&self, key: &str) -> bool {
        self.map.get(key).is_some_and(|placed| matches!(placed.node, Node::List(_)))
    }

    /// Removes a value of any type.
    pub(super) fn take(&mut self, key: &str) -> Option<Placed> {
        self.map.shift_remove(key)
    }

    /// Removes a value that `read` accepts.
    fn value<T>(&mut self, key: &str, what: &str, advice: &str, read: impl FnOnce(&Node) -> Option<T>) -> Option<T> {
        let Placed { line, node } = self.map.shift_remove(key)?;
        let value = read(&node);
        if value.is_none() {
            let reason = format!("`{key}` of {} must be {what}, not {}", self.what, node.describe());
            self.fail(line, reason, advice);
        }
        value
    }

    /// Removes a boolean.
    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        self.value(key, "true or false", &format!("write `{key}: false`"), |node| match node {
            Node::Bool(value) => Some(*value),
            _ => None,
        })
    }

    /// Removes a text, with its line.
    pub(super) fn text(&mut self, key: &str) -> Option<(String, u64)> {
        let placed = self.map.get(key)?;
        let line = placed.line;
        let advice = match placed.node {
            Node::Bool(_) => "put it in quotes: in YAML `yes`, `no`, `on` and `off` are booleans".to_owned(),
            _ => format!("write `{key}: some text`"),
        };
        Some((self.value(key, "a text", &advice, Node::to_text)?, line))
    }

    /// Removes a word of a closed set, and returns its meaning.
    pub(super) fn word<T>(
        &mut self,
        key: &str,
        what: &str,
        words: &[&str],
        find: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let (word, line) = self.text(key)?;
        let found = find(&word);
        if found.is_none() {
            let advice = format!("{}write one of {}", suggest(&word, words.iter().copied()), words.join(", "));
            self.fail(line, format!("unknown {what} `{word}`"), advice);
        }
        found
    }

    /// Removes a number from 0 to 1.
    pub(super) fn share(&mut self, key: &str) -> Option<f64> {
        self.value(key, "a number from 0 to 1", &format!("write `{key}: 0.9`"), |node| match node {
            Node::Number(number) if (0.0..=1.0).contains(number) => Some(*number),
            _ => None,
        })
    }

    /// Removes an integer from 1 to `most`.
    pub(super) fn count(&mut self, key: &str, most: usize) -> Option<usize> {
        let what = format!("an integer from 1 to {most}");
        self.value(key, &what, "write such a number, or remove the key", |node| match node {
            Node::Number(number) if number.fract() == 0.0 && (1.0..=most as f64).contains(number) => {
                Some(*number as usize)
            }
            _ => None,
        })
    }

    /// Removes a list of texts; empty if the key is missing.
    pub(super) fn texts(&mut self, key: &str) -> Vec<String> {
        self.list_texts(key).into_iter().map(|(text, _)| text).collect()
    }

    /// Removes a list of texts, each with its line; empty if the key is missing.
    pub(super) fn list_texts(&mut self, key: &str) -> Vec<(String, u64)> {
        let read = |node: &Node| match node {
            Node::List(items) => items.iter().map(|item| Some((item.node.to_text()?, item.line))).collect(),
            _ => None,
        };
        self.value(key, "a list of names", &format!("write `{key}: [first, second]`"), read).unwrap_or_default()
    }

    /// Returns the remaining values.
    pub(super) fn into_map(self) -> IndexMap<String, Placed> {
        self.map
    }

    /// Returns whether the mapping has an error.
    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }
}

/// Suggests the word that may be meant, if one is similar.
fn suggest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = nearest(word, known, 1).pop().filter(|near| is_similar(word, near));
    near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default()
}
