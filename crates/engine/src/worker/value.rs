//! A binary encoding of JSON values that is exact: a floating-point number keeps every bit, which its JSON text does not
//! guarantee.

use serde_json::{Map, Number, Value};

/// The maximum nesting depth of values.
const MAX_DEPTH: usize = 200;

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const SIGNED: u8 = 3;
const UNSIGNED: u8 = 4;
const FLOAT: u8 = 5;
const TEXT: u8 = 6;
const ARRAY: u8 = 7;
const OBJECT: u8 = 8;

/// The bytes are not an encoding of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are not valid rows")]
pub(super) struct MalformedRows;

/// Appends rows, all of which must have the same number of values.
pub(super) fn write_rows(out: &mut Vec<u8>, rows: &[Vec<Value>]) {
    write_length(out, rows.len());
    write_length(out, rows.first().map_or(0, Vec::len));
    rows.iter().flatten().for_each(|value| write_value(out, value));
}

/// Decodes the rows that [`write_rows`] appended; no further bytes may follow.
///
/// # Errors
/// [`MalformedRows`].
pub(super) fn read_rows(bytes: &[u8]) -> Result<Vec<Vec<Value>>, MalformedRows> {
    let mut input = Input(bytes);
    let (rows, columns) = (input.length()?, input.length()?);
    let mut read = Vec::new();
    for _ in 0..rows {
        // Each value takes at least one byte, which limits the reservation.
        let mut row = Vec::with_capacity(columns.min(input.0.len()));
        for _ in 0..columns {
            row.push(input.value(0)?);
        }
        read.push(row);
        if columns == 0 && read.len() > MAX_EMPTY_ROWS {
            return Err(MalformedRows);
        }
    }
    if input.0.is_empty() { Ok(read) } else { Err(MalformedRows) }
}

/// Rows without columns take no bytes, so their number is limited separately.
const MAX_EMPTY_ROWS: usize = 1 << 20;

fn write_length(out: &mut Vec<u8>, length: usize) {
    out.extend_from_slice(&(length as u64).to_le_bytes());
}

fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(false) => out.push(FALSE),
        Value::Bool(true) => out.push(TRUE),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => {
            out.push(TEXT);
            write_text(out, text);
        }
        Value::Array(values) => {
            out.push(ARRAY);
            write_length(out, values.len());
            values.iter().for_each(|value| write_value(out, value));
        }
        Value::Object(map) => {
            out.push(OBJECT);
            write_length(out, map.len());
            for (name, value) in map {
                write_text(out, name);
                write_value(out, value);
            }
        }
    }
}

fn write_number(out: &mut Vec<u8>, number: &Number) {
    let (tag, bytes) = match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(signed), _, _) => (SIGNED, signed.to_le_bytes()),
        (_, Some(unsigned), _) => (UNSIGNED, unsigned.to_le_bytes()),
        (_, _, Some(float)) => (FLOAT, float.to_le_bytes()),
        (None, None, None) => {
            out.push(TEXT);
            return write_text(out, &number.to_string());
        }
    };
    out.push(tag);
    out.extend_from_slice(&bytes);
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    write_length(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

/// The remaining input.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], MalformedRows> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(MalformedRows)?;
        self.0 = rest;
        Ok(taken)
    }

    fn eight(&mut self) -> Result<[u8; 8], MalformedRows> {
        self.take(8)?.try_into().map_err(|_| MalformedRows)
    }

    fn length(&mut self) -> Result<usize, MalformedRows> {
        usize::try_from(u64::from_le_bytes(self.eight()?)).map_err(|_| MalformedRows)
    }

    fn text(&mut self) -> Result<String, MalformedRows> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| MalformedRows)
    }

    fn value(&mut self, depth: usize) -> Result<Value, MalformedRows> {
        if depth > MAX_DEPTH {
            return Err(MalformedRows);
        }
        Ok(match self.take(1)?[0] {
            NULL => Value::Null,
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            SIGNED => i64::from_le_bytes(self.eight()?).into(),
            UNSIGNED => u64::from_le_bytes(self.eight()?).into(),
            FLOAT => Number::from_f64(f64::from_le_bytes(self.eight()?)).ok_or(MalformedRows)?.into(),
            TEXT => Value::String(self.text()?),
            ARRAY => {
                let length = self.length()?;
                (0..length).map(|_| self.value(depth + 1)).collect::<Result<Vec<_>, _>>()?.into()
            }
            OBJECT => {
                let length = self.length()?;
                let mut map = Map::new();
                for _ in 0..length {
                    map.insert(self.text()?, self.value(depth + 1)?);
                }
                Value::Object(map)
            }
            _ => return Err(MalformedRows),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn decodes_encoded_values() {
        let floats = [0.1 + 0.2, 5e-324, f64::MAX, -0.0, 123_456_789.123_456_79];
        let mut rows: Vec<Vec<Value>> = floats.map(|float| vec![json!(float), Value::Null]).to_vec();
        rows.push(vec![json!(u64::MAX), json!(i64::MIN)]);
        rows.push(vec![json!({"b": [1, true, {"a": "ä\0"}], "a": {}}), json!(["", [], false])]);
        for rows in [rows, vec![vec![]; 3], vec![]] {
            let mut bytes = Vec::new();
            write_rows(&mut bytes, &rows);
            let read = read_rows(&bytes).unwrap();
            assert_eq!(format!("{read:?}"), format!("{rows:?}"));
            let exact = |rows: &[Vec<Value>]| -> Vec<u64> {
                rows.iter().flatten().filter_map(Value::as_f64).map(f64::to_bits).collect()
            };
            assert_eq!(exact(&read), exact(&rows));
            for cut in 0..bytes.len() {
                assert_eq!(read_rows(&bytes[..cut]), Err(MalformedRows), "{cut} bytes of {}", bytes.len());
            }
            bytes.push(NULL);
            assert_eq!(read_rows(&bytes), Err(MalformedRows));
        }
    }

    #[test]
    fn malformed_bytes_exhaust_neither_memory_nor_stack() {
        let mut many = Vec::new();
        write_length(&mut many, usize::MAX);
        write_length(&mut many, 0);
        assert_eq!(read_rows(&many), Err(MalformedRows));
        let mut wide = Vec::new();
        write_length(&mut wide, 1);
        write_length(&mut wide, usize::MAX);
        assert_eq!(read_rows(&wide), Err(MalformedRows));
        let mut deep = Vec::new();
        write_length(&mut deep, 1);
        write_length(&mut deep, 1);
        for _ in 0..100_000 {
            deep.push(ARRAY);
            write_length(&mut deep, 1);
        }
        assert_eq!(read_rows(&deep), Err(MalformedRows));
    }
}
