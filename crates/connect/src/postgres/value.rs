//! Parsing of PostgreSQL values in text form.

use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{Row, TypeInfo, ValueRef};

use crate::display;
use crate::filter::decimal;

/// Returns the value, without truncation.
pub(super) fn value(row: &PgRow, index: usize) -> Value {
    let Ok(raw) = row.try_get_raw(index) else { return Value::Null };
    if raw.is_null() {
        return Value::Null;
    }
    let name = raw.type_info().name().to_owned();
    let Ok(text) = raw.as_str() else {
        return raw.as_bytes().map_or(Value::Null, |bytes| String::from_utf8_lossy(bytes).into_owned().into());
    };
    match name.as_str() {
        "BOOL" => Value::Bool(text == "t"),
        "INT2" | "INT4" | "INT8" | "OID" => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
        "FLOAT4" | "FLOAT8" => text.parse::<f64>().ok().filter(|n| n.is_finite()).map_or(text.into(), display::float),
        "NUMERIC" => decimal(text),
        "JSON" | "JSONB" => json(text),
        _ => text.into(),
    }
}

/// Parses a JSON text; it stays a text if a number in it has more digits than JSON numbers here can represent.
pub(crate) fn json(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value) if !has_long_numbers(text) => value,
        _ => text.into(),
    }
}

fn has_long_numbers(text: &str) -> bool {
    let (mut quoted, mut escaped, mut digits, mut fraction) = (false, false, 0, false);
    for byte in text.bytes() {
        if quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'0'..=b'9' => digits += 1,
            b'.' | b'e' | b'E' if digits > 0 => fraction = true,
            b'+' | b'-' if fraction => {}
            _ => (digits, fraction) = (0, false),
        }
        // 64-bit integers represent at least 18 digits, doubles 15.
        if digits > 18 || (fraction && digits > 15) {
            return true;
        }
        quoted = byte == b'"';
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_number_inside_json_loses_digits() {
        assert_eq!(
            json(r#"{"a": 1.5, "b": [9007199254740993, "1234567890123456789.5"]}"#)["b"][0],
            9_007_199_254_740_993_i64
        );
        for long in ["[1234567890123456.5]", "12345678901234567890", r#"{"a": 0.12345678901234567}"#, "nonsense"] {
            assert_eq!(json(long), json!(long));
        }
        assert_eq!(json("1e-5"), json!(1e-5));
    }
}
