//! The MySQL syntax of names, values and patterns.

use serde_json::Value;

use crate::filter::{ConditionError, boolean, number, text};
use crate::statement::{self, BoundValue, TypedColumn};
use crate::{display, sql_server};

/// The SQL of MySQL and MariaDB.
pub(super) struct Dialect;

impl statement::Dialect for Dialect {
    fn quote(&self, name: &str) -> String {
        format!("`{}`", name.replace('`', "``"))
    }

    fn bind(&self, _: usize, column: &TypedColumn, value: &Value) -> Result<(String, BoundValue), ConditionError> {
        // MySQL compares texts with numbers as doubles, where every word is 0.
        let whole = |number: String| match number.parse::<i64>() {
            Ok(number) => ("?".to_owned(), BoundValue::Integer(number)),
            Err(_) => ("CAST(? AS DECIMAL(65,30))".to_owned(), BoundValue::Text(number)),
        };
        Ok(match (<Shape as sql_server::Shape>::of(column), column.data_type.as_str()) {
            (_, "float" | "double") => {
                let number = number(value)?;
                (
                    "?".to_owned(),
                    BoundValue::Float(number.parse().map_err(|_| ConditionError::unfit("numbers", &number))?),
                )
            }
            (_, "bit") if value.is_boolean() => ("?".to_owned(), BoundValue::Integer(boolean(value)?.into())),
            (_, "tinyint") if value.is_boolean() => ("?".to_owned(), BoundValue::Integer(boolean(value)?.into())),
            (Shape::Number | Shape::Bits, _) => whole(number(value)?),
            (Shape::Bytes, _) => {
                let text = text(value);
                match text.strip_prefix("\\x") {
                    Some(digits) => ("UNHEX(?)".to_owned(), BoundValue::Text(digits.to_owned())),
                    None => ("?".to_owned(), BoundValue::Text(text)),
                }
            }
            (Shape::Ordered | Shape::Words | Shape::Nested, _) => ("?".to_owned(), BoundValue::Text(text(value))),
        })
    }

    fn like(&self, column: &str, _: usize) -> String {
        // Converted to a text of the connection, whose collation is case-insensitive.
        format!("CAST({column} AS CHAR) LIKE ?")
    }
}

/// The supported operations on values of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Number,
    Bits,
    /// Ordered values: dates and times.
    Ordered,
    /// Ordered as texts.
    Words,
    Bytes,
    /// Without a meaningful order.
    Nested,
}

impl Shape {
    /// Returns an expression that an aggregate of the group can be taken of.
    fn value(self, name: &str) -> String {
        match self {
            Shape::Bits => format!("{name} + 0"),
            Shape::Words | Shape::Nested => format!("CAST({name} AS CHAR)"),
            Shape::Number | Shape::Ordered => name.to_owned(),
            Shape::Bytes => "NULL".to_owned(),
        }
    }
}

impl sql_server::Shape for Shape {
    /// By the type name in `information_schema`.
    fn of(column: &TypedColumn) -> Shape {
        match column.data_type.as_str() {
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" | "float" | "double" | "year" => {
                Shape::Number
            }
            "bit" => Shape::Bits,
            "date" | "datetime" | "timestamp" | "time" => Shape::Ordered,
            "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" | "geometry" | "point"
            | "linestring" | "polygon" | "multipoint" | "multilinestring" | "multipolygon" | "geometrycollection"
            | "geomcollection" | "vector" => Shape::Bytes,
            "json" => Shape::Nested,
            _ => Shape::Words,
        }
    }

    fn is_bytes(self) -> bool {
        self == Shape::Bytes
    }

    fn key(self, name: &str) -> String {
        match self {
            Shape::Number | Shape::Ordered => name.to_owned(),
            Shape::Bits => format!("{name} + 0"),
            Shape::Words | Shape::Nested => format!("CAST(CAST({name} AS CHAR) AS BINARY)"),
            Shape::Bytes => format!("CAST({name} AS BINARY)"),
        }
    }

    fn group(self, name: &str) -> String {
        format!("{} AS k, min({}) AS v", self.key(name), self.value(name))
    }

    fn shorten(self) -> String {
        match self {
            Shape::Number | Shape::Bits | Shape::Ordered => "k".to_owned(),
            Shape::Words | Shape::Nested => format!("LEFT(v, {})", display::MAX_CHARS),
            Shape::Bytes => "LENGTH(k)".to_owned(),
        }
    }

    fn end(self, function: &str, name: &str) -> String {
        match self {
            Shape::Number | Shape::Bits | Shape::Ordered => format!("{function}({})", self.value(name)),
            Shape::Words => format!("LEFT({function}({}), {})", self.value(name), display::MAX_CHARS),
            Shape::Bytes | Shape::Nested => "NULL".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::filter::{FilterCondition, FilterOp};
    use crate::statement::select;

    fn check(data_type: &str, op: FilterOp, value: Value, expected: Result<(&str, &[BoundValue]), &str>) {
        let known = [TypedColumn { name: "a`b".into(), data_type: data_type.into() }];
        let conditions = [FilterCondition { column: "A`B".into(), op, value }];
        let found = select(&Dialect, "t", "t", &[&known[0]], &known, &conditions, 5);
        match (found, expected) {
            (Ok(statement), Ok((clause, values))) => {
                assert_eq!(statement.sql, format!("SELECT `a``b` FROM t WHERE {clause} LIMIT 6"));
                assert_eq!(statement.values, values);
            }
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn binds_values_by_column_type() {
        let text = |text: &str| BoundValue::Text(text.to_owned());
        check("varchar", FilterOp::Eq, json!("x' OR 1; -- "), Ok(("`a``b` = ?", &[text("x' OR 1; -- ")])));
        check("varchar", FilterOp::Eq, json!(0), Ok(("`a``b` = ?", &[text("0")])));
        check("int", FilterOp::Eq, json!("0 OR 1"), Err("contains numbers"));
        check("int", FilterOp::Lt, json!("7"), Ok(("`a``b` < ?", &[BoundValue::Integer(7)])));
        check("decimal", FilterOp::Eq, json!(0.5), Ok(("`a``b` = CAST(? AS DECIMAL(65,30))", &[text("0.5")])));
        check("double", FilterOp::Gte, json!(0.5), Ok(("`a``b` >= ?", &[BoundValue::Float(0.5)])));
        check("blob", FilterOp::Eq, json!("\\x00ff"), Ok(("`a``b` = UNHEX(?)", &[text("00ff")])));
        check(
            "int",
            FilterOp::In,
            json!([1, null]),
            Ok(("(`a``b` IN (?) OR `a``b` IS NULL)", &[BoundValue::Integer(1)])),
        );
        check("int", FilterOp::Like, json!("1%"), Ok(("CAST(`a``b` AS CHAR) LIKE ?", &[text("1%")])));
    }
}
