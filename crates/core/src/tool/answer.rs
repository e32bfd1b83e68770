//! The result of a tool call: a typed value that is converted to JSON, text and names on demand.

use std::{
    any::Any,
    fmt,
    sync::{Arc, OnceLock},
};

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::output::{Budget, Cut, Part, Text, ToolOutput};
use crate::{
    record::Resource,
    tool::finding::{Definition, QueryFinding},
};

/// A result as it is displayed. A truncated result keeps the full value: [`Answer::fit`] can change its size without another call.
#[derive(Clone)]
pub struct Answer {
    shown: Arc<dyn AnyOutput>,
    /// The full value, if the displayed one is truncated.
    whole: Option<Arc<dyn AnyOutput>>,
    /// Notes for the caller on its call.
    notes: Vec<String>,
    json: OnceLock<Value>,
}

impl Answer {
    /// Creates a result of untyped JSON, and the names that it shows.
    pub fn new(value: Value, reveals: Vec<Resource>) -> Self {
        Answer::of(Untyped { value, reveals }, "")
    }

    /// Creates a full result. `more` describes how to get the rest if it is truncated.
    pub fn of<T: ToolOutput>(output: T, more: &'static str) -> Self {
        let shown = Arc::new(Shown { output, cut: Cut::default(), more });
        Answer { shown, whole: None, notes: Vec::new(), json: OnceLock::new() }
    }

    /// Returns the result with additional notes.
    #[must_use]
    pub fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes.extend(notes);
        self
    }

    /// Returns the notes on repaired arguments. They are appended to the text for models, but are not part of the JSON.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn replace(&self, shown: Arc<dyn AnyOutput>, whole: Option<Arc<dyn AnyOutput>>) -> Self {
        Answer { shown, whole, notes: self.notes.clone(), json: OnceLock::new() }
    }

    /// Returns the result truncated to `max_tokens` tokens of JSON, estimated by [`crate::tokens::estimate`].
    #[must_use]
    pub fn fit(&self, max_tokens: usize) -> Self {
        let whole = self.whole.as_ref().unwrap_or(&self.shown);
        match whole.fit(max_tokens) {
            Some(shown) => self.replace(shown, Some(whole.clone())),
            None => self.unfit(),
        }
    }

    /// Returns the full result.
    #[must_use]
    pub fn unfit(&self) -> Self {
        let whole = self.whole.as_ref().unwrap_or(&self.shown);
        self.replace(whole.clone(), None)
    }

    /// Returns the estimated tokens of its JSON: see [`crate::tokens::estimate`].
    pub fn size(&self) -> usize {
        super::output::fit::size(self.json())
    }

    /// Returns whether it is truncated.
    pub fn is_cut(&self) -> bool {
        self.whole.is_some()
    }

    /// Returns the JSON for programs.
    pub fn json(&self) -> &Value {
        self.json.get_or_init(|| self.shown.json())
    }

    /// Returns the JSON for programs as an owned value.
    pub fn into_json(self) -> Value {
        self.json.into_inner().unwrap_or_else(|| self.shown.json())
    }

    /// Returns the names that it shows.
    pub fn reveals(&self) -> Vec<Resource> {
        self.shown.reveals()
    }

    /// Returns the text for models, in parts.
    pub fn render(&self) -> Text {
        let mut text = self.shown.render();
        for note in &self.notes {
            text.rest.push_str(if text.rest.is_empty() { "" } else { "\n" });
            text.rest.push_str(&format!("note: {note}"));
        }
        text
    }

    /// Returns the text for models. It contains everything in the JSON and the notes.
    pub fn text(&self) -> String {
        self.render().to_string()
    }

    /// Returns the document text: see [`ToolOutput::content`].
    pub fn content(&self) -> Option<&str> {
        self.shown.content()
    }

    /// Returns the definition of a term: see [`ToolOutput::definition`].
    pub fn definition(&self) -> Option<Definition> {
        self.shown.definition()
    }

    /// Returns the result after `edit` has modified its queries: see [`ToolOutput::queries`].
    #[must_use]
    pub fn edit_queries(&self, edit: &mut dyn FnMut(Vec<QueryFinding<'_>>)) -> Answer {
        self.replace(self.shown.edit_queries(edit), self.whole.clone())
    }

    /// Returns whether it contains queries, all of which failed.
    pub fn has_failed(&self) -> bool {
        let failed = self.map_queries(|query| query.rows.is_err());
        !failed.is_empty() && !failed.contains(&false)
    }

    /// Maps each of its queries, in order: see [`ToolOutput::queries`].
    pub fn map_queries<T>(&self, read: impl Fn(&QueryFinding<'_>) -> T) -> Vec<T> {
        let mut found = Vec::new();
        // This only visits the queries.
        let _ = self.shown.edit_queries(&mut |queries| found.extend(queries.iter().map(&read)));
        found
    }

    /// Returns the displayed value, if it has this type.
    pub fn output<T: ToolOutput>(&self) -> Option<&T> {
        self.shown.as_any().downcast_ref().map(|shown: &Shown<T>| &shown.output)
    }

    /// Returns the full value, if it has this type.
    pub fn whole<T: ToolOutput>(&self) -> Option<&T> {
        let whole = self.whole.as_ref().unwrap_or(&self.shown);
        whole.as_any().downcast_ref().map(|shown: &Shown<T>| &shown.output)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("json", self.json()).field("is_cut", &self.is_cut()).finish()
    }
}

/// Serialized as its JSON, for results that contain others.
impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

/// A type-erased [`ToolOutput`].
trait AnyOutput: Send + Sync {
    fn json(&self) -> Value;
    fn reveals(&self) -> Vec<Resource>;
    fn render(&self) -> Text;
    fn content(&self) -> Option<&str>;
    fn definition(&self) -> Option<Definition>;
    fn edit_queries(&self, edit: &mut dyn FnMut(Vec<QueryFinding<'_>>)) -> Arc<dyn AnyOutput>;
    /// Returns a truncated value; `None` if the full value fits.
    fn fit(&self, max_tokens: usize) -> Option<Arc<dyn AnyOutput>>;
    fn as_any(&self) -> &dyn Any;
}

struct Shown<T> {
    output: T,
    cut: Cut,
    more: &'static str,
}

impl<T: ToolOutput> AnyOutput for Shown<T> {
    fn json(&self) -> Value {
        self.cut.json(&self.output)
    }

    fn reveals(&self) -> Vec<Resource> {
        if self.cut.is_empty { Vec::new() } else { self.output.reveals() }
    }

    fn render(&self) -> Text {
        match self.cut.is_empty {
            true => Text::from(crate::tool::compact::render(&self.json())),
            false => self.output.render(&self.cut),
        }
    }

    fn content(&self) -> Option<&str> {
        self.output.content()
    }

    fn definition(&self) -> Option<Definition> {
        self.output.definition()
    }

    fn edit_queries(&self, edit: &mut dyn FnMut(Vec<QueryFinding<'_>>)) -> Arc<dyn AnyOutput> {
        let mut output = self.output.clone();
        edit(output.queries());
        Arc::new(Shown { output, cut: self.cut.clone(), more: self.more })
    }

    fn fit(&self, max_tokens: usize) -> Option<Arc<dyn AnyOutput>> {
        if self.output.fits(max_tokens) {
            return None;
        }
        let mut output = self.output.clone();
        let cut = output.fit(Budget { tokens: max_tokens, more: self.more });
        Some(Arc::new(Shown { output, cut, more: self.more }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// JSON, with the names that it is declared to show.
#[derive(Clone)]
struct Untyped {
    value: Value,
    reveals: Vec<Resource>,
}

impl Serialize for Untyped {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl ToolOutput for Untyped {
    fn reveals(&self) -> Vec<Resource> {
        self.reveals.clone()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        self.value.parts()
    }

    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        self.value.fit(budget)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::Page;

    #[test]
    fn keeps_the_full_value_when_truncated() {
        let whole = Page::whole((0..100).map(|n| format!("number {n}")).collect());
        let answer = Answer::of(whole.clone(), "ask for more");
        let short = answer.fit(60);
        assert!(short.is_cut() && !answer.is_cut());
        assert_eq!(short.json()["total"], 100);
        assert_eq!(short.json()["next"], "ask for more");
        assert!(short.output::<Page<String>>().is_some_and(|page| page.items.len() < 20));
        assert_eq!(short.whole(), Some(&whole));
        let more = short.fit(10_000);
        assert!(!more.is_cut());
        assert_eq!(more.json(), answer.json());
    }

    #[test]
    fn reveals_nothing_when_nothing_fits() {
        let name = Resource::new(crate::record::ResourceKind::Table, "shop.orders");
        let answer =
            Answer::new(json!({"n": 12_345, "m": 67_890, "name": "a name that is not cut"}), vec![name]).fit(12);
        assert_eq!(answer.json(), &json!({"truncated": true, "next": ""}));
        assert!(answer.reveals().is_empty());
    }
}
