//! Results of tools: typed values that declare the names they show, the fields that may be truncated, and their text for models. They are
//! converted to JSON only at the boundary of the program.

pub(super) mod fit;

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::compact;
use crate::{
    record::Resource,
    tokens::estimate,
    tool::finding::{Definition, QueryFinding},
};

/// The result of a tool. A plain struct derives `Serialize`; a list is a [`crate::tool::Page`]. The defaults of all methods suit small
/// results without names.
///
/// Results larger than the caller's limit are truncated by [`ToolOutput::fit`]; [`ToolOutput::reveals`] and [`ToolOutput::render`] then
/// see the truncated value.
pub trait ToolOutput: Clone + Serialize + Send + Sync + 'static {
    /// Returns the names that it shows, which plans may use.
    fn reveals(&self) -> Vec<Resource> {
        Vec::new()
    }

    /// Returns the names that several results show together, as the items of a list.
    fn reveal_all(items: &[Self]) -> Vec<Resource> {
        items.iter().flat_map(ToolOutput::reveals).collect()
    }

    /// Returns the text of a document, a section or instructions, if it shows one.
    fn content(&self) -> Option<&str> {
        None
    }

    /// Returns the definition of a term, if it answers a question about one.
    fn definition(&self) -> Option<Definition> {
        None
    }

    /// Returns the queries whose rows it shows, in order. Callers that record queries may change their ids.
    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        Vec::new()
    }

    /// Returns the fields that may be truncated, with their names in JSON. The largest is truncated first. Names that plans use are
    /// excluded: they are never truncated.
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        Vec::new()
    }

    /// Returns whether the full result fits. By default, whether its JSON has at most that many tokens.
    fn fits(&self, max_tokens: usize) -> bool {
        fit::size(self) <= max_tokens
    }

    /// Truncates it until its JSON has at most `budget.tokens`, and returns what was omitted. Only called for larger results.
    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        fit::fields(self, budget)
    }

    /// Truncates it as the only item of a list. Returns `None` if nothing useful would remain.
    fn fit_as_item(&mut self, budget: Budget<'_>) -> Option<Cut> {
        fit::only_item(self, budget)
    }

    /// Returns the text for models, with everything in the JSON. By default, that of [`compact::render`].
    fn render(&self, cut: &Cut) -> Text {
        Text::from(compact::render(&cut.json(self)))
    }
}

/// The size limit of a result, and the hint for truncated ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget<'a> {
    /// At most this many tokens of JSON, by [`crate::tokens::estimate`].
    pub tokens: usize,
    /// How to get the rest: `call again with offset`.
    pub more: &'a str,
}

/// What was omitted from a result to fit its budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cut {
    /// How to get the rest; `None` if nothing was omitted.
    pub(crate) next: Option<String>,
    /// The original lengths of truncated lists, by field.
    pub(crate) totals: Vec<(String, usize)>,
    /// Whether nothing fitted.
    pub(crate) is_empty: bool,
}

impl Cut {
    /// Creates a cut with a hint to get the rest.
    pub fn with_next(more: &str) -> Self {
        Cut { next: Some(more.to_owned()), ..Cut::default() }
    }

    /// Adds the omissions to the fields of the result: `truncated`, `next`, and `FIELD_total` for each truncated list.
    pub fn note(&self, fields: &mut Map<String, Value>) {
        let Some(next) = &self.next else { return };
        fields.insert("truncated".into(), json!(true));
        fields.insert("next".into(), json!(next));
        for (field, total) in &self.totals {
            fields.entry(format!("{field}_total")).or_insert(json!(total));
        }
    }

    /// Returns the JSON of a truncated result.
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

/// The separator of the parts of a text; no line of a part equals it.
const BETWEEN: &str = "\n---\n";

/// The text of a result for models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// A single part, or one for each item that may be shown independently.
    pub parts: Vec<String>,
    /// Text after the parts, such as omissions; usually empty.
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

/// A field that may be truncated.
pub enum Part<'a> {
    /// A text, truncated at the end.
    Text(&'a mut String),
    /// A list or a map, truncated at the end.
    Entries(&'a mut dyn Entries),
}

impl<'a> Part<'a> {
    /// A list or a map.
    pub fn entries(entries: &'a mut impl Entries) -> Self {
        Part::Entries(entries)
    }

    /// Returns a foreign JSON value as a part; `None` if it cannot be truncated.
    pub fn value(value: &'a mut Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Part::Text(text)),
            Value::Array(items) => Some(Part::Entries(items)),
            Value::Object(fields) => Some(Part::Entries(fields)),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
}

/// A truncatable list or map.
pub trait Entries {
    /// The size of its JSON, in tokens.
    fn size(&self) -> usize;
    /// The size of each entry, in tokens.
    fn sizes(&self) -> Vec<usize>;
    /// Keeps the first `count` entries.
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

impl ToolOutput for String {
    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        *self = fit::text(self, budget.tokens.saturating_sub(4));
        Cut::default()
    }

    fn fit_as_item(&mut self, budget: Budget<'_>) -> Option<Cut> {
        // Short texts may be names.
        (self.len() > fit::MAX_NAME_BYTES).then(|| self.fit(budget))
    }
}
