//! The PostgreSQL syntax of names, values and patterns.

use serde_json::Value;

use crate::filter::{ConditionError, boolean, number, text};
use crate::statement::{self, BoundValue, TypedColumn};
use crate::{display, sql_server};

/// The SQL of PostgreSQL.
pub(super) struct Dialect;

impl statement::Dialect for Dialect {
    fn quote(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    fn bind(
        &self,
        position: usize,
        column: &TypedColumn,
        value: &Value,
    ) -> Result<(String, BoundValue), ConditionError> {
        // Bound as text and cast to the type of the column, which works for every type.
        let (kind, text) = match column.data_type.as_str() {
            "smallint" | "integer" | "bigint" => {
                let number = number(value)?;
                let kind = if number.parse::<i64>().is_ok() { "bigint" } else { "numeric" };
                (kind, number)
            }
            "numeric" => ("numeric", number(value)?),
            "real" | "double precision" => (column.data_type.as_str(), number(value)?),
            "boolean" => ("boolean", boolean(value)?.to_string()),
            kind => (kind, text(value)),
        };
        Ok((format!("CAST(${position}::text AS {kind})"), BoundValue::Text(text)))
    }

    fn like(&self, column: &str, position: usize) -> String {
        format!("{column}::text ILIKE ${position}::text")
    }
}

/// The supported operations on values of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Ordered by the type.
    Ordered,
    /// Ordered as texts: texts, UUIDs, the labels of an enum.
    Words,
    Boolean,
    Bytes,
    /// Without a meaningful order; grouped by their texts.
    Nested,
}

impl sql_server::Shape for Shape {
    /// By the type as written by `format_type`.
    fn of(column: &TypedColumn) -> Shape {
        let name = column.data_type.as_str();
        match name {
            "bytea" => Shape::Bytes,
            "boolean" => Shape::Boolean,
            "smallint"
            | "integer"
            | "bigint"
            | "numeric"
            | "real"
            | "double precision"
            | "money"
            | "date"
            | "timestamp without time zone"
            | "timestamp with time zone"
            | "time without time zone"
            | "time with time zone"
            | "interval"
            | "oid"
            | "inet" => Shape::Ordered,
            "json" | "jsonb" | "xml" | "tsvector" | "tsquery" | "hstore" | "point" | "line" | "lseg" | "box"
            | "path" | "polygon" | "circle" | "geometry" | "geography" => Shape::Nested,
            _ if name.ends_with("[]") || name.ends_with("range") => Shape::Nested,
            _ => Shape::Words,
        }
    }

    fn is_bytes(self) -> bool {
        self == Shape::Bytes
    }

    fn key(self, name: &str) -> String {
        match self {
            Shape::Ordered | Shape::Boolean | Shape::Bytes => name.to_owned(),
            Shape::Words | Shape::Nested => format!("{name}::text COLLATE \"C\""),
        }
    }

    fn group(self, name: &str) -> String {
        format!("{} AS k", self.key(name))
    }

    fn shorten(self) -> String {
        match self {
            Shape::Ordered | Shape::Boolean => "k".to_owned(),
            Shape::Bytes => "octet_length(k)".to_owned(),
            Shape::Words | Shape::Nested => format!("left(k, {})", display::MAX_CHARS),
        }
    }

    fn end(self, function: &str, name: &str) -> String {
        match self {
            Shape::Ordered => format!("{function}({name})"),
            Shape::Words | Shape::Boolean => {
                format!("left({function}({name}::text COLLATE \"C\"), {})", display::MAX_CHARS)
            }
            Shape::Bytes | Shape::Nested => "NULL::text".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::filter::{FilterCondition, FilterOp};
    use crate::statement::select;
    use serde_json::json;

    use super::*;

    fn check(data_type: &str, op: FilterOp, value: Value, expected: Result<(&str, &[&str]), &str>) {
        let known = [TypedColumn { name: "a\"b".into(), data_type: data_type.into() }];
        let conditions = [FilterCondition { column: "A\"B".into(), op, value }];
        let found = select(&Dialect, "t", "t", &[&known[0]], &known, &conditions, 5);
        match (found, expected) {
            (Ok(statement), Ok((clause, values))) => {
                assert_eq!(statement.sql, format!("SELECT \"a\"\"b\" FROM t WHERE {clause} LIMIT 6"));
                let values: Vec<BoundValue> = values.iter().map(|text| BoundValue::Text((*text).to_owned())).collect();
                assert_eq!(statement.values, values);
            }
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn values_are_bound_and_cast_to_the_type_of_the_column() {
        let attack = "x' OR 1=1; --";
        check("text", FilterOp::Eq, json!(attack), Ok(("\"a\"\"b\" = CAST($1::text AS text)", &[attack])));
        check("integer", FilterOp::Eq, json!(attack), Err("contains numbers"));
        check("integer", FilterOp::Gt, json!(1.5), Ok(("\"a\"\"b\" > CAST($1::text AS numeric)", &["1.5"])));
        check(
            "bigint",
            FilterOp::Between,
            json!([1, "2"]),
            Ok(("(\"a\"\"b\" >= CAST($1::text AS bigint) AND \"a\"\"b\" <= CAST($2::text AS bigint))", &["1", "2"])),
        );
        check(
            "uuid",
            FilterOp::In,
            json!(["u", null]),
            Ok(("(\"a\"\"b\" IN (CAST($1::text AS uuid)) OR \"a\"\"b\" IS NULL)", &["u"])),
        );
        check("uuid", FilterOp::In, json!([]), Ok(("1 = 0", &[])));
        check("boolean", FilterOp::Neq, json!("Yes"), Ok(("\"a\"\"b\" <> CAST($1::text AS boolean)", &["true"])));
        check("numeric", FilterOp::Like, json!("5%"), Ok(("\"a\"\"b\"::text ILIKE $1::text", &["5%"])));
        check("text", FilterOp::Neq, json!(null), Ok(("\"a\"\"b\" IS NOT NULL", &[])));
    }
}
