//! Columns of a source as Arrow arrays.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringArray};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::arrow::error::ArrowError;
use prospector_connect::table::ColumnType;
use serde_json::Value;

/// Returns the Arrow type of a column type.
pub(crate) fn arrow_type(column_type: ColumnType) -> DataType {
    match column_type {
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Integer => DataType::Int64,
        ColumnType::Decimal { precision, scale } => DataType::Decimal128(precision, scale),
        ColumnType::Float => DataType::Float64,
        ColumnType::Date => DataType::Date32,
        ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        ColumnType::DateText | ColumnType::Text | ColumnType::Bytes | ColumnType::Nested | ColumnType::Other => {
            DataType::Utf8
        }
    }
}

/// Converts values to an array of that type.
///
/// # Errors
/// If a value has another type.
pub(crate) fn array(values: impl Iterator<Item = Value>, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
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
    cast_with_options(&texts, data_type, &options)
}
