//! Differences between the rows of two reports.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::store::SnapshotRows;

/// Maximum number of lines; further ones are only counted.
const MAX_LINES: usize = 20;

/// The changes in the rows of a question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change {
    /// One line per row that was added, removed or changed.
    pub lines: Vec<String>,
    /// Number of omitted lines.
    pub more: usize,
    /// Number of unchanged rows.
    pub same: usize,
}

impl Change {
    /// Compares two results; `None` if their columns differ.
    pub(crate) fn between(before: &SnapshotRows, now: &SnapshotRows) -> Option<Change> {
        if before.columns != now.columns {
            return None;
        }
        let keys = key_columns(before, now);
        let (old, new) = (by_key(before, &keys), by_key(now, &keys));
        let mut change = Change::default();
        let mut lines = Vec::new();
        for (key, row) in &new {
            match old.get(key) {
                None => lines.push(format!("{} is new: {}", name(key), write_fields(now, row, &keys))),
                Some(earlier) if earlier == row => change.same += 1,
                Some(earlier) => {
                    let fields = (0..now.columns.len()).filter(|at| earlier.get(*at) != row.get(*at));
                    let parts: Vec<String> = fields
                        .map(|at| format!("{} {} → {}", now.columns[at], cell(earlier.get(at)), cell(row.get(at))))
                        .collect();
                    lines.push(format!("{}: {}", name(key), parts.join(", ")));
                }
            }
        }
        for key in old.keys().filter(|key| !new.contains_key(*key)) {
            lines.push(format!("{} was removed", name(key)));
        }
        change.more = lines.len().saturating_sub(MAX_LINES);
        lines.truncate(MAX_LINES);
        change.lines = lines;
        Some(change)
    }

    /// Returns whether nothing changed.
    pub fn is_none(&self) -> bool {
        self.lines.is_empty()
    }
}

/// Returns the columns that identify a row: the text columns if unique, otherwise none, and rows are identified by
/// position.
fn key_columns(before: &SnapshotRows, now: &SnapshotRows) -> Vec<usize> {
    let rows = || before.rows.iter().chain(&now.rows);
    let texts: Vec<usize> = (0..now.columns.len())
        .filter(|at| {
            rows().all(|row| matches!(row.get(*at), Some(Value::String(text)) if text.parse::<f64>().is_err()))
        })
        .collect();
    let are_apart = |kept: &SnapshotRows| by_key(kept, &texts).len() == kept.rows.len();
    if !texts.is_empty() && are_apart(before) && are_apart(now) { texts } else { Vec::new() }
}

type Rows<'a> = BTreeMap<Vec<String>, &'a Vec<Value>>;

fn by_key<'a>(kept: &'a SnapshotRows, keys: &[usize]) -> Rows<'a> {
    let key = |(place, row): (usize, &'a Vec<Value>)| match keys {
        [] => (vec![format!("row {:04}", place + 1)], row),
        keys => (keys.iter().map(|at| cell(row.get(*at))).collect(), row),
    };
    kept.rows.iter().enumerate().map(key).collect()
}

fn name(key: &[String]) -> String {
    key.join(", ").replace("row 000", "row ").replace("row 00", "row ").replace("row 0", "row ")
}

fn write_fields(kept: &SnapshotRows, row: &[Value], keys: &[usize]) -> String {
    let fields = (0..kept.columns.len()).filter(|at| !keys.contains(at));
    fields.map(|at| format!("{} {}", kept.columns[at], cell(row.get(at)))).collect::<Vec<_>>().join(", ")
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "nothing".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rows(columns: &[&str], rows: &Value) -> SnapshotRows {
        SnapshotRows {
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            rows: serde_json::from_value(rows.clone()).unwrap_or_default(),
        }
    }

    fn check(columns: &[&str], before: Value, now: Value, expected: &[&str], same: usize) {
        let change = Change::between(&rows(columns, &before), &rows(columns, &now)).unwrap_or_default();
        assert_eq!(
            (change.lines.iter().map(String::as_str).collect::<Vec<_>>(), change.same),
            (expected.to_vec(), same)
        );
    }

    #[test]
    fn compares_rows_by_key() {
        let columns = ["country", "customers"];
        let before = json!([["PT", 22], ["ES", 41], ["FR", 3]]);
        let now = json!([["ES", 41], ["PT", 25], ["IT", 1]]);
        check(&columns, before, now, &["IT is new: customers 1", "PT: customers 22 → 25", "FR was removed"], 1);
        check(&["n"], json!([[720]]), json!([[731]]), &["row 1: n 720 → 731"], 0);
        check(&columns, json!([["PT", 1]]), json!([["PT", 1]]), &[], 1);
        check(&columns, json!([["PT", 1], ["PT", 2]]), json!([["PT", 1], ["PT", 3]]), &["row 2: customers 2 → 3"], 1);
        assert_eq!(Change::between(&rows(&["a"], &json!([])), &rows(&["b"], &json!([]))), None);
    }
}
