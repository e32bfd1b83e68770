//! Rows as CBOR: unlike in JSON text, floating-point numbers keep every bit.

use serde_json::Value;

/// The maximum nesting depth of values, including their row and the list of rows.
const MAX_DEPTH: usize = 200;

/// The bytes are not an encoding of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are not valid rows")]
pub(super) struct MalformedRows;

/// Appends rows.
pub(super) fn write_rows(out: &mut Vec<u8>, rows: &[Vec<Value>]) {
    ciborium::into_writer(rows, out).expect("JSON values have an encoding, and memory can be written to");
}

/// Decodes the rows that [`write_rows`] appended; no further bytes may follow.
///
/// # Errors
/// [`MalformedRows`].
pub(super) fn read_rows(mut bytes: &[u8]) -> Result<Vec<Vec<Value>>, MalformedRows> {
    let rows = ciborium::de::from_reader_with_recursion_limit(&mut bytes, MAX_DEPTH);
    rows.ok().filter(|_| bytes.is_empty()).ok_or(MalformedRows)
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
            bytes.push(0);
            assert_eq!(read_rows(&bytes), Err(MalformedRows));
        }
    }

    #[test]
    fn malformed_bytes_exhaust_neither_memory_nor_stack() {
        // Lists of 2^64 - 1 rows, and of as many values.
        let many = [0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(read_rows(&many), Err(MalformedRows));
        assert_eq!(read_rows(&[&[0x81][..], &many].concat()), Err(MalformedRows));
        // A text of 2^64 - 1 bytes.
        assert_eq!(read_rows(&[&[0x81, 0x81, 0x7b][..], &[0xff; 8]].concat()), Err(MalformedRows));
        assert_eq!(read_rows(&[0x81; 100_000]), Err(MalformedRows));
    }
}
