//! Columns of documents, inferred from a sample.

use std::collections::HashMap;

use indexmap::IndexMap;
use prospector_core::Problem;

use super::{DEEPEST, Node, column_type, is_usable};
use crate::table::Column;

/// Maximum number of fields; stores with more use values as field names.
const MAX_FIELDS: usize = 1_000;

/// Maximum number of list items inspected.
const MAX_ITEMS: usize = 100;

/// Maximum number of types listed for one field.
const MAX_TYPES: usize = 4;

/// The fields of the documents seen so far.
#[derive(Debug, Default)]
pub(crate) struct InferredFields {
    documents: u64,
    fields: IndexMap<String, Field>,
    /// An example of a name with a dot or a dollar sign, which no path can contain.
    unusable: Option<String>,
    is_cut: bool,
}

#[derive(Debug, Default)]
struct Field {
    /// The number of documents in which it has a value.
    occurs: u64,
    /// The last document in which it had a value.
    last: u64,
    types: Vec<(String, u64)>,
}

impl InferredFields {
    /// Adds one more document.
    pub(crate) fn add(&mut self, document: &Node) {
        self.documents += 1;
        if let Node::Object(fields) = document {
            self.object("", fields, 0, 0);
        }
    }

    /// Returns the number of documents seen.
    pub(crate) fn documents(&self) -> u64 {
        self.documents
    }

    fn object(&mut self, path: &str, fields: &[(String, Node)], lists: usize, depth: usize) {
        for (name, node) in fields {
            if !is_usable(name) {
                self.unusable.get_or_insert_with(|| name.chars().take(60).collect());
                continue;
            }
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.value(&path, node, lists, depth + 1);
        }
    }

    fn value(&mut self, path: &str, node: &Node, lists: usize, depth: usize) {
        match node {
            Node::Null => self.note(path, None, lists),
            Node::Scalar(word, _) => self.note(path, Some(word), lists),
            Node::Object(fields) if fields.is_empty() || depth >= DEEPEST => self.note(path, Some("object"), lists),
            Node::Object(fields) => {
                // A value of a list item counts for the whole list.
                if lists > 0 {
                    self.note(path, Some("object"), lists);
                }
                self.object(path, fields, lists, depth);
            }
            Node::List(items) if items.is_empty() || depth >= DEEPEST => self.note(path, Some("array"), lists),
            Node::List(items) => {
                for item in items.iter().take(MAX_ITEMS) {
                    match item {
                        Node::Null => self.note(path, None, lists),
                        // No path leads into nested lists.
                        Node::List(_) => self.note(path, Some("array"), lists + 1),
                        other => self.value(path, other, lists + 1, depth + 1),
                    }
                }
            }
        }
    }

    fn note(&mut self, path: &str, word: Option<&str>, lists: usize) {
        if self.fields.len() >= MAX_FIELDS && !self.fields.contains_key(path) {
            self.is_cut = true;
            return;
        }
        let field = self.fields.entry(path.to_owned()).or_default();
        let Some(word) = word else { return };
        if field.last != self.documents {
            field.last = self.documents;
            field.occurs += 1;
        }
        let mut word = word.to_owned();
        word.push_str(&"[]".repeat(lists));
        match field.types.iter_mut().find(|(known, _)| *known == word) {
            Some((_, times)) => *times += 1,
            None => field.types.push((word, 1)),
        }
    }

    /// Returns the columns, grouped by object, each with its frequency unless it is always present; and problems with
    /// fields that cannot be represented.
    pub(crate) fn columns(self, place: &str) -> (Vec<Column>, Vec<Problem>) {
        let mut problems = Vec::new();
        if let Some(name) = self.unusable {
            let reason = format!("fields like `{name}` are skipped: no path can contain their names");
            problems.push(Problem::warning(place, reason));
        }
        if self.is_cut {
            let reason = format!("it has more than {MAX_FIELDS} different fields; the others are skipped");
            problems.push(Problem::warning(place, reason).advise("store data as field values, not as field names"));
        }
        let mut first: HashMap<String, usize> = HashMap::new();
        for (at, path) in self.fields.keys().enumerate() {
            first.entry(top(path).to_owned()).or_insert(at);
        }
        let mut fields: Vec<(String, Field)> = self.fields.into_iter().collect();
        fields.sort_by_key(|(path, _)| first.get(top(path)).copied());
        let documents = self.documents;
        let columns = fields.into_iter().map(|(name, mut field)| {
            // The type of an empty list is ignored if other lists have items.
            if field.types.iter().any(|(word, _)| word.ends_with("[]")) {
                field.types.retain(|(word, _)| word != "array");
            }
            field.types.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
            field.types.truncate(MAX_TYPES);
            let words: Vec<String> = field.types.into_iter().map(|(word, _)| word).collect();
            let data_type = if words.is_empty() { "null".to_owned() } else { words.join(" | ") };
            Column {
                name,
                column_type: column_type(&data_type),
                data_type,
                nullable: field.occurs < documents,
                primary_key: false,
                description: occurrence(field.occurs, documents),
                ..Column::default()
            }
        });
        (columns.collect(), problems)
    }
}

/// Returns the first segment of a path.
fn top(path: &str) -> &str {
    path.split_once('.').map_or(path, |(top, _)| top)
}

/// Describes how often a field has a value; empty if always.
fn occurrence(occurs: u64, documents: u64) -> String {
    if occurs >= documents {
        return String::new();
    }
    match occurs.saturating_mul(100) / documents.max(1) {
        0 if occurs > 0 => format!("in under 1 % of {documents} documents"),
        share => format!("in {share} % of {documents} documents"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::document::node;

    fn check(documents: &[Value], columns: &[&str], problems: &[&str]) {
        let mut inferred = InferredFields::default();
        documents.iter().for_each(|document| inferred.add(&node(document.clone())));
        assert_eq!(inferred.documents(), documents.len() as u64);
        let (found, notes) = inferred.columns("shop.orders");
        let written: Vec<String> = found
            .iter()
            .map(|c| {
                let mark = if c.nullable { "?" } else { "" };
                format!("{} {}{mark} {}", c.name, c.data_type, c.description).trim().to_owned()
            })
            .collect();
        assert_eq!(written, columns);
        assert_eq!(notes.len(), problems.len(), "{notes:?}");
        notes.iter().zip(problems).for_each(|(note, part)| assert!(note.reason.contains(part), "{note}"));
    }

    #[test]
    fn infers_paths_types_and_frequencies() {
        check(
            &[
                json!({"_id": 1, "to": {"city": "Oslo"}, "tags": ["a"], "items": [{"sku": "A"}, {"sku": "B", "n": 2}]}),
                json!({"_id": 2, "to": {"zip": 5}, "tags": [], "note": null}),
                json!({"_id": "3", "tags": [], "to": {}, "deep": [[1]]}),
            ],
            &[
                "_id int | string",
                "to.city string? in 33 % of 3 documents",
                "to.zip int? in 33 % of 3 documents",
                "to object? in 33 % of 3 documents",
                "tags string[]",
                "items object[]? in 33 % of 3 documents",
                "items.sku string[]? in 33 % of 3 documents",
                "items.n int[]? in 33 % of 3 documents",
                "note null? in 0 % of 3 documents",
                "deep array[]? in 33 % of 3 documents",
            ],
            &[],
        );
    }

    #[test]
    fn reports_unnameable_and_excess_fields() {
        let many: serde_json::Map<String, Value> = (0..1_500).map(|n| (format!("day{n}"), json!(n))).collect();
        let mut inferred = InferredFields::default();
        inferred.add(&node(json!({"$where": 1, "a.b": 2, "": 3})));
        inferred.add(&node(Value::Object(many)));
        let (columns, problems) = inferred.columns("x");
        assert_eq!(columns.len(), MAX_FIELDS);
        assert_eq!(problems.len(), 2, "{problems:?}");
        check(&[json!({"$where": 1, "a": 2})], &["a int"], &["`$where`"]);
        check(&[], &[], &[]);
    }

    #[test]
    fn limits_the_depth_of_values() {
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!({"a": deep});
        }
        let mut inferred = InferredFields::default();
        inferred.add(&node(deep));
        let (columns, _) = inferred.columns("x");
        assert_eq!((columns.len(), columns[0].data_type.as_str()), (1, "object"));
    }
}
