//! Decoding of values of the MySQL binary protocol.
//!
//! Formats: "Binary Protocol Resultset Row" and "Binary Protocol Value" of the MySQL client/server protocol.

use std::fmt::Write;

use serde_json::Value;
use sqlx::mysql::MySqlRow;
use sqlx::{Decode, MySql, Row, Type, TypeInfo, ValueRef};

use crate::display;
use crate::filter::decimal;

/// Returns the value, without truncation.
pub(super) fn value(row: &MySqlRow, index: usize) -> Value {
    let Ok(raw) = row.try_get_raw(index) else { return Value::Null };
    if raw.is_null() {
        return Value::Null;
    }
    // Texts with a binary collation are called binary too, but have a character set.
    let is_text = <str as Type<MySql>>::compatible(&raw.type_info());
    let name = if is_text { "TEXT".to_owned() } else { raw.type_info().name().to_owned() };
    <&[u8] as Decode<MySql>>::decode(raw).map_or(Value::Null, |bytes| of_bytes(&name, bytes))
}

/// Returns the size of the decoded value in bytes.
pub(super) fn size(row: &MySqlRow, index: usize) -> usize {
    let Ok(raw) = row.try_get_raw(index) else { return 0 };
    if raw.is_null() {
        return 0;
    }
    // Two digits per byte.
    let times = if <str as Type<MySql>>::compatible(&raw.type_info()) { 1 } else { 2 };
    <&[u8] as Decode<MySql>>::decode(raw).map_or(0, |bytes| bytes.len() * times)
}

/// Returns a value of the text protocol.
pub(super) fn text(row: &MySqlRow, index: usize) -> String {
    let bytes = row.try_get_raw(index).ok().and_then(|raw| <&[u8] as Decode<MySql>>::decode(raw).ok());
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

fn of_bytes(name: &str, bytes: &[u8]) -> Value {
    let text = || String::from_utf8_lossy(bytes).into_owned();
    match name {
        "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => read_signed(bytes).into(),
        "YEAR" => read_unsigned(bytes.iter().rev()).into(),
        _ if name.ends_with("UNSIGNED") => read_unsigned(bytes.iter().rev()).into(),
        // The most significant byte is first.
        "BIT" => read_unsigned(bytes.iter()).into(),
        "FLOAT" => match bytes.try_into().map(f32::from_le_bytes) {
            // The shortest decimal of the 32-bit value, not that of its nearest double.
            Ok(number) => number.to_string().parse().map_or_else(|_| text().into(), display::float),
            Err(_) => text().into(),
        },
        "DOUBLE" => bytes.try_into().map(f64::from_le_bytes).map_or_else(|_| text().into(), display::float),
        "DECIMAL" => decimal(&text()),
        // The first byte is the length.
        "DATE" | "DATETIME" | "TIMESTAMP" => date(bytes.get(1..).unwrap_or_default(), name == "DATE").into(),
        "TIME" => time(bytes.get(1..).unwrap_or_default()).into(),
        "JSON" => crate::postgres::json(&text()),
        "BINARY" | "VARBINARY" | "TINYBLOB" | "BLOB" | "MEDIUMBLOB" | "LONGBLOB" | "GEOMETRY" => {
            display::hexadecimal(bytes).into()
        }
        _ => text().into(),
    }
}

fn read_signed(bytes: &[u8]) -> i64 {
    let sign = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let mut wide = [sign; 8];
    let length = bytes.len().min(8);
    wide[..length].copy_from_slice(&bytes[..length]);
    i64::from_le_bytes(wide)
}

fn read_unsigned<'a>(bytes: impl Iterator<Item = &'a u8>) -> u64 {
    bytes.fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// Decodes year, month, day; hour, minute, second; microseconds. Trailing zero parts are omitted in the encoding.
fn date(bytes: &[u8], day_only: bool) -> String {
    let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
    let mut shown = format!("{:04}-{:02}-{:02}", u16::from_le_bytes([at(0), at(1)]), at(2), at(3));
    if !day_only {
        let _ = write!(shown, " {:02}:{:02}:{:02}", at(4), at(5), at(6));
        shown += &micros(bytes.get(7..11));
    }
    shown
}

/// Decodes sign, days; hour, minute, second; microseconds. A time may have hundreds of hours.
fn time(bytes: &[u8]) -> String {
    let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
    let days = u64::from(u32::from_le_bytes([at(1), at(2), at(3), at(4)]));
    let sign = if at(0) == 1 { "-" } else { "" };
    let hours = days * 24 + u64::from(at(5));
    format!("{sign}{hours:02}:{:02}:{:02}{}", at(6), at(7), micros(bytes.get(8..12)))
}

fn micros(bytes: Option<&[u8]>) -> String {
    match bytes.and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes) {
        Some(micros) if micros > 0 => format!(".{micros:06}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(name: &str, bytes: &[u8], expected: Value) {
        assert_eq!(of_bytes(name, bytes), expected, "{name}");
    }

    #[test]
    fn decodes_binary_values() {
        check("INT", &[0xfe, 0xff, 0xff, 0xff], json!(-2));
        check("BIGINT UNSIGNED", &[0xff; 8], json!(u64::MAX));
        check("BIT", &[1, 0], json!(256));
        check("YEAR", &[0xe8, 0x07], json!(2024));
        check("FLOAT", &0.1_f32.to_le_bytes(), json!(0.1));
        check("DATE", &[4, 0xe8, 0x07, 2, 29], json!("2024-02-29"));
        check("DATETIME", &[0], json!("0000-00-00 00:00:00"));
        check("DATETIME", &[11, 0xe8, 0x07, 2, 29, 1, 2, 3, 1, 0, 0, 0], json!("2024-02-29 01:02:03.000001"));
        check("TIME", &[8, 1, 34, 0, 0, 0, 22, 59, 59], json!("-838:59:59"));
        check("TIME", &[0], json!("00:00:00"));
        check("VARBINARY", &[0, 255], json!("\\x00ff"));
        check("DECIMAL", b"12345678901234567890.5", json!("12345678901234567890.5"));
    }
}
