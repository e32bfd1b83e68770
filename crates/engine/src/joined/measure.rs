//! Memory use of rows.

use prospector_connect::rows::Rows;
use serde_json::Value;

/// The overhead of a row.
const ROW: usize = size_of::<Vec<Value>>();

/// Returns the approximate memory use of rows in bytes.
pub(crate) fn rows(rows: &Rows) -> usize {
    rows.rows.iter().map(|row| ROW + row.iter().map(value).sum::<usize>()).sum()
}

/// Returns the approximate memory use of a value in bytes.
pub(crate) fn value(held: &Value) -> usize {
    let inside = match held {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(value).sum(),
        Value::Object(map) => map.iter().map(|(name, inner)| ROW + name.len() + value(inner)).sum(),
    };
    size_of::<Value>() + inside
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn measures_nested_values() {
        let text = "x".repeat(1000);
        for deep in [json!(text), json!([text]), json!({"a": [text]}), json!({text.as_str(): null})] {
            assert!((1000..1400).contains(&value(&deep)), "{}", value(&deep));
        }
        let many = Rows { columns: vec!["a".into()], rows: vec![vec![json!(1)]; 100], has_more: false };
        assert_eq!(rows(&many), 100 * (ROW + size_of::<Value>()));
    }
}
