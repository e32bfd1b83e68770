//! Conversion of cells to values, after the survey.

use std::sync::Arc;
use std::time::SystemTime;

use datafusion::arrow::array::{
    ArrayRef, BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, StringBuilder, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use serde::{Deserialize, Serialize};

use super::cell::{MAX_BYTES, trim};
use super::content::TextFormat;
use super::date::{self, DAY, DayOrder};
use super::number::{self, Unit};

/// The length and modification time of a file.
pub(in crate::files) type Stamp = (u64, Option<SystemTime>);

/// How the rows of a delimited file are read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(in crate::files) struct FileLayout {
    /// The state of the file when it was surveyed.
    pub(in crate::files) stamp: Option<Stamp>,
    pub(super) format: TextFormat,
    pub(super) columns: Vec<(String, CellType)>,
    /// The number of rows, if a total after them is skipped.
    #[serde(default)]
    pub(super) rows: Option<u64>,
}

/// The type of the cells of a column. Cells that do not fit are null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum CellType {
    Text,
    Boolean,
    Integer(NumberStyle),
    Float(NumberStyle),
    Date(Option<DayOrder>),
    /// With the maximum number of fractional digits of the seconds.
    Timestamp(Option<DayOrder>, u8),
}

/// The number format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub(super) struct NumberStyle {
    pub(super) has_comma: bool,
    pub(super) unit: Unit,
}

/// Returns the unit of timestamps with that number of fractional digits of the seconds.
fn unit(fraction: u8) -> TimeUnit {
    match fraction {
        0 => TimeUnit::Second,
        1..=3 => TimeUnit::Millisecond,
        4..=6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    }
}

impl CellType {
    /// Returns the type of dates in that order, with times of that number of fractional digits.
    pub(super) fn of_dates(order: Option<DayOrder>, has_time: bool, fraction: u8) -> CellType {
        if has_time { CellType::Timestamp(order, fraction) } else { CellType::Date(order) }
    }

    /// Returns the number in a trimmed cell of a numeric column. `scratch` is overwritten.
    pub(super) fn number(self, cell: &str, scratch: &mut String) -> Option<f64> {
        match self {
            CellType::Integer(style) => style.integer(cell, scratch).map(|number| number as f64),
            CellType::Float(style) => style.float(cell, scratch),
            CellType::Text | CellType::Boolean | CellType::Date(_) | CellType::Timestamp(..) => None,
        }
    }

    fn data_type(self) -> DataType {
        match self {
            CellType::Text => DataType::Utf8,
            CellType::Boolean => DataType::Boolean,
            CellType::Integer(_) => DataType::Int64,
            CellType::Float(_) => DataType::Float64,
            CellType::Date(_) => DataType::Date32,
            CellType::Timestamp(_, fraction) => DataType::Timestamp(unit(fraction), None),
        }
    }

    /// Returns a note for the description of the column.
    fn describe(self) -> String {
        match self {
            CellType::Integer(style) | CellType::Float(style) => style.unit.describe(),
            CellType::Text | CellType::Boolean | CellType::Date(_) | CellType::Timestamp(..) => String::new(),
        }
    }
}

impl FileLayout {
    pub(super) fn schema(&self) -> SchemaRef {
        let field = |(name, cell): &(String, CellType)| {
            let field = Field::new(name, cell.data_type(), true);
            match cell.describe() {
                none if none.is_empty() => field,
                text => field.with_metadata([("description".to_owned(), text)].into()),
            }
        };
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }
}

/// A builder of the values of a column.
pub(super) enum Builder {
    Text(StringBuilder),
    Boolean(BooleanBuilder),
    Integer(NumberStyle, Int64Builder),
    Float(NumberStyle, Float64Builder),
    Date(Option<DayOrder>, Date32Builder),
    Timestamp(Option<DayOrder>, TimeUnit, Vec<Option<i64>>),
}

impl Builder {
    pub(super) fn new(cell: CellType) -> Self {
        match cell {
            CellType::Text => Builder::Text(StringBuilder::new()),
            CellType::Boolean => Builder::Boolean(BooleanBuilder::new()),
            CellType::Integer(style) => Builder::Integer(style, Int64Builder::new()),
            CellType::Float(style) => Builder::Float(style, Float64Builder::new()),
            CellType::Date(order) => Builder::Date(order, Date32Builder::new()),
            CellType::Timestamp(order, fraction) => Builder::Timestamp(order, unit(fraction), Vec::new()),
        }
    }

    /// Appends the value of a cell. `scratch` is overwritten.
    pub(super) fn push(&mut self, text: &str, scratch: &mut String) {
        let cell = if text.len() <= MAX_BYTES { trim(text) } else { "" };
        match self {
            Builder::Text(values) => values.append_option((!text.is_empty()).then_some(text)),
            Builder::Boolean(values) => {
                let is_true = cell.eq_ignore_ascii_case("true");
                values.append_option((is_true || cell.eq_ignore_ascii_case("false")).then_some(is_true));
            }
            Builder::Integer(style, values) => values.append_option(style.integer(cell, scratch)),
            Builder::Float(style, values) => values.append_option(style.float(cell, scratch)),
            Builder::Date(order, values) => {
                let day = date::parse(cell).and_then(|written| written.day(*order));
                values.append_option(day.and_then(|day| i32::try_from(day).ok()));
            }
            Builder::Timestamp(order, unit, values) => values.push(moment(cell, *order, *unit)),
        }
    }

    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Text(values) => Arc::new(values.finish()),
            Builder::Boolean(values) => Arc::new(values.finish()),
            Builder::Integer(_, values) => Arc::new(values.finish()),
            Builder::Float(_, values) => Arc::new(values.finish()),
            Builder::Date(_, values) => Arc::new(values.finish()),
            Builder::Timestamp(_, unit, values) => {
                let values = std::mem::take(values);
                match unit {
                    TimeUnit::Second => Arc::new(TimestampSecondArray::from(values)),
                    TimeUnit::Millisecond => Arc::new(TimestampMillisecondArray::from(values)),
                    TimeUnit::Microsecond => Arc::new(TimestampMicrosecondArray::from(values)),
                    TimeUnit::Nanosecond => Arc::new(TimestampNanosecondArray::from(values)),
                }
            }
        }
    }
}

impl NumberStyle {
    fn integer(self, cell: &str, scratch: &mut String) -> Option<i64> {
        let plain = cell.strip_prefix('-').unwrap_or(cell);
        if self.unit != Unit::Percent && plain.len() <= 18 && plain.bytes().all(|byte| byte.is_ascii_digit()) {
            return if plain.len() > 1 && plain.starts_with('0') { None } else { cell.parse().ok() };
        }
        let is_negative = self.digits(cell, scratch)?;
        number::integer(scratch, is_negative)
    }

    fn float(self, cell: &str, scratch: &mut String) -> Option<f64> {
        let plain = cell.strip_prefix('-').unwrap_or(cell).as_bytes();
        let is_code = plain.starts_with(b"0") && plain.get(1).is_some_and(|byte| *byte != b'.');
        let is_plain = plain.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') && !is_code;
        if is_plain && !self.has_comma && self.unit != Unit::Percent {
            return cell.parse().ok();
        }
        let is_negative = self.digits(cell, scratch)?;
        number::float(scratch, is_negative)
    }

    /// Writes the normalized digits of a number; returns whether it is negative.
    fn digits(self, cell: &str, scratch: &mut String) -> Option<bool> {
        let peeled = number::peel(cell)?;
        let has_unit = peeled.unit == self.unit || peeled.unit == Unit::None && self.unit != Unit::Percent;
        number::normalize(peeled.body, if self.has_comma { ',' } else { '.' }, scratch).filter(|_| has_unit)?;
        Some(peeled.is_negative)
    }
}

/// Parses a timestamp since 1970 in that unit.
fn moment(cell: &str, order: Option<DayOrder>, unit: TimeUnit) -> Option<i64> {
    let written = date::parse(cell)?;
    let nanos =
        i128::from(written.day(order)?) * i128::from(DAY) + written.time.map_or(0, |time| i128::from(time.nanos));
    let unit = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    i64::try_from(nanos.div_euclid(unit)).ok()
}
