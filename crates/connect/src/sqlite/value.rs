//! SQLite values, each with a storage class of its own, whatever the declared type of its column.

use serde_json::Value;
use sqlx::sqlite::{SqliteRow, SqliteValueRef};
use sqlx::{Decode, Row, Sqlite, TypeInfo, ValueRef};

use crate::display;

/// Returns the value for display; `None` for null.
pub(super) fn value(row: &SqliteRow, index: usize) -> Option<Value> {
    let raw = row.try_get_raw(index).ok()?;
    if raw.is_null() {
        return None;
    }
    let class = raw.type_info().name().to_owned();
    match class.as_str() {
        "INTEGER" => <i64 as Decode<Sqlite>>::decode(raw).ok().map(Value::from),
        "REAL" => <f64 as Decode<Sqlite>>::decode(raw).ok().map(display::float),
        "BLOB" => Some(display::blob(bytes(raw).len())),
        _ => Some(display::text(&String::from_utf8_lossy(&bytes(raw)))),
    }
}

/// Returns an integer, such as a count; 0 for anything else.
pub(super) fn integer(row: &SqliteRow, index: usize) -> i64 {
    row.try_get_unchecked(index).unwrap_or(0)
}

/// Returns a text, such as a name; empty for null. Invalid UTF-8 is replaced.
pub(super) fn text(row: &SqliteRow, index: usize) -> String {
    row.try_get_raw(index).map_or_else(|_| String::new(), |raw| String::from_utf8_lossy(&bytes(raw)).into_owned())
}

fn bytes(raw: SqliteValueRef<'_>) -> Vec<u8> {
    <Vec<u8> as Decode<Sqlite>>::decode(raw).unwrap_or_default()
}
