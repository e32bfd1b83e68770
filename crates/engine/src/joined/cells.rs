//! Conversion of a DataFusion result to rows, within the size limits.

use std::fmt::Write as _;
use std::io;

use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::arrow::json::writer::{JsonArray, WriterBuilder};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::DataFusionError;
use prospector_connect::rows::Rows;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::limits::Limits;
use crate::{Failure, FailureCode};

/// The approximate size of a number, or of the JSON syntax around a value, in bytes.
const NUMBER: usize = 8;

/// The approximate size of a streamed block of rows in bytes.
const BLOCK_BYTES: usize = 1 << 20;

/// An answer exceeds its size limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub(crate) enum TooLarge {
    #[error("a value of the column {column} has more than {most} bytes")]
    Cell { column: String, most: usize },
    #[error("the answer has more than {most} bytes, most of them in the column {column}")]
    Answer { column: String, most: usize },
}

impl TooLarge {
    pub(crate) fn into_failure(self) -> Failure {
        let failure = Failure::new(FailureCode::TooLarge, self.to_string());
        match self {
            TooLarge::Cell { column, .. } => failure.advise(format!(
                "select a part of the value: left(\"{column}\", 1000), or substr(\"{column}\", 1, 1000); or omit the column"
            )),
            TooLarge::Answer { column, .. } => failure.advise(format!(
                "select fewer rows or columns, or a part of long values: left(\"{column}\", 1000)"
            )),
        }
    }
}

impl From<TooLarge> for DataFusionError {
    fn from(large: TooLarge) -> Self {
        DataFusionError::External(Box::new(large))
    }
}

/// An answer under construction.
pub(super) struct Answer {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    has_more: bool,
    /// The number of further rows to accept.
    left: usize,
    cell_bytes: usize,
    answer_bytes: usize,
    /// Whether a block has been streamed.
    has_handed_over: bool,
    /// The bytes of each column so far.
    bytes: Vec<usize>,
    /// The bytes of all columns.
    total: usize,
}

impl Answer {
    /// Creates an empty answer of at most `cap` rows.
    pub(super) fn new(schema: &Schema, cap: usize, limits: &Limits) -> Self {
        Answer {
            columns: schema.fields().iter().map(|field| field.name().clone()).collect(),
            rows: Vec::new(),
            has_more: false,
            left: cap,
            has_handed_over: false,
            cell_bytes: limits.cell_bytes,
            answer_bytes: limits.answer_bytes,
            bytes: vec![0; schema.fields().len()],
            total: 0,
        }
    }

    /// Returns whether further rows would be dropped.
    pub(super) fn is_full(&self) -> bool {
        self.has_more
    }

    /// Returns whether there are enough rows for a block of a streamed answer.
    pub(super) fn is_block(&self) -> bool {
        self.total >= BLOCK_BYTES
    }

    /// Returns whether a block has been streamed.
    pub(super) fn has_handed_over(&self) -> bool {
        self.has_handed_over
    }

    /// Takes the rows so far, as a block to stream.
    pub(super) fn take_block(&mut self) -> Rows {
        self.has_handed_over = true;
        self.total = 0;
        self.bytes.fill(0);
        Rows { columns: self.columns.clone(), rows: std::mem::take(&mut self.rows), has_more: false }
    }

    /// Adds the rows of a batch, up to the cap.
    ///
    /// # Errors
    /// - [`TooLarge`].
    /// - If a value cannot be formatted.
    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<(), DataFusionError> {
        let wanted = batch.num_rows().min(self.left);
        self.left -= wanted;
        self.has_more |= batch.num_rows() > wanted;
        let first = self.rows.len();
        self.rows.extend((0..wanted).map(|_| Vec::with_capacity(batch.num_columns())));
        for at in 0..batch.num_columns() {
            let cells = Cells::new(batch, at, self.cell_bytes)?;
            for row in 0..wanted {
                let value = cells.value(row)?.ok_or_else(|| self.too_large_cell(at))?;
                let more = bytes(&value);
                self.bytes[at] += more;
                self.total += more;
                if self.total > self.answer_bytes {
                    return Err(self.too_large().into());
                }
                self.rows[first + row].push(value);
            }
        }
        Ok(())
    }

    fn too_large_cell(&self, at: usize) -> TooLarge {
        TooLarge::Cell { column: self.columns[at].clone(), most: self.cell_bytes }
    }

    fn too_large(&self) -> TooLarge {
        let largest = (0..self.bytes.len()).max_by_key(|at| self.bytes[*at]).unwrap_or_default();
        TooLarge::Answer { column: self.columns[largest].clone(), most: self.answer_bytes }
    }

    pub(super) fn finish(self) -> Rows {
        Rows { columns: self.columns, rows: self.rows, has_more: self.has_more }
    }
}

/// Returns the approximate size of a value as text, in bytes.
fn bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => NUMBER,
        Value::String(text) => NUMBER + text.len(),
        Value::Array(values) => NUMBER + values.iter().map(bytes).sum::<usize>(),
        Value::Object(map) => NUMBER + map.iter().map(|(name, value)| name.len() + bytes(value)).sum::<usize>(),
    }
}

/// The values of one column of a batch.
enum Cells<'a> {
    Plain {
        array: &'a dyn Array,
        formatter: ArrayFormatter<'a>,
        most: usize,
    },
    /// Lists and structs, which become JSON.
    Nested {
        batch: RecordBatch,
        most: usize,
    },
}

impl<'a> Cells<'a> {
    fn new(batch: &'a RecordBatch, at: usize, most: usize) -> Result<Self, DataFusionError> {
        // The formatter borrows the options.
        const OPTIONS: &FormatOptions<'static> = &FormatOptions::new();
        let array = batch.column(at);
        Ok(match array.data_type().is_nested() {
            true => Cells::Nested { batch: batch.project(&[at])?, most },
            false => Cells::Plain { array, formatter: ArrayFormatter::try_new(array, OPTIONS)?, most },
        })
    }

    /// Returns the value of that row; `None` if it is too large.
    fn value(&self, row: usize) -> Result<Option<Value>, DataFusionError> {
        match self {
            Cells::Nested { batch, most } => write_nested(&batch.slice(row, 1), *most),
            Cells::Plain { array, .. } if array.is_null(row) => Ok(Some(Value::Null)),
            Cells::Plain { array, formatter, most } => {
                let mut text = Bounded { text: String::new(), most: *most };
                // Writing fails only for values that are too long; formatting errors appear in the text.
                match write!(text, "{}", formatter.value(row)) {
                    Ok(()) => Ok(Some(parse_typed(text.text, array.data_type()))),
                    Err(_) => Ok(None),
                }
            }
        }
    }
}

/// Parses a text as a value of its type.
fn parse_typed(text: String, data_type: &DataType) -> Value {
    let number = match data_type {
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
}

/// Returns the only value of the batch as JSON; `None` if it is too large.
fn write_nested(batch: &RecordBatch, most: usize) -> Result<Option<Value>, DataFusionError> {
    // The size of what surrounds the value: brackets, and its name.
    let around = batch.schema_ref().fields().iter().map(|field| 6 * field.name().len()).sum::<usize>() + 16;
    let mut written = Bounded { text: Vec::new(), most: most.saturating_add(around) };
    let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(&mut written);
    let done = writer.write(batch).and_then(|()| writer.finish());
    drop(writer);
    if written.is_full() {
        return Ok(None);
    }
    done?;
    let records: Vec<Value> =
        serde_json::from_slice(&written.text).map_err(|error| DataFusionError::External(Box::new(error)))?;
    let value = match records.into_iter().next() {
        Some(Value::Object(map)) => map.into_iter().next().map(|(_, value)| value),
        other => other,
    };
    Ok(Some(value.unwrap_or_default()))
}

/// A writer that accepts a limited number of bytes, and fails at the first byte beyond.
struct Bounded<T> {
    text: T,
    most: usize,
}

impl Bounded<Vec<u8>> {
    /// Returns whether bytes were rejected.
    fn is_full(&self) -> bool {
        self.most == 0
    }
}

impl std::fmt::Write for Bounded<String> {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        if self.text.len() + part.len() > self.most {
            return Err(std::fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}

impl io::Write for Bounded<Vec<u8>> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.text.len() + part.len() > self.most {
            self.most = 0;
            return Err(io::Error::other("the value is too large"));
        }
        self.text.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
