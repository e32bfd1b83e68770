//! Column statistics computed from received rows, for sources that cannot compute them.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::Value;

use crate::document::{Node, short};
use crate::filter::text;
use crate::rows::{Samples, Statistics};

/// Maximum number of distinct values counted separately; beyond it the number is approximate anyway.
const MAX_VALUES: usize = 100_000;

/// The values of one column, row by row.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    values: HashMap<String, (Value, u64)>,
    nulls: u64,
}

impl Tally {
    /// Adds the value of one more row; for a list, each of its values.
    pub(crate) fn add(&mut self, node: &Node) {
        let values = node.flatten();
        self.nulls += u64::from(values.is_empty());
        values.into_iter().for_each(|value| self.count(value));
    }

    fn count(&mut self, node: &Node) {
        let value = node.clone().json();
        let key = value.to_string();
        if let Some((_, times)) = self.values.get_mut(&key) {
            *times += 1;
        } else if self.values.len() < MAX_VALUES {
            self.values.insert(key, (value, 1));
        }
    }

    /// Returns the statistics of the column; `whole` means that every row was added.
    pub(crate) fn statistics(self, column: &str, whole: bool) -> Statistics {
        let values = || self.values.values().map(|(value, _)| value).filter(|value| !has_parts(value));
        let end = |value: Option<&Value>| value.cloned().map(short);
        Statistics {
            column: column.to_owned(),
            cardinality: self.values.len() as u64,
            min: end(values().min_by(|a, b| order(a, b))),
            max: end(values().max_by(|a, b| order(a, b))),
            nulls: self.nulls,
            estimated: !whole || self.values.len() >= MAX_VALUES,
        }
    }

    /// Returns the values that contain the text, by descending frequency; `whole` means that every row was added.
    pub(crate) fn samples(self, contains: Option<&str>, limit: usize, whole: bool) -> Samples {
        let needle = contains.map(str::to_lowercase).filter(|needle| !needle.is_empty());
        let is_full = self.values.len() >= MAX_VALUES;
        let mut found: Vec<(Value, u64)> = self
            .values
            .into_values()
            .filter(|(value, _)| needle.as_ref().is_none_or(|needle| text(value).to_lowercase().contains(needle)))
            .collect();
        found.sort_by(|(a, more), (b, fewer)| fewer.cmp(more).then_with(|| order(a, b)));
        let distinct = found.len() as u64;
        let values: Vec<Value> = found.into_iter().take(limit).map(|(value, _)| short(value)).collect();
        let complete = whole && !is_full && values.len() as u64 == distinct;
        Samples { values, distinct, complete }
    }
}

fn has_parts(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

/// Compares numbers by size, texts by characters, numbers before texts.
pub(crate) fn order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i128(), right.as_i128()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => left.as_f64().unwrap_or(0.0).total_cmp(&right.as_f64().unwrap_or(0.0)),
        },
        (Value::Number(_), _) => Ordering::Less,
        (_, Value::Number(_)) => Ordering::Greater,
        (left, right) => text(left).cmp(&text(right)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::document::node;

    fn tally(rows: &[Value]) -> Tally {
        let mut tally = Tally::default();
        rows.iter().for_each(|row| tally.add(&node(row.clone())));
        tally
    }

    #[test]
    fn counts_values_and_marks_partial_statistics() {
        let rows = [json!(9), json!(10), json!(10), json!(null), json!([2, 10]), json!([null])];
        let found = tally(&rows).statistics("n", true);
        assert_eq!((found.cardinality, found.nulls, found.estimated), (3, 2, false));
        assert_eq!((found.min, found.max), (Some(json!(2)), Some(json!(10))));
        assert!(tally(&rows).statistics("n", false).estimated);
        let samples = tally(&rows).samples(None, 2, true);
        assert_eq!(samples, Samples { values: vec![json!(10), json!(2)], distinct: 3, complete: false });
        let samples = tally(&[json!("Ada"), json!("Bob"), json!("adam")]).samples(Some("AD"), 5, true);
        assert_eq!(samples, Samples { values: vec![json!("Ada"), json!("adam")], distinct: 2, complete: true });
        assert!(!tally(&rows).samples(None, 5, false).complete);
    }
}
