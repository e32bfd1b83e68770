//! Conversion of CQL values to JSON, and of values to bound values for key columns.

use std::net::IpAddr;
use std::str::FromStr;

use datafusion::arrow::compute::kernels::cast_utils::string_to_timestamp_nanos;
use datafusion::arrow::temporal_conversions::{date32_to_datetime, timestamp_ms_to_datetime};
use scylla::value::{CqlDate, CqlTimestamp, CqlTimeuuid, CqlValue};
use serde_json::Value;
use uuid::Uuid;

use crate::display;
use crate::document::{DEEPEST, Node};
use crate::filter::{ConditionError, boolean, decimal, number, text};

/// Converts a value of a row.
pub(super) fn node(value: Option<CqlValue>) -> Node {
    value.map_or(Node::Null, |value| to_node(value, 0))
}

fn to_node(value: CqlValue, depth: usize) -> Node {
    let words = |text: String| Node::Scalar("text", Value::String(text));
    if depth > DEEPEST {
        return Node::Null;
    }
    let inner = |value: CqlValue| to_node(value, depth + 1);
    let perhaps = |value: Option<CqlValue>| value.map_or(Node::Null, inner);
    match value {
        CqlValue::Ascii(text) | CqlValue::Text(text) => words(text),
        CqlValue::Boolean(yes) => Node::Scalar("boolean", yes.into()),
        CqlValue::Blob(bytes) => Node::Scalar("blob", display::hexadecimal(&bytes).into()),
        CqlValue::Counter(counter) => Node::Scalar("number", counter.0.into()),
        CqlValue::Int(number) => Node::Scalar("number", number.into()),
        CqlValue::BigInt(number) => Node::Scalar("number", number.into()),
        CqlValue::SmallInt(number) => Node::Scalar("number", number.into()),
        CqlValue::TinyInt(number) => Node::Scalar("number", number.into()),
        // The shortest decimal of the 32-bit value, not that of its nearest double.
        CqlValue::Float(number) => {
            Node::Scalar("number", number.to_string().parse().map_or(Value::Null, display::float))
        }
        CqlValue::Double(number) => Node::Scalar("number", display::float(number)),
        CqlValue::Varint(number) => Node::Scalar("number", whole(number.as_signed_bytes_be_slice(), 0)),
        CqlValue::Decimal(number) => {
            let (bytes, scale) = number.as_signed_be_bytes_slice_and_exponent();
            Node::Scalar("number", whole(bytes, scale))
        }
        CqlValue::Timestamp(CqlTimestamp(milliseconds)) => words(moment(milliseconds)),
        CqlValue::Date(CqlDate(days)) => words(day(i64::from(days) - (1 << 31))),
        CqlValue::Time(time) => {
            let (seconds, rest) = (time.0 / 1_000_000_000, time.0 % 1_000_000_000);
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            words(format!("{hours:02}:{minutes:02}:{:02}.{rest:09}", seconds % 60))
        }
        CqlValue::Duration(duration) => {
            words(format!("{}mo{}d{}ns", duration.months, duration.days, duration.nanoseconds))
        }
        CqlValue::Uuid(id) => words(id.to_string()),
        CqlValue::Timeuuid(id) => words(id.to_string()),
        CqlValue::Inet(address) => words(address.to_string()),
        CqlValue::List(items) | CqlValue::Set(items) => Node::List(items.into_iter().map(inner).collect()),
        CqlValue::Vector(items) => Node::List(items.into_iter().map(inner).collect()),
        CqlValue::Tuple(items) => Node::List(items.into_iter().map(perhaps).collect()),
        CqlValue::Map(pairs) => {
            Node::Object(pairs.into_iter().map(|(key, value)| (text(&inner(key).json()), inner(value))).collect())
        }
        CqlValue::UserDefinedType { fields, .. } => {
            Node::Object(fields.into_iter().map(|(name, value)| (name, perhaps(value))).collect())
        }
        _ => Node::Null,
    }
}

/// Formats milliseconds since 1970 as `2024-01-31T10:00:00.500Z`.
fn moment(milliseconds: i64) -> String {
    match timestamp_ms_to_datetime(milliseconds) {
        Some(time) => format!("{}Z", time.format("%Y-%m-%dT%H:%M:%S%.3f")),
        None => milliseconds.to_string(),
    }
}

/// Formats days since 1970 as `2024-01-31`.
fn day(days: i64) -> String {
    let time = i32::try_from(days).ok().and_then(date32_to_datetime);
    time.map_or_else(|| days.to_string(), |time| time.format("%Y-%m-%d").to_string())
}

/// Converts a two's complement integer with a decimal scale.
fn whole(bytes: &[u8], scale: i32) -> Value {
    if bytes.len() > 16 {
        return Value::String(display::hexadecimal(bytes));
    }
    let is_negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let mut wide = [if is_negative { 0xff } else { 0 }; 16];
    wide[16 - bytes.len()..].copy_from_slice(bytes);
    let number = i128::from_be_bytes(wide);
    let digits = number.unsigned_abs().to_string();
    let sign = if number < 0 { "-" } else { "" };
    match usize::try_from(scale) {
        Ok(0) => decimal(&format!("{sign}{digits}")),
        Ok(scale) if scale <= 1_000 => {
            let padded = format!("{digits:0>width$}", width = scale + 1);
            let (before, after) = padded.split_at(padded.len() - scale);
            decimal(&format!("{sign}{before}.{after}"))
        }
        _ => Value::String(format!("{sign}{digits}e{}", -i64::from(scale))),
    }
}

/// Returns the value as it is compared with a column of that type here, and as it is bound if the type is supported in
/// keys.
///
/// # Errors
/// If the value does not fit the type.
pub(super) fn fitting(data_type: &str, value: &Value) -> Result<(Value, Option<CqlValue>), ConditionError> {
    let same = |bound: Option<CqlValue>| Ok((value.clone(), bound));
    let integer = || number(value).map(|written| written.parse::<i64>().ok());
    let instant = |text: &str| {
        let wrong = |_| ConditionError::unfit("dates", text);
        string_to_timestamp_nanos(text).map_err(wrong)
    };
    match data_type {
        "ascii" => same(Some(CqlValue::Ascii(text(value))).filter(|_| text(value).is_ascii())),
        "text" | "varchar" => same(Some(CqlValue::Text(text(value)))),
        "int" => same(integer()?.and_then(|number| number.try_into().ok()).map(CqlValue::Int)),
        "smallint" => same(integer()?.and_then(|number| number.try_into().ok()).map(CqlValue::SmallInt)),
        "tinyint" => same(integer()?.and_then(|number| number.try_into().ok()).map(CqlValue::TinyInt)),
        "bigint" => same(integer()?.map(CqlValue::BigInt)),
        "counter" | "varint" | "decimal" | "float" => number(value).and_then(|_| same(None)),
        "double" => same(number(value)?.parse().ok().map(CqlValue::Double)),
        "boolean" => boolean(value).and_then(|yes| same(Some(CqlValue::Boolean(yes)))),
        "uuid" | "timeuuid" => {
            let id = Uuid::from_str(text(value).trim());
            let id = id.map_err(|_| ConditionError::unfit("UUIDs", &text(value)))?;
            let bound =
                if data_type == "uuid" { CqlValue::Uuid(id) } else { CqlValue::Timeuuid(CqlTimeuuid::from(id)) };
            Ok((Value::String(id.to_string()), Some(bound)))
        }
        "inet" => {
            let address = IpAddr::from_str(text(value).trim());
            let address = address.map_err(|_| ConditionError::unfit("addresses", &text(value)))?;
            Ok((Value::String(address.to_string()), Some(CqlValue::Inet(address))))
        }
        "timestamp" => {
            let nanoseconds = instant(text(value).trim())?;
            let milliseconds = nanoseconds.div_euclid(1_000_000);
            let is_whole = nanoseconds.rem_euclid(1_000_000) == 0;
            let bound = is_whole.then_some(CqlValue::Timestamp(CqlTimestamp(milliseconds)));
            Ok((Value::String(moment(milliseconds)), bound))
        }
        "date" => {
            let days = instant(text(value).trim())?.div_euclid(86_400_000_000_000);
            let bound = u32::try_from(days + (1 << 31)).ok().map(|days| CqlValue::Date(CqlDate(days)));
            Ok((Value::String(day(days)), bound))
        }
        _ => same(None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn converts_values_losslessly() {
        let check = |value: CqlValue, expected: Value| assert_eq!(node(Some(value)).json(), expected);
        check(CqlValue::Timestamp(CqlTimestamp(1_706_695_200_500)), json!("2024-01-31T10:00:00.500Z"));
        check(CqlValue::Date(CqlDate((1 << 31) - 1)), json!("1969-12-31"));
        check(CqlValue::Float(0.1), json!(0.1));
        check(CqlValue::Double(f64::NAN), json!("NaN"));
        check(CqlValue::Blob(vec![0, 255]), json!("\\x00ff"));
        check(CqlValue::Map(vec![(CqlValue::Int(1), CqlValue::Text("a".into()))]), json!({"1": "a"}));
        assert_eq!(whole(&[0xff, 0x85], 2), json!(-1.23));
        assert_eq!(whole(&[5], 3), json!(0.005));
        assert_eq!(whole(&i128::MAX.to_be_bytes(), 0), json!(i128::MAX.to_string()));
        assert_eq!(whole(&[1], -3), json!("1e3"));
    }

    #[test]
    fn converts_values_to_column_types_or_reports_why_not() {
        let check = |data_type: &str, value: Value, expected: Result<(Value, Option<CqlValue>), &str>| match (
            fitting(data_type, &value),
            expected,
        ) {
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, Ok(expected)) => assert_eq!(found, Ok(expected)),
            (found, _) => panic!("{found:?}"),
        };
        check("int", json!("36"), Ok((json!("36"), Some(CqlValue::Int(36)))));
        check("int", json!(17.5), Ok((json!(17.5), None)));
        check("int", json!("36 OR 1=1"), Err("contains numbers"));
        check("date", json!("1970-01-02"), Ok((json!("1970-01-02"), Some(CqlValue::Date(CqlDate((1 << 31) + 1))))));
        check("timestamp", json!("soon"), Err("contains dates"));
        check("uuid", json!("x"), Err("contains UUIDs"));
        check("list<text>", json!("x"), Ok((json!("x"), None)));
    }
}
