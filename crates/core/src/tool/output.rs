//! What a tool answers: a typed value that says which names it shows, which of its fields may be shortened, and how a
//! model reads it. JSON is made of it only where it leaves the program.

pub(super) mod fit;

use std::{collections::BTreeMap, fmt};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::compact;
use crate::{
    record::Resource,
    tokens::estimate,
    tool::finding::{Definition, QueryFinding},
};

/// The answer of a tool. A plain struct derives `Serialize`; a list is a [`crate::tool::Page`]. Every method
/// has a default that suits a small answer that shows no names.
///
/// An answer larger than what the caller allows is shortened by [`ToolOutput::fit`]; [`ToolOutput::reveals`] and
/// [`ToolOutput::render`] then see the shortened value.
pub trait ToolOutput: Clone + Serialize + Send + Sync + 'static {
    /// The names that it shows, which a plan may use from then on.
    fn reveals(&self) -> Vec<Resource> {
        Vec::new()
    }

    /// The names that several of them show together, as the items of a list.
    fn reveal_all(items: &[Self]) -> Vec<Resource> {
        items.iter().flat_map(ToolOutput::reveals).collect()
    }

    /// The text that it is about, where it shows a document, a section or instructions: what a reader learns something
    /// from, other than names.
    fn content(&self) -> Option<&str> {
        None
    }

    /// What it says that a term means, where it is the answer to that question.
    fn definition(&self) -> Option<Definition> {
        None
    }

    /// The queries whose rows it shows, in their order. Who keeps a record of them may give each another id.
    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        Vec::new()
    }

    /// The fields that may be shortened, with their names in JSON. The largest gives way first. A name that a plan would
    /// use is not among them: it is shown whole or not at all.
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        Vec::new()
    }

    /// Whether it may be shown whole. By default, whether its JSON has at most that many tokens.
    fn fits(&self, max_tokens: usize) -> bool {
        fit::size(self) <= max_tokens
    }

    /// Shortens it until its JSON has at most `budget.tokens`, and says what was left out. It is called only for what is
    /// larger.
    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        fit::fields(self, budget)
    }

    /// Shortens it as an item of a list that has no room even for its first. `None` where nothing worth showing is left.
    fn fit_as_item(&mut self, budget: Budget<'_>) -> Option<Cut> {
        let cut = if fit::size(self) <= budget.tokens { Cut::default() } else { self.fit(budget) };
        (!cut.is_empty && fit::size(&cut.json(self)) <= budget.tokens).then_some(cut)
    }

    /// The text that a model is shown: all that the JSON holds. By default, that of [`compact::render`].
    fn render(&self, cut: &Cut) -> Text {
        Text::from(compact::render(&cut.json(self)))
    }
}

/// How large an answer may be, and what is said of an answer that was larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget<'a> {
    /// At most this many tokens of JSON, by [`crate::tokens::estimate`].
    pub tokens: usize,
    /// How to get the rest: `call again with offset`.
    pub more: &'a str,
}

/// What was left out of an answer to fit its budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cut {
    /// How to get the rest; `None` where nothing was left out.
    pub(crate) next: Option<String>,
    /// The lengths of shortened lists before the cut, by field.
    pub(crate) totals: Vec<(String, usize)>,
    /// Whether there was no room for anything.
    pub(crate) is_empty: bool,
}

impl Cut {
    /// That something was left out, and how to get it.
    pub fn with_next(more: &str) -> Self {
        Cut { next: Some(more.to_owned()), ..Cut::default() }
    }

    /// Adds what was left out to the fields of the answer: `truncated`, `next`, and `FIELD_total` for each shortened list.
    pub fn note(&self, fields: &mut Map<String, Value>) {
        let Some(next) = &self.next else { return };
        fields.insert("truncated".into(), json!(true));
        fields.insert("next".into(), json!(next));
        for (field, total) in &self.totals {
            fields.entry(format!("{field}_total")).or_insert(json!(total));
        }
    }

    /// The JSON of a shortened answer.
    pub fn json<T: Serialize + ?Sized>(&self, output: &T) -> Value {
        if self.is_empty {
            return json!({"truncated": true, "next": self.next});
        }
        let mut value = serde_json::to_value(output).unwrap_or_default();
        if let Value::Object(fields) = &mut value {
            self.note(fields);
        }
        value
    }
}

/// What stands between the parts of a text; no line of a part is like it.
const BETWEEN: &str = "\n---\n";

/// The text of an answer as a model is shown it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// One, or one for each item that may be shown or left out by itself.
    pub parts: Vec<String>,
    /// What follows the parts, such as what was left out; mostly empty.
    pub rest: String,
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text { parts: vec![text], rest: String::new() }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts.join(BETWEEN))?;
        let between = if self.parts.is_empty() || self.rest.is_empty() { "" } else { BETWEEN };
        write!(f, "{between}{}", self.rest)
    }
}

/// A field that may be shortened.
pub enum Part<'a> {
    /// A text: its beginning is kept.
    Text(&'a mut String),
    /// A list or a map: its first entries are kept.
    Entries(&'a mut dyn Entries),
}

impl<'a> Part<'a> {
    /// A list or a map.
    pub fn entries(entries: &'a mut impl Entries) -> Self {
        Part::Entries(entries)
    }

    /// A JSON value that comes from outside; `None` for what cannot be shortened.
    pub fn value(value: &'a mut Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Part::Text(text)),
            Value::Array(items) => Some(Part::Entries(items)),
            Value::Object(fields) => Some(Part::Entries(fields)),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
}

/// A list or a map, for a cut.
pub trait Entries {
    /// The size of its JSON, in tokens.
    fn size(&self) -> usize;
    /// The size of each entry, in tokens.
    fn sizes(&self) -> Vec<usize>;
    /// Keeps the first `count`.
    fn keep(&mut self, count: usize);
}

impl<T: Serialize> Entries for Vec<T> {
    fn size(&self) -> usize {
        fit::size(self)
    }

    fn sizes(&self) -> Vec<usize> {
        self.iter().map(|item| fit::size(item) + 1).collect()
    }

    fn keep(&mut self, count: usize) {
        self.truncate(count);
    }
}

impl Entries for Map<String, Value> {
    fn size(&self) -> usize {
        fit::size(self)
    }

    fn sizes(&self) -> Vec<usize> {
        self.iter().map(|(key, value)| estimate(key) + fit::size(value) + 2).collect()
    }

    fn keep(&mut self, count: usize) {
        *self = std::mem::take(self).into_iter().take(count).collect();
    }
}

impl Entries for BTreeMap<String, String> {
    fn size(&self) -> usize {
        fit::size(self)
    }

    fn sizes(&self) -> Vec<usize> {
        self.iter().map(|(key, value)| estimate(key) + fit::size(value) + 2).collect()
    }

    fn keep(&mut self, count: usize) {
        *self = std::mem::take(self).into_iter().take(count).collect();
    }
}

impl ToolOutput for String {
    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        *self = fit::text(self, budget.tokens.saturating_sub(4));
        Cut::default()
    }

    fn fit_as_item(&mut self, budget: Budget<'_>) -> Option<Cut> {
        // A short one may be a name.
        (self.len() > fit::MAX_NAME_BYTES).then(|| self.fit(budget))
    }
}

/// JSON that comes from outside, or from a program that has no type for it.
impl ToolOutput for Value {
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let fields = self.as_object_mut().into_iter().flatten();
        let fields = fields.filter(|(key, _)| *key != "next" && *key != "truncated");
        fields.filter_map(|(key, value)| Some((key.as_str(), Part::value(value)?))).collect()
    }

    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        match self {
            Value::Array(items) => {
                let items = std::mem::take(items);
                *self = fit::page(items, Map::new(), budget);
                Cut::default()
            }
            Value::Object(fields) if fields.get("items").is_some_and(Value::is_array) => {
                let mut rest = std::mem::take(fields);
                let items = match rest.remove("items") {
                    Some(Value::Array(items)) => items,
                    _ => Vec::new(),
                };
                *self = fit::page(items, rest, budget);
                Cut::default()
            }
            Value::Object(_) => fit::fields(self, budget),
            Value::String(text) => text.fit(budget),
            Value::Null | Value::Bool(_) | Value::Number(_) => Cut::default(),
        }
    }

    fn fit_as_item(&mut self, budget: Budget<'_>) -> Option<Cut> {
        match self {
            Value::Object(_) => {
                let cut = if fit::size(self) <= budget.tokens { Cut::default() } else { self.fit(budget) };
                (!cut.is_empty && fit::size(&cut.json(self)) <= budget.tokens).then_some(cut)
            }
            Value::String(text) => text.fit_as_item(budget),
            Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
}
