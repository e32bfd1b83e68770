//! A list that says when it is not whole.

use serde::{Serialize, Serializer, ser::SerializeMap};

/// A list as a tool answers it. In JSON it is a plain array when nothing is to be said about it, else
/// `{"items": [..], "truncated": true, "total": 171, "next": "..", "note": "..", "nearest": [..]}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// What is shown.
    pub items: Vec<T>,
    /// How many there are in all, where `items` is only a part of them.
    pub total: Option<usize>,
    /// The step that gets the rest, where `items` is only a part.
    pub next: Option<String>,
    /// A remark, such as `no good match`.
    pub note: Option<String>,
    /// The nearest names, where nothing matched well.
    pub nearest: Vec<String>,
}

impl<T> Page<T> {
    /// A whole list.
    pub fn whole(items: Vec<T>) -> Self {
        Page { items, total: None, next: None, note: None, nearest: Vec::new() }
    }

    /// The `limit` items from `offset`; says so where that is not all of them.
    pub fn cut(items: Vec<T>, offset: usize, limit: usize) -> Self {
        let total = items.len();
        let shown: Vec<T> = items.into_iter().skip(offset).take(limit).collect();
        let end = offset.saturating_add(shown.len());
        if shown.len() == total {
            return Page::whole(shown);
        }
        let next = (end < total).then(|| format!("call again with offset={end}"));
        Page { items: shown, total: Some(total), next, note: None, nearest: Vec::new() }
    }

    /// Nothing found: the reason, and the nearest names.
    pub fn nothing(note: impl Into<String>, nearest: Vec<String>) -> Self {
        Page { items: Vec::new(), total: None, next: None, note: Some(note.into()), nearest }
    }
}

impl<T: Serialize> Serialize for Page<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.total.is_none() && self.next.is_none() && self.note.is_none() && self.nearest.is_empty() {
            return self.items.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("items", &self.items)?;
        if let Some(total) = self.total {
            map.serialize_entry("truncated", &true)?;
            map.serialize_entry("total", &total)?;
        }
        if let Some(next) = &self.next {
            map.serialize_entry("next", next)?;
        }
        if let Some(note) = &self.note {
            map.serialize_entry("note", note)?;
        }
        if !self.nearest.is_empty() {
            map.serialize_entry("nearest", &self.nearest)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &Page<u32>, json: &str) {
        assert_eq!(serde_json::to_string(page).unwrap(), json);
    }

    #[test]
    fn a_whole_list_is_an_array() {
        check(&Page::whole(vec![1, 2]), "[1,2]");
        check(&Page::cut(vec![1, 2], 0, 2), "[1,2]");
    }

    #[test]
    fn a_cut_list_says_so_and_how_to_go_on() {
        check(
            &Page::cut(vec![1, 2, 3], 0, 2),
            r#"{"items":[1,2],"truncated":true,"total":3,"next":"call again with offset=2"}"#,
        );
        check(&Page::cut(vec![1, 2, 3], 2, 2), r#"{"items":[3],"truncated":true,"total":3}"#);
        check(&Page::cut(vec![1, 2, 3], 9, 2), r#"{"items":[],"truncated":true,"total":3}"#);
    }

    #[test]
    fn nothing_found_names_the_nearest() {
        check(
            &Page::nothing("no good match", vec!["a".into()]),
            r#"{"items":[],"note":"no good match","nearest":["a"]}"#,
        );
    }
}
