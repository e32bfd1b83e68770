//! Wraps a query so that the server checks the size of each value before it sends a row.

use sqlx::postgres::PgRow;
use sqlx::{Row, ValueRef};

use crate::budget::{MAX_ANSWER_BYTES, MAX_CELL_BYTES};

/// The outcome for a row.
pub(super) enum FlaggedRow {
    Fits,
    /// The value of that column is too large.
    Cell(usize),
    /// All values together are too large.
    Row,
}

/// How the size of a value is determined, by type.
enum Size {
    /// Always small, including numbers, of which the longest has 147,456 digits.
    Small,
    /// The number of bytes is known without reading the value.
    Text,
    /// Like [`Size::Text`], but each byte is sent as two digits.
    Bytes,
    /// The size is that of the text that is sent.
    Other,
}

/// Returns the size class of a type, by the driver's name.
fn size(name: &str) -> Size {
    match name {
        "BOOL" | "INT2" | "INT4" | "INT8" | "OID" | "FLOAT4" | "FLOAT8" | "NUMERIC" | "MONEY" | "DATE" | "TIME"
        | "TIMETZ" | "TIMESTAMP" | "TIMESTAMPTZ" | "INTERVAL" | "UUID" | "NAME" | "\"CHAR\"" | "INET" | "CIDR"
        | "MACADDR" | "MACADDR8" | "POINT" | "LSEG" | "BOX" | "LINE" | "CIRCLE" | "VOID" => Size::Small,
        "TEXT" | "VARCHAR" | "CHAR" | "UNKNOWN" => Size::Text,
        "BYTEA" => Size::Bytes,
        _ => Size::Other,
    }
}

/// Wraps a query with one more column: 0 if the row is complete, the 1-based position of the column whose value is too
/// large, or -1 if all values together are; the values are null then. `None` if no value can be large.
///
/// Columns are renamed to numbers, so duplicate names are allowed. The row order is kept: a subquery scan returns rows in
/// order, and `OFFSET 0` prevents the planner from merging the two queries, which would evaluate the sizes repeatedly.
pub(super) fn wrap(sql: &str, types: &[&str]) -> Option<String> {
    let sizes: Vec<(usize, String)> = types
        .iter()
        .enumerate()
        .filter_map(|(at, name)| {
            let column = format!("a.c{at}");
            let bytes = match size(name) {
                Size::Small => return None,
                Size::Text => format!("octet_length({column})"),
                Size::Bytes => format!("octet_length({column})::bigint * 2 + 2"),
                // Large stored values are not converted to text to measure them.
                Size::Other => format!(
                    "CASE WHEN pg_column_size({column}) > {MAX_CELL_BYTES} THEN pg_column_size({column}) \
                     ELSE octet_length({column}::text) END"
                ),
            };
            Some((at, bytes))
        })
        .collect();
    if sizes.is_empty() {
        return None;
    }
    let cells: Vec<String> =
        sizes.iter().map(|(at, bytes)| format!("WHEN {bytes} > {MAX_CELL_BYTES} THEN {}", at + 1)).collect();
    let row = match sizes.as_slice() {
        [_] => String::new(),
        several => {
            let sum: Vec<String> = several.iter().map(|(_, bytes)| format!("coalesce({bytes}, 0)::bigint")).collect();
            format!(" WHEN {} > {MAX_ANSWER_BYTES} THEN -1", sum.join(" + "))
        }
    };
    let names: Vec<String> = (0..types.len()).map(|at| format!("c{at}")).collect();
    let shown: Vec<String> = (0..types.len())
        .map(|at| match sizes.iter().any(|(other, _)| *other == at) {
            true => format!("CASE WHEN b.flag = 0 THEN b.c{at} END"),
            false => format!("b.c{at}"),
        })
        .collect();
    Some(format!(
        "SELECT {shown}, b.flag FROM (SELECT a.*, CASE {cells}{row} ELSE 0 END AS flag FROM (\n{sql}\n) AS a ({names}) \
         OFFSET 0) AS b",
        shown = shown.join(", "),
        cells = cells.join(" "),
        names = names.join(", "),
    ))
}

/// Reads the flag in the column after those of the query.
pub(super) fn flag(row: &PgRow, place: usize) -> FlaggedRow {
    let said = row.try_get_raw(place).ok().and_then(|raw| raw.as_str().ok()?.parse::<i64>().ok());
    match said {
        Some(0) => FlaggedRow::Fits,
        Some(column) if column > 0 => FlaggedRow::Cell(usize::try_from(column - 1).unwrap_or_default()),
        _ => FlaggedRow::Row,
    }
}

/// Returns the size of a value in bytes.
pub(super) fn bytes(row: &PgRow, place: usize) -> usize {
    let raw = row.try_get_raw(place).ok().filter(|raw| !raw.is_null());
    raw.and_then(|raw| raw.as_bytes().ok().map(<[u8]>::len)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn does_not_wrap_queries_of_small_values() {
        assert_eq!(wrap("SELECT 1", &["INT4", "TIMESTAMPTZ", "NUMERIC", "VOID"]), None);
        let sql = wrap("SELECT 1, 'x' -- y", &["INT4", "TEXT"]).unwrap();
        assert_eq!(
            sql,
            "SELECT b.c0, CASE WHEN b.flag = 0 THEN b.c1 END, b.flag FROM (SELECT a.*, CASE WHEN octet_length(a.c1) > 1048576 \
             THEN 2 ELSE 0 END AS flag FROM (\nSELECT 1, 'x' -- y\n) AS a (c0, c1) OFFSET 0) AS b"
        );
    }
}
