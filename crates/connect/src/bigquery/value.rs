//! Conversion of BigQuery's JSON values by type, and of values to query parameters.
//! <https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/query>

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use datafusion::arrow::temporal_conversions::timestamp_us_to_datetime;
use serde_json::{Map, Value, json};

use crate::display;
use crate::filter::{ConditionError, boolean, decimal, number, text};

/// Maximum nesting depth of records; BigQuery allows 15.
const DEEPEST: usize = 32;

/// Converts the rows of a result; records and lists become JSON texts.
pub(super) fn rows(fields: &[Value], rows: &[Value]) -> Vec<Vec<Value>> {
    let cells = |row: &Value| -> Vec<Value> {
        let cells = row.get("f").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let cell = |(at, field): (usize, &Value)| {
            let value = cells.get(at).and_then(|cell| cell.get("v")).unwrap_or(&Value::Null);
            match whole(field, value, 0) {
                parts @ (Value::Array(_) | Value::Object(_)) => Value::String(parts.to_string()),
                other => other,
            }
        };
        fields.iter().enumerate().map(cell).collect()
    };
    rows.iter().map(cells).collect()
}

fn whole(field: &Value, value: &Value, depth: usize) -> Value {
    let word = |key: &str| field.get(key).and_then(Value::as_str).unwrap_or_default();
    if depth > DEEPEST {
        return Value::Null;
    }
    if word("mode") == "REPEATED" {
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        let mut single = field.clone();
        single["mode"] = "NULLABLE".into();
        let item = |item: &Value| whole(&single, item.get("v").unwrap_or(&Value::Null), depth + 1);
        return items.iter().map(item).collect::<Vec<_>>().into();
    }
    if value.is_null() {
        return Value::Null;
    }
    let inner = field.get("fields").and_then(Value::as_array);
    if let (Some(inner), Some(cells)) = (inner, value.get("f").and_then(Value::as_array)) {
        let made = inner.iter().zip(cells).map(|(field, cell)| {
            let name = field.get("name").and_then(Value::as_str).unwrap_or_default();
            (name.to_owned(), whole(field, cell.get("v").unwrap_or(&Value::Null), depth + 1))
        });
        return Value::Object(made.collect::<Map<_, _>>());
    }
    scalar(word("type"), value)
}

fn scalar(kind: &str, value: &Value) -> Value {
    let Value::String(text) = value else { return value.clone() };
    match kind {
        "INTEGER" | "INT64" | "NUMERIC" | "BIGNUMERIC" => decimal(text),
        "FLOAT" | "FLOAT64" => text.parse().map_or_else(|_| Value::String(text.clone()), display::float),
        "BOOLEAN" | "BOOL" => Value::Bool(text == "true"),
        "TIMESTAMP" => moment(text).map_or_else(|| Value::String(text.clone()), Value::String),
        "BYTES" => STANDARD.decode(text).map_or_else(|_| value.clone(), |bytes| display::hexadecimal(&bytes).into()),
        _ => value.clone(),
    }
}

/// Formats microseconds since 1970 as `2024-01-31T10:00:00.5Z`.
fn moment(text: &str) -> Option<String> {
    let time = timestamp_us_to_datetime(text.parse().ok()?)?;
    Some(format!("{}Z", time.format("%Y-%m-%dT%H:%M:%S%.f")))
}

/// A query parameter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameter {
    kind: &'static str,
    value: String,
}

impl Parameter {
    pub(super) fn text(value: impl Into<String>) -> Parameter {
        Parameter { kind: "STRING", value: value.into() }
    }

    /// Converts a value to a parameter that is compared with a column of that type.
    ///
    /// # Errors
    /// If the value does not fit the type.
    pub(super) fn of(data_type: &str, value: &Value) -> Result<Parameter, ConditionError> {
        let made = |kind, value: String| Ok(Parameter { kind, value });
        match base(data_type) {
            "INT64" | "INTEGER" | "NUMERIC" | "DECIMAL" | "BIGNUMERIC" | "BIGDECIMAL" => {
                let written = number(value)?;
                let kind = match () {
                    () if written.parse::<i64>().is_ok() => "INT64",
                    () if written.contains(['e', 'E']) => "FLOAT64",
                    () => "BIGNUMERIC",
                };
                made(kind, written)
            }
            "FLOAT64" | "FLOAT" => made("FLOAT64", number(value)?),
            "BOOL" | "BOOLEAN" => made("BOOL", boolean(value)?.to_string()),
            "DATE" => made("DATE", text(value).chars().take(10).collect()),
            "DATETIME" => made("DATETIME", text(value)),
            "TIMESTAMP" => made("TIMESTAMP", text(value)),
            "TIME" => made("TIME", text(value)),
            "BYTES" => {
                let text = text(value);
                let bytes = match text.strip_prefix("\\x") {
                    Some(digits) => display::bytes_of(digits).ok_or(ConditionError::Bytes)?,
                    None => text.into_bytes(),
                };
                made("BYTES", STANDARD.encode(bytes))
            }
            _ => made("STRING", text(value)),
        }
    }

    pub(super) fn json(&self, name: &str) -> Value {
        json!({"name": name, "parameterType": {"type": self.kind}, "parameterValue": {"value": self.value}})
    }
}

/// Returns the type without its parameters: `NUMERIC(10, 2)` is a `NUMERIC`.
pub(super) fn base(data_type: &str) -> &str {
    data_type.split(['(', '<', ' ']).next().unwrap_or(data_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_values_losslessly() {
        let check = |field: Value, cell: Value, expected: Value| {
            assert_eq!(rows(std::slice::from_ref(&field), &[json!({"f": [{"v": cell}]})]), [[expected]], "{field}");
        };
        let of = |kind: &str| json!({"name": "a", "type": kind, "mode": "NULLABLE"});
        check(of("INTEGER"), json!("9223372036854775807"), json!(i64::MAX));
        check(of("NUMERIC"), json!("12345678901234567890.5"), json!("12345678901234567890.5"));
        check(of("FLOAT"), json!("0.1"), json!(0.1));
        check(of("FLOAT"), json!("NaN"), json!("NaN"));
        check(of("BOOLEAN"), json!("false"), json!(false));
        check(of("TIMESTAMP"), json!("1706695200500000"), json!("2024-01-31T10:00:00.500Z"));
        check(of("BYTES"), json!("AP8="), json!("\\x00ff"));
        check(of("STRING"), json!(null), json!(null));
        check(
            json!({"name": "a", "type": "RECORD", "mode": "REPEATED", "fields": [of("INTEGER"), {"name": "b", "type": "STRING"}]}),
            json!([{"v": {"f": [{"v": "1"}, {"v": "x"}]}}]),
            json!("[{\"a\":1,\"b\":\"x\"}]"),
        );
    }

    #[test]
    fn binds_parameters_with_the_type_of_the_column() {
        let check = |kind: &str, value: Value, expected: Result<(&str, &str), &str>| match (
            Parameter::of(kind, &value),
            expected,
        ) {
            (Ok(made), Ok((kind, value))) => assert_eq!((made.kind, made.value.as_str()), (kind, value)),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (made, _) => panic!("{made:?}"),
        };
        check("INT64", json!(17.5), Ok(("BIGNUMERIC", "17.5")));
        check("INT64", json!("36 OR 1=1"), Err("contains numbers"));
        check("NUMERIC(10, 2)", json!("36"), Ok(("INT64", "36")));
        check("BOOL", json!("yes"), Ok(("BOOL", "true")));
        check("BYTES", json!("\\x00ff"), Ok(("BYTES", "AP8=")));
        check("STRING(9)", json!("x' OR '1'='1"), Ok(("STRING", "x' OR '1'='1")));
    }
}
