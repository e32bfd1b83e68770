//! Rows of earlier steps as tables for later statements: `step_1`.

use std::{collections::BTreeMap, sync::Arc};

use prospector_connect::rows::Rows;
use prospector_engine::{Engine, Failure};
use serde_json::Value;

use crate::record::StepRun;

/// The outputs of the steps so far.
pub(crate) struct Inputs {
    engine: Arc<Engine>,
    /// The columns of each output, and whether rows are missing.
    outputs: BTreeMap<String, (Vec<String>, bool)>,
}

impl Inputs {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Inputs { engine, outputs: BTreeMap::new() }
    }

    /// Keeps the rows of a step for later statements.
    ///
    /// # Errors
    /// - If two columns have the same name.
    /// - If the rows exceed the memory limit.
    pub(crate) fn keep(&mut self, done: &StepRun) -> Result<(), Failure> {
        if !done.has_rows() {
            return Ok(());
        }
        let output = done.step.output();
        let rows = Rows { columns: done.columns.clone(), rows: done.rows.clone(), has_more: false };
        let origin = match done.tables.as_slice() {
            [only] => only.clone(),
            _ => output.clone(),
        };
        self.engine.keep(&output, &rows, &origin)?;
        self.outputs.insert(output, (done.columns.clone(), done.has_more));
        Ok(())
    }

    /// Returns the first of these outputs with missing rows.
    pub(crate) fn find_truncated<'a>(&self, names: &'a [String]) -> Option<&'a str> {
        let is_truncated = |name: &&String| self.outputs.get(*name).is_some_and(|(_, is_truncated)| *is_truncated);
        names.iter().find(is_truncated).map(String::as_str)
    }

    /// Returns the only value of a column of an output; `None` if it has none or several. A path leads into a JSON column: `geometry.lat`.
    pub(crate) async fn only_value(&self, output: &str, path: &str) -> Option<Value> {
        let (columns, _) = self.outputs.get(output)?;
        let find = |name: &str| columns.iter().find(|own| own.eq_ignore_ascii_case(name));
        let (column, inner) = match find(path) {
            Some(column) => (column, None),
            None => path.split_once('.').and_then(|(name, inner)| Some((find(name)?, Some(inner))))?,
        };
        let column = column.to_lowercase().replace('"', "\"\"");
        let sql = format!("SELECT DISTINCT \"{column}\" FROM {output} WHERE \"{column}\" IS NOT NULL");
        let limit = if inner.is_some() { MAX_NESTED } else { 2 };
        let found = self.engine.run(&sql, None, limit).await.ok()?.rows;
        let values = found.rows.into_iter().filter_map(|row| row.into_iter().next());
        let mut values: Vec<Value> = match inner {
            None => values.collect(),
            Some(inner) => values.flat_map(|value| find_nested(&value, inner)).collect(),
        };
        values.dedup();
        match values.as_slice() {
            [_] if !found.has_more => values.pop(),
            _ => None,
        }
    }
}

/// Limit on the values of a JSON column that are compared.
const MAX_NESTED: usize = 1_000;

/// Returns the values at a path within JSON, descending into each element of lists.
fn find_nested(json: &Value, path: &str) -> Vec<Value> {
    let parsed = json.as_str().and_then(|text| serde_json::from_str(text).ok());
    let mut found = vec![parsed.unwrap_or_default()];
    for name in path.split('.') {
        let items = found.into_iter().flat_map(|value| match value {
            Value::Array(items) => items,
            other => vec![other],
        });
        found = items.filter_map(|item| item.get(name).cloned()).collect();
    }
    found.retain(|value| !value.is_null());
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_lead_into_json() {
        for (text, path, expected) in [
            (json!({"lat": 1.5}), "lat", json!([1.5])),
            (json!({"geo": {"lat": 1.5}}), "geo.lat", json!([1.5])),
            (json!([{"id": 1}, {"id": 2}]), "id", json!([1, 2])),
            (json!({"lat": null}), "lat", json!([])),
            (json!("no object"), "lat", json!([])),
        ] {
            let found = find_nested(&Value::String(text.to_string()), path);
            assert_eq!(Value::Array(found), expected, "{text} {path}");
        }
    }
}
