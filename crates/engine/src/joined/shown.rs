//! An answer of DataFusion as rows.

use std::sync::Arc;

use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::arrow::json::writer::{JsonArray, WriterBuilder};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::DataFusionError;
use prospector_connect::Rows;
use serde_json::{Number, Value};

use crate::source::{Found, Source};

/// At most `cap` rows, under names as the sources spell them.
pub(super) fn rows(
    sources: &[Arc<Source>],
    found: &[Found],
    schema: &Schema,
    batches: &[RecordBatch],
    cap: usize,
) -> Result<Rows, DataFusionError> {
    let spelled = |name: &String| {
        let mut columns = found.iter().flat_map(|found| &sources[found.source].tables[found.table].columns);
        columns.find(|column| column.name.to_lowercase() == *name).map_or(name, |column| &column.name).clone()
    };
    let columns = schema.fields().iter().map(|field| spelled(field.name())).collect();
    let mut rows = Vec::new();
    for batch in batches {
        let values: Vec<Vec<Value>> = (0..batch.num_columns()).map(|at| values(batch, at)).collect::<Result<_, _>>()?;
        let mut values: Vec<_> = values.into_iter().map(Vec::into_iter).collect();
        for _ in 0..batch.num_rows() {
            rows.push(values.iter_mut().map(|column| column.next().unwrap_or_default()).collect());
        }
    }
    let has_more = rows.len() > cap;
    rows.truncate(cap);
    Ok(Rows { columns, rows, has_more })
}

fn values(batch: &RecordBatch, at: usize) -> Result<Vec<Value>, DataFusionError> {
    let array = batch.column(at);
    if array.data_type().is_nested() {
        let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(Vec::new());
        writer.write(&batch.project(&[at])?)?;
        writer.finish()?;
        let records: Vec<Value> =
            serde_json::from_slice(&writer.into_inner()).map_err(|error| DataFusionError::External(Box::new(error)))?;
        let first = |record: Value| match record {
            Value::Object(map) => map.into_iter().next().map(|(_, value)| value).unwrap_or_default(),
            other => other,
        };
        return Ok(records.into_iter().map(first).collect());
    }
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array, &options)?;
    let value = |row: usize| {
        if array.is_null(row) {
            return Value::Null;
        }
        let text = formatter.value(row).to_string();
        let number = match array.data_type() {
            DataType::Boolean => return Value::Bool(text == "true"),
            kind if kind.is_integer() => text.parse::<i64>().map(Number::from).ok(),
            DataType::Float32 | DataType::Float64 => text.parse().ok().and_then(Number::from_f64),
            kind if kind.is_decimal() && !text.contains('.') => text.parse::<i64>().map(Number::from).ok(),
            kind if kind.is_decimal() && text.bytes().filter(u8::is_ascii_digit).count() <= 15 => {
                text.parse().ok().and_then(Number::from_f64)
            }
            _ => None,
        };
        number.map_or(Value::String(text), Value::Number)
    };
    Ok((0..array.len()).map(value).collect())
}
