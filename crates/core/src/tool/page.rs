//! Lists that indicate truncation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use super::finding::QueryFinding;
use super::output::{Budget, Cut, Part, ToolOutput, fit};
use crate::record::Resource;

/// The arguments of a tool that lists all entries of a kind.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListArgs {
    /// Maximum number of results (default 50).
    limit: Option<usize>,
    /// Number of results to skip.
    offset: Option<usize>,
}

/// A list in a result. In JSON it is a plain array if there are no annotations, else `{"items": [..], "truncated": true, "total": 171,
/// "next": "..", "note": "..", "weak": true, "nearest": [..]}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The shown items.
    pub items: Vec<T>,
    /// The total number, if `items` is incomplete.
    pub total: Option<usize>,
    /// The call that returns the rest, if `items` is incomplete.
    pub next: Option<String>,
    /// A remark, such as `no good match`.
    pub note: Option<String>,
    /// Whether all items are below the relevance threshold.
    pub is_weak: bool,
    /// The closest names, if there is no good match.
    pub nearest: Vec<String>,
    /// Whether it was truncated to fit a budget.
    is_cut: bool,
    /// What was omitted from the only item, if it did not fit.
    first: Option<Cut>,
}

impl<T> Page<T> {
    /// Creates a complete list.
    pub fn whole(items: Vec<T>) -> Self {
        Page {
            items,
            total: None,
            next: None,
            note: None,
            is_weak: false,
            nearest: Vec::new(),
            is_cut: false,
            first: None,
        }
    }

    /// Creates the requested page; at least one item is shown.
    pub fn of_list(items: Vec<T>, args: ListArgs) -> Self {
        Page::cut(items, args.offset.unwrap_or(0), args.limit.unwrap_or(50).max(1))
    }

    /// Creates the page of `limit` items from `offset`.
    pub fn cut(items: Vec<T>, offset: usize, limit: usize) -> Self {
        let total = items.len();
        let shown: Vec<T> = items.into_iter().skip(offset).take(limit).collect();
        let end = offset.saturating_add(shown.len());
        if shown.len() == total {
            return Page::whole(shown);
        }
        let next = (end < total).then(|| format!("call again with offset={end}"));
        Page { total: Some(total), next, ..Page::whole(shown) }
    }

    /// Returns the annotations as in JSON; empty for a complete list.
    pub fn beside(&self) -> Map<String, Value> {
        let mut said = Map::new();
        if self.next.is_some() || self.is_cut {
            said.insert("truncated".into(), true.into());
        }
        if let Some(total) = self.total {
            said.insert("total".into(), total.into());
        }
        if let Some(next) = &self.next {
            said.insert("next".into(), next.as_str().into());
        }
        if let Some(note) = &self.note {
            said.insert("note".into(), note.as_str().into());
        }
        if self.is_weak {
            said.insert("weak".into(), true.into());
        }
        if !self.nearest.is_empty() {
            said.insert("nearest".into(), self.nearest.as_slice().into());
        }
        said
    }

    /// Returns what was omitted from the only item, if it did not fit.
    pub fn first_cut(&self) -> Option<&Cut> {
        self.first.as_ref()
    }

    /// Creates a list of search results; without a good match it says so, and `nearest` are additional names.
    pub fn of_search(items: Vec<T>, is_weak: bool, nearest: Vec<String>) -> Self {
        if items.is_empty() {
            return Page::nothing("no good match; search with other words, in the language of the catalog", nearest);
        }
        let note = is_weak.then(|| "no good match: these are the closest".to_owned());
        Page { note, is_weak, nearest, ..Page::whole(items) }
    }

    /// Appends remarks to the note.
    pub fn remark(mut self, remarks: impl IntoIterator<Item = String>) -> Self {
        let all: Vec<String> = self.note.take().into_iter().chain(remarks).collect();
        self.note = (!all.is_empty()).then(|| all.join("; "));
        self
    }

    /// Creates a complete list of other items with the annotations of this search.
    pub fn replace_items<U>(&self, items: Vec<U>) -> Page<U> {
        let (note, nearest) = (self.note.clone(), self.nearest.clone());
        Page { note, is_weak: self.is_weak, nearest, ..Page::whole(items) }
    }

    /// Creates an empty list with the reason and the closest names.
    pub fn nothing(note: impl Into<String>, nearest: Vec<String>) -> Self {
        Page { note: Some(note.into()), nearest, ..Page::whole(Vec::new()) }
    }
}

impl<T: Serialize> Serialize for Page<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let annotations = self.beside();
        if annotations.is_empty() {
            return self.items.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        match (&self.first, self.items.as_slice()) {
            (Some(cut), [first]) => map.serialize_entry("items", &[cut.json(first)])?,
            _ => map.serialize_entry("items", &self.items)?,
        }
        for (key, value) in &annotations {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Converted to an object where programs require one: a plain list is in `items`.
impl<T: ToolOutput> ToolOutput for Page<T> {
    fn reveals(&self) -> Vec<Resource> {
        T::reveal_all(&self.items)
    }

    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        self.items.iter_mut().flat_map(ToolOutput::queries).collect()
    }

    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        let items = std::mem::take(&mut self.items);
        let (count, total) = (items.len(), self.total.unwrap_or(items.len()));
        self.is_cut = true;
        self.total = Some(total);
        self.next = Some(budget.more.to_owned());
        let tokens = budget.tokens.saturating_sub(fit::size(self));
        (self.items, self.first) = fit::items(items, Budget { tokens, ..budget });
        if self.items.len() == count && total == count {
            self.total = None;
        }
        Cut::default()
    }
}

/// JSON from outside, or from a program without a type for it. A list, also in the field `items`, is truncated as a [`Page`].
impl ToolOutput for Value {
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        let fields = self.as_object_mut().into_iter().flatten();
        let fields = fields.filter(|(key, _)| *key != "next" && *key != "truncated");
        fields.filter_map(|(key, value)| Some((key.as_str(), Part::value(value)?))).collect()
    }

    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        match self {
            Value::Array(items) => *self = fit_list(std::mem::take(items), Map::new(), budget),
            Value::Object(fields) if fields.get("items").is_some_and(Value::is_array) => {
                let mut annotations = std::mem::take(fields);
                if let Some(Value::Array(items)) = annotations.shift_remove("items") {
                    *self = fit_list(items, annotations, budget);
                }
            }
            Value::Object(_) => return fit::fields(self, budget),
            Value::String(text) => return text.fit(budget),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Cut::default()
    }

    fn fit_as_item(&mut self, budget: Budget<'_>) -> Option<Cut> {
        match self {
            Value::Object(_) => fit::only_item(self, budget),
            Value::String(text) => text.fit_as_item(budget),
            Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
}

/// Truncates a JSON list with annotations.
fn fit_list(items: Vec<Value>, mut annotations: Map<String, Value>, mut budget: Budget<'_>) -> Value {
    let total = annotations.shift_remove("total").and_then(|total| usize::try_from(total.as_u64()?).ok());
    let mut page = Page { total, ..Page::whole(items) };
    if !annotations.is_empty() {
        budget.tokens = budget.tokens.saturating_sub(fit::size(&annotations));
    }
    page.fit(budget);
    let mut shown = serde_json::to_value(page).unwrap_or_default();
    if let Value::Object(shown) = &mut shown {
        for (key, value) in annotations {
            shown.entry(key).or_insert(value);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &Page<u32>, json: &str) {
        assert_eq!(serde_json::to_string(page).unwrap(), json);
    }

    #[test]
    fn serializes_a_complete_list_as_an_array() {
        check(&Page::whole(vec![1, 2]), "[1,2]");
        check(&Page::cut(vec![1, 2], 0, 2), "[1,2]");
    }

    #[test]
    fn annotates_a_truncated_list() {
        check(
            &Page::cut(vec![1, 2, 3], 0, 2),
            r#"{"items":[1,2],"truncated":true,"total":3,"next":"call again with offset=2"}"#,
        );
        check(&Page::cut(vec![1, 2, 3], 2, 2), r#"{"items":[3],"total":3}"#);
        check(&Page::cut(vec![1, 2, 3], 9, 2), r#"{"items":[],"total":3}"#);
    }

    #[test]
    fn annotates_an_empty_list_with_the_closest_names() {
        check(
            &Page::nothing("no good match", vec!["a".into()]),
            r#"{"items":[],"note":"no good match","nearest":["a"]}"#,
        );
    }

    #[test]
    fn truncates_lists_and_single_items() {
        let fit = |texts: &[&str], tokens| {
            let mut page = Page::whole(texts.iter().map(|text| (*text).to_owned()).collect());
            page.fit(Budget { tokens, more: "ask" });
            serde_json::to_string(&page).unwrap()
        };
        assert_eq!(fit(&["a"; 100], 25), r#"{"items":["a","a","a"],"truncated":true,"total":100,"next":"ask"}"#);
        let long = "word ".repeat(100);
        let only = fit(&[&long], 60);
        assert!(only.starts_with(r#"{"items":["word word"#) && only.ends_with(r#"],"truncated":true,"next":"ask"}"#));
    }
}
