//! Columns of a source as Arrow arrays.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringArray};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use serde_json::Value;

/// The Arrow type of a column, from the source's own word for its type. What is not known is a text.
pub(crate) fn arrow_type(kind: &str, declared: &str) -> DataType {
    let word = declared.to_lowercase();
    let starts = |words: &[&str]| words.iter().any(|start| word.starts_with(start));
    let has = |words: &[&str]| words.iter().any(|part| word.contains(part));
    match kind {
        // The rules of affinity, https://www.sqlite.org/datatype3.html#determination_of_column_affinity; dates are texts.
        "sqlite" => match () {
            () if has(&["int", "bool"]) && !has(&["point"]) => DataType::Int64,
            () if has(&["char", "clob", "text"]) => DataType::Utf8,
            () if has(&["real", "floa", "doub", "numeric", "decimal"]) => DataType::Float64,
            () => DataType::Utf8,
        },
        "postgres" | "mysql" => match () {
            () if has(&["[]", "range", "interval", "point"]) => DataType::Utf8,
            () if word.starts_with("bigint") && word.contains("unsigned") => DataType::Decimal128(20, 0),
            () if starts(&["int", "bigint", "smallint", "tinyint", "mediumint", "serial", "bigserial", "year"]) => {
                DataType::Int64
            }
            () if starts(&["float", "real", "double"]) => DataType::Float64,
            () if starts(&["numeric", "decimal"]) => decimal(&word).unwrap_or(DataType::Float64),
            () if starts(&["bool"]) => DataType::Boolean,
            () if starts(&["timestamp", "datetime"]) => DataType::Timestamp(TimeUnit::Microsecond, None),
            () if word == "date" => DataType::Date32,
            () => DataType::Utf8,
        },
        // The types that a sample had, the most frequent first: `int | string`.
        "mongodb" | "dynamodb" => {
            let is_of = |words: &[&str]| word.split(" | ").all(|part| words.contains(&part));
            match () {
                () if is_of(&["int", "long", "integer"]) => DataType::Int64,
                () if is_of(&["int", "long", "integer", "double", "decimal", "number"]) => DataType::Float64,
                () if is_of(&["bool", "boolean"]) => DataType::Boolean,
                () if is_of(&["date"]) => DataType::Timestamp(TimeUnit::Microsecond, None),
                () => DataType::Utf8,
            }
        }
        "elasticsearch" => match word.as_str() {
            "long" | "integer" | "short" | "byte" => DataType::Int64,
            "double" | "float" | "half_float" | "scaled_float" => DataType::Float64,
            "boolean" => DataType::Boolean,
            "date" | "date_nanos" => DataType::Timestamp(TimeUnit::Microsecond, None),
            _ => DataType::Utf8,
        },
        "bigquery" | "cassandra" => match word.as_str() {
            "int64" | "bigint" | "int" | "smallint" | "tinyint" | "counter" => DataType::Int64,
            "float64" | "float" | "double" => DataType::Float64,
            "bool" | "boolean" => DataType::Boolean,
            "date" => DataType::Date32,
            "timestamp" | "datetime" => DataType::Timestamp(TimeUnit::Microsecond, None),
            "varint" => DataType::Decimal128(38, 0),
            "numeric" => DataType::Decimal128(38, 9),
            _ if starts(&["numeric", "bignumeric", "decimal"]) => decimal(&word).unwrap_or(DataType::Float64),
            _ => DataType::Utf8,
        },
        _ => match () {
            () if word == "uint64" => DataType::Decimal128(20, 0),
            () if starts(&["int8", "int16", "int32", "int64", "uint"]) => DataType::Int64,
            () if starts(&["float"]) => DataType::Float64,
            () if starts(&["decimal"]) => decimal(&word).unwrap_or(DataType::Float64),
            () if word == "boolean" => DataType::Boolean,
            () if word == "date32" => DataType::Date32,
            () if starts(&["timestamp", "date64"]) => DataType::Timestamp(TimeUnit::Microsecond, None),
            () => DataType::Utf8,
        },
    }
}

/// `numeric(10,2)`
fn decimal(word: &str) -> Option<DataType> {
    let inside = word.split_once('(')?.1.split_once(')')?.0;
    let (precision, scale) = inside.split_once(',').unwrap_or((inside, "0"));
    let (precision, scale) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
    ((1..=38).contains(&precision) && (0..=precision as i8).contains(&scale))
        .then_some(DataType::Decimal128(precision, scale))
}

/// The values as an array of that type.
///
/// # Errors
/// The first value that has another type.
pub(crate) fn array(values: impl Iterator<Item = Value>, data_type: &DataType) -> Result<ArrayRef, String> {
    let text = |value: Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text),
        Value::Bool(yes) if *data_type == DataType::Int64 => Some(u8::from(yes).to_string()),
        other => Some(other.to_string()),
    };
    let texts: ArrayRef = Arc::new(StringArray::from_iter(values.map(text)));
    if *data_type == DataType::Utf8 {
        return Ok(texts);
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(&texts, data_type, &options).map_err(|error| error.to_string())
}
