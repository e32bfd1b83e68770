//! Conversion of Arrow values for comparison and display.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::arrow::json::EncoderOptions;
use datafusion::arrow::json::writer::make_encoder;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{ColumnarValue, Expr, Volatility, cast as cast_to, create_udf};
use serde_json::Value;

use crate::display::{self, MAX_CHARS};
use crate::filter::decimal;
use crate::table::ColumnType;

/// Returns a short name of the Arrow type, without the memory layout of texts, bytes and lists.
pub(super) fn type_name(data_type: &DataType) -> String {
    let name = long_type_name(data_type);
    let short = display::cut(&name);
    if short.len() < name.len() { format!("{short}…") } else { name }
}

fn long_type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::LargeUtf8 | DataType::Utf8View => "Utf8".to_owned(),
        DataType::LargeBinary | DataType::BinaryView => "Binary".to_owned(),
        DataType::Dictionary(_, value) => long_type_name(value),
        DataType::RunEndEncoded(_, value) => long_type_name(value.data_type()),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => format!("List({})", long_type_name(item.data_type())),
        DataType::Struct(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|field| format!("{} {}", field.name(), long_type_name(field.data_type()))).collect();
            format!("Struct({})", fields.join(", "))
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => {
                let types: Vec<String> = fields.iter().map(|field| long_type_name(field.data_type())).collect();
                format!("Map({})", types.join(", "))
            }
            _ => "Map".to_owned(),
        },
        other => other.to_string(),
    }
}

/// Returns the column type of values as returned by [`comparable`].
pub(super) fn column_type(data_type: &DataType) -> ColumnType {
    match data_type {
        DataType::Boolean => ColumnType::Boolean,
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32 => ColumnType::Integer,
        DataType::UInt64 => ColumnType::Decimal { precision: 20, scale: 0 },
        DataType::Float16 | DataType::Float32 | DataType::Float64 => ColumnType::Float,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            match (1..=38).contains(precision) && (0..=*precision as i8).contains(scale) {
                true => ColumnType::Decimal { precision: *precision, scale: *scale },
                false => ColumnType::Float,
            }
        }
        DataType::Date32 => ColumnType::Date,
        DataType::Date64 | DataType::Timestamp(..) => ColumnType::Timestamp,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnType::Text,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => ColumnType::Bytes,
        DataType::Dictionary(_, value) => column_type(value),
        DataType::RunEndEncoded(_, value) => column_type(value.data_type()),
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::FixedSizeList(..)
        | DataType::Struct(_)
        | DataType::Map(..) => ColumnType::Nested,
        DataType::Null
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Duration(_)
        | DataType::Interval(_)
        | DataType::FixedSizeBinary(_)
        | DataType::Union(..) => ColumnType::Other,
    }
}

/// Returns the description that some writers store with a column or a file.
pub(super) fn description(metadata: &HashMap<String, String>) -> String {
    ["description", "comment"]
        .iter()
        .find_map(|wanted| metadata.iter().find(|(key, _)| key.eq_ignore_ascii_case(wanted)))
        .map(|(_, text)| text.clone())
        .unwrap_or_default()
}

/// Whether values can be compared directly.
fn is_plain(data_type: &DataType) -> bool {
    data_type.is_numeric() && *data_type != DataType::Float16
        || data_type.is_string()
        || matches!(
            data_type,
            DataType::Boolean
                | DataType::Date32
                | DataType::Date64
                | DataType::Timestamp(..)
                | DataType::Time32(_)
                | DataType::Time64(_)
                | DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
        )
}

/// Returns the plain type to cast to.
fn cast_type(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Dictionary(_, value) => Some(cast_type(value).unwrap_or_else(|| value.as_ref().clone())),
        DataType::RunEndEncoded(_, value) => {
            Some(cast_type(value.data_type()).unwrap_or_else(|| value.data_type().clone()))
        }
        DataType::Float16 => Some(DataType::Float32),
        DataType::FixedSizeBinary(_) => Some(DataType::Binary),
        DataType::Null => Some(DataType::Utf8),
        _ => None,
    }
}

/// Returns the column as something that can be grouped and counted: itself, or its JSON text.
pub(super) fn comparable(column: Expr, data_type: &DataType) -> Expr {
    if is_plain(data_type) {
        return column;
    }
    match cast_type(data_type) {
        Some(plain) => comparable(cast_to(column, plain.clone()), &plain),
        None => {
            let to_json = Arc::new(|args: &[ColumnarValue]| {
                let arrays = ColumnarValue::values_to_arrays(args)?;
                Ok::<_, DataFusionError>(ColumnarValue::Array(json_texts(&arrays[0])?))
            });
            let function =
                create_udf("json_text", vec![data_type.clone()], DataType::Utf8, Volatility::Immutable, to_json);
            function.call(vec![column])
        }
    }
}

/// Whether minimum and maximum are meaningful.
pub(super) fn is_ordered(data_type: &DataType) -> bool {
    is_plain(data_type) || cast_type(data_type).is_some_and(|plain| is_plain(&plain))
}

/// Returns the type of the [`comparable`] column.
pub(super) fn comparable_type(data_type: &DataType) -> DataType {
    match cast_type(data_type) {
        _ if is_plain(data_type) => data_type.clone(),
        Some(plain) => comparable_type(&plain),
        None => DataType::Utf8,
    }
}

/// Returns the [`comparable`] column as a searchable text; `None` for bytes.
pub(super) fn searchable(column: Expr, data_type: &DataType) -> Option<Expr> {
    let data_type = cast_type(data_type).unwrap_or_else(|| data_type.clone());
    if data_type.is_string() || !is_plain(&data_type) {
        return Some(column);
    }
    let is_bytes = matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    (!is_bytes).then(|| cast_to(column, DataType::Utf8))
}

fn json_texts(array: &ArrayRef) -> Result<ArrayRef, DataFusionError> {
    let field = Arc::new(Field::new("value", array.data_type().clone(), true));
    let options = EncoderOptions::default();
    let mut texts = StringBuilder::new();
    match make_encoder(&field, array, &options) {
        Ok(mut encoder) => {
            let mut text = Vec::new();
            for row in 0..array.len() {
                text.clear();
                if array.is_null(row) {
                    texts.append_null();
                } else {
                    encoder.encode(row, &mut text);
                    texts.append_value(String::from_utf8_lossy(&text));
                }
            }
        }
        // Intervals, and maps with non-text keys, have no JSON form.
        Err(_) => {
            let options = FormatOptions::default();
            let formatter = ArrayFormatter::try_new(array, &options)?;
            for row in 0..array.len() {
                texts.append_option((!array.is_null(row)).then(|| formatter.value(row).to_string()));
            }
        }
    }
    Ok(Arc::new(texts.finish()))
}

/// Returns the values of a [`comparable`] column for display; `data_type` is the type of the column in the file.
pub(super) fn values(array: &ArrayRef, data_type: &DataType) -> Vec<Value> {
    to_json_values(array, data_type, false)
}

/// Like [`values`], without truncation.
pub(super) fn whole_values(array: &ArrayRef, data_type: &DataType) -> Vec<Value> {
    to_json_values(array, data_type, true)
}

fn to_json_values(array: &ArrayRef, data_type: &DataType, whole: bool) -> Vec<Value> {
    let in_form = |text: &str| if whole { Value::String(text.to_owned()) } else { display::text(text) };
    let is_json = !is_ordered(data_type);
    let options = FormatOptions::default();
    let Ok(formatter) = ArrayFormatter::try_new(array, &options) else {
        return Vec::new();
    };
    let bytes = match array.data_type() {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => cast(array, &DataType::LargeBinary).ok(),
        _ => None,
    };
    let value = |row: usize| {
        if array.is_null(row) {
            return Value::Null;
        }
        if let Some(bytes) = &bytes {
            let bytes = bytes.as_binary::<i64>().value(row);
            return if whole { display::hexadecimal(bytes).into() } else { display::blob(bytes.len()) };
        }
        let text = formatter.value(row).to_string();
        match array.data_type() {
            DataType::Boolean => Value::Bool(text == "true"),
            DataType::Float32 | DataType::Float64 => text.parse().map_or_else(|_| in_form(&text), display::float),
            data_type if data_type.is_integer() || data_type.is_decimal() => decimal(&text),
            _ if is_json && (whole || text.chars().nth(MAX_CHARS).is_none()) => {
                serde_json::from_str(&text).unwrap_or(Value::String(text))
            }
            _ => in_form(&text),
        }
    };
    (0..array.len()).map(value).collect()
}
