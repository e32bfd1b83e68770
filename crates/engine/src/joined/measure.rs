//! How much memory rows take.

use prospector_connect::rows::Rows;
use serde_json::Value;

/// What a row takes besides its values.
const ROW: usize = size_of::<Vec<Value>>();

/// The bytes of memory that the rows take, about.
pub(crate) fn rows(rows: &Rows) -> usize {
    rows.rows.iter().map(|row| ROW + row.iter().map(value).sum::<usize>()).sum()
}

/// The bytes of memory that the value takes, about.
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
    fn what_is_inside_counts_however_deep() {
        let text = "x".repeat(1000);
        for deep in [json!(text), json!([text]), json!({"a": [text]}), json!({text.as_str(): null})] {
            assert!((1000..1400).contains(&value(&deep)), "{}", value(&deep));
        }
        let many = Rows { columns: vec!["a".into()], rows: vec![vec![json!(1)]; 100], has_more: false };
        assert_eq!(rows(&many), 100 * (ROW + size_of::<Value>()));
    }
}
