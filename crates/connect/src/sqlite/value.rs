//! SQLite values, each with a storage class of its own, whatever the declared type of its column.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::Value;

use crate::display;

/// Returns the value, without truncation. Invalid UTF-8 is replaced.
pub(super) fn json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => display::float(number),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
        ValueRef::Blob(bytes) => display::hexadecimal(bytes).into(),
    }
}

/// Returns the value at that position for display; the next column is 1 if it is the length of bytes.
pub(super) fn shorten(row: &Row<'_>, at: usize) -> Value {
    match row.get_ref(at).map_or(Value::Null, json) {
        Value::Number(bytes) if integer(row, at + 1) == 1 => {
            display::blob(bytes.as_u64().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0))
        }
        Value::String(text) => display::text(&text),
        other => other,
    }
}

/// Returns an integer, such as a count; 0 for anything else.
pub(super) fn integer(row: &Row<'_>, at: usize) -> i64 {
    match row.get_ref(at) {
        Ok(ValueRef::Integer(number)) => number,
        _ => 0,
    }
}

/// Returns a count, which is 0 if it is null.
pub(super) fn count(row: &Row<'_>, at: usize) -> u64 {
    u64::try_from(integer(row, at)).unwrap_or(0)
}

/// Returns a text, such as a name; empty for anything else.
pub(super) fn text(row: &Row<'_>, at: usize) -> String {
    match row.get_ref(at) {
        Ok(ValueRef::Text(text)) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    }
}
