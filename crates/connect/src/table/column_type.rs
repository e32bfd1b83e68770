//! Source-independent types of column values.

use serde::{Deserialize, Serialize};

/// The type of the values of a column, independent of the source. The connector that describes a column chooses the type,
/// since only it knows the types of its source; [`crate::table::Column::data_type`] keeps the source's type name for
/// people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// True or false.
    Boolean,
    /// Whole numbers of at most 64 bits, signed.
    Integer,
    /// Decimal numbers, and whole numbers of more than 64 bits.
    Decimal {
        /// The number of digits, 1 to 38.
        precision: u8,
        /// The number of digits after the decimal point, 0 to `precision`.
        scale: i8,
    },
    /// Floating-point numbers, and decimal numbers of unknown precision.
    Float,
    /// Calendar days.
    Date,
    /// Points in time, to the microsecond.
    Timestamp,
    /// Days or points in time that the source stores as texts.
    DateText,
    /// Texts that the source compares by their characters only.
    Text,
    /// Bytes.
    Bytes,
    /// Lists, objects and other values with parts, returned as JSON texts.
    Nested,
    /// Everything else, returned as texts: enumerations, UUIDs, intervals, columns with values of several types.
    #[default]
    Other,
}

impl ColumnType {
    /// All types, with `DECIMAL(10, 2)` representing all decimals.
    pub const ALL: [ColumnType; 11] = [
        ColumnType::Boolean,
        ColumnType::Integer,
        ColumnType::Decimal { precision: 10, scale: 2 },
        ColumnType::Float,
        ColumnType::Date,
        ColumnType::Timestamp,
        ColumnType::DateText,
        ColumnType::Text,
        ColumnType::Bytes,
        ColumnType::Nested,
        ColumnType::Other,
    ];

    /// Whether the values are numbers.
    pub fn is_numeric(self) -> bool {
        matches!(self, ColumnType::Integer | ColumnType::Decimal { .. } | ColumnType::Float)
    }

    /// Whether the values have neither an order nor a short form, so their range and samples are meaningless.
    pub fn is_opaque(self) -> bool {
        matches!(self, ColumnType::Bytes | ColumnType::Nested)
    }

    /// Returns the decimal type with the precision and scale in parentheses, as in `numeric(10,2)`; `Float` if there are
    /// none, or if they exceed 38 digits.
    pub(crate) fn from_parameters(declared: &str) -> ColumnType {
        let parsed = || {
            let inside = declared.split_once('(')?.1.split_once(')')?.0;
            let (precision, scale) = inside.split_once(',').unwrap_or((inside, "0"));
            let (precision, scale): (u8, i8) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
            let is_possible = (1..=38).contains(&precision) && (0..=precision as i8).contains(&scale);
            is_possible.then_some(ColumnType::Decimal { precision, scale })
        };
        parsed().unwrap_or(ColumnType::Float)
    }

    /// Maps the declared type of an unknown SQL database: for scripts and projects that describe tables without naming
    /// the database.
    pub fn from_sql(declared: &str) -> ColumnType {
        let word = declared.to_lowercase();
        let starts = |words: &[&str]| words.iter().any(|start| word.starts_with(start));
        match () {
            () if word.ends_with(']') || starts(&["array", "struct", "map", "list", "json", "record", "variant"]) => {
                ColumnType::Nested
            }
            () if starts(&["interval"]) => ColumnType::Other,
            () if starts(&["blob", "bytea", "bytes", "binary", "varbinary"]) => ColumnType::Bytes,
            () if starts(&["int", "bigint", "smallint", "tinyint", "mediumint", "byteint", "serial", "bigserial"]) => {
                ColumnType::Integer
            }
            () if starts(&["numeric", "decimal", "number", "bignumeric"]) => ColumnType::from_parameters(&word),
            () if starts(&["float", "real", "double"]) => ColumnType::Float,
            () if starts(&["bool"]) => ColumnType::Boolean,
            () if starts(&["timestamp", "datetime"]) => ColumnType::Timestamp,
            () if word == "date" => ColumnType::Date,
            () if starts(&["char", "varchar", "nvarchar", "nchar", "text", "string", "clob"]) => ColumnType::Text,
            () => ColumnType::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_decimal_precision() {
        let check = |declared: &str, expected: Option<(u8, i8)>| {
            let expected =
                expected.map_or(ColumnType::Float, |(precision, scale)| ColumnType::Decimal { precision, scale });
            assert_eq!(ColumnType::from_parameters(declared), expected, "{declared}");
        };
        check("numeric(10,2)", Some((10, 2)));
        check("decimal( 38 , 0 ) unsigned", Some((38, 0)));
        check("NUMBER(9)", Some((9, 0)));
        check("numeric", None);
        check("numeric(39,2)", None);
        check("numeric(5,6)", None);
        check("numeric(5,-1)", None);
    }

    #[test]
    fn maps_declared_sql_types() {
        let check = |declared: &str, expected| assert_eq!(ColumnType::from_sql(declared), expected, "{declared}");
        check("INTEGER", ColumnType::Integer);
        check("VARCHAR(40)", ColumnType::Text);
        check("NUMERIC(10, 2)", ColumnType::Decimal { precision: 10, scale: 2 });
        check("TIMESTAMP WITH TIME ZONE", ColumnType::Timestamp);
        check("DATE", ColumnType::Date);
        check("TEXT[]", ColumnType::Nested);
        check("ARRAY<STRUCT<a INT64>>", ColumnType::Nested);
        check("INTERVAL", ColumnType::Other);
        check("", ColumnType::Other);
    }
}
