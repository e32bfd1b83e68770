//! Conditions, orders, aggregations and parts of dates, each an object or a short text such as `country = 'DE'` or `revenue desc`; and
//! the statements of a script.

mod condition;
mod spelling;
mod text;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

pub use crate::ddl::{Statement as ScriptStatement, statements as split_script};
pub use condition::{Condition, read_conditions, read_filters};

/// A function over the rows of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// The sum.
    Sum,
    /// The mean.
    Avg,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// How many.
    Count,
    /// How many different ones.
    CountDistinct,
}

/// A part of a date: `month` is 1 to 12, `year_month` is `2025-03`, `year_quarter` is `2025-Q1`, `date` is `2025-03-09`,
/// `weekday` is 0 for Sunday to 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatePart {
    /// `2025`
    Year,
    /// 1 to 4.
    Quarter,
    /// 1 to 12.
    Month,
    /// 1 to 31.
    Day,
    /// 0 for Sunday to 6.
    Weekday,
    /// 0 to 23.
    Hour,
    /// `2025-Q4`
    YearQuarter,
    /// `2025-12`
    YearMonth,
    /// `2025-12-31`
    Date,
}

/// What rows are ordered by.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The name of a measure, or a column.
    pub by: String,
    /// The highest first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub descending: bool,
}

impl Aggregation {
    /// All of them.
    pub const ALL: [Aggregation; 6] = [
        Aggregation::Sum,
        Aggregation::Avg,
        Aggregation::Min,
        Aggregation::Max,
        Aggregation::Count,
        Aggregation::CountDistinct,
    ];

    /// The one that a word means, whatever its case: its own, `average` or `mean`.
    pub fn find(word: &str) -> Option<Self> {
        match word.to_lowercase().as_str() {
            "average" | "mean" => Some(Aggregation::Avg),
            word => Aggregation::ALL.into_iter().find(|known| known.as_str() == word),
        }
    }

    /// Whether it is a sum or a count, which is 0 of no rows.
    pub fn is_total(self) -> bool {
        matches!(self, Aggregation::Sum | Aggregation::Count | Aggregation::CountDistinct)
    }

    /// The word for it in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Aggregation::Sum => "sum",
            Aggregation::Avg => "avg",
            Aggregation::Min => "min",
            Aggregation::Max => "max",
            Aggregation::Count => "count",
            Aggregation::CountDistinct => "count_distinct",
        }
    }
}

impl DatePart {
    /// All of them.
    pub const ALL: [DatePart; 9] = [
        DatePart::Year,
        DatePart::Quarter,
        DatePart::Month,
        DatePart::Day,
        DatePart::Weekday,
        DatePart::Hour,
        DatePart::YearQuarter,
        DatePart::YearMonth,
        DatePart::Date,
    ];

    /// The word for it in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            DatePart::Year => "year",
            DatePart::Quarter => "quarter",
            DatePart::Month => "month",
            DatePart::Day => "day",
            DatePart::Weekday => "weekday",
            DatePart::Hour => "hour",
            DatePart::YearQuarter => "year_quarter",
            DatePart::YearMonth => "year_month",
            DatePart::Date => "date",
        }
    }

    /// Whether it is a number.
    pub fn is_number(self) -> bool {
        !matches!(self, DatePart::YearQuarter | DatePart::YearMonth | DatePart::Date)
    }

    /// The part and the column of a text such as `month(orders.day)`.
    pub fn read(text: &str) -> Option<(DatePart, &str)> {
        let (function, inner) = text::read_call(text)?;
        let part = DatePart::ALL.into_iter().find(|part| part.as_str().eq_ignore_ascii_case(function))?;
        Some((part, inner.trim()))
    }
}

// A list of words: with a description for each, as the derived schemas have it, they would cost a model many tokens.
impl JsonSchema for Aggregation {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Aggregation".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": Aggregation::ALL.map(Aggregation::as_str)})
    }
}

impl JsonSchema for DatePart {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "DatePart".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": DatePart::ALL.map(DatePart::as_str)})
    }
}

/// An object, or a text that says the same.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written<T> {
    Object(T),
    Text(String),
}

fn read_all<'de, D, T>(from: D, read: fn(&str) -> Result<T, text::NotRead>) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let written: Option<Vec<Written<T>>> = Option::deserialize(from)?;
    let one = |written| match written {
        Written::Object(value) => Ok(value),
        Written::Text(text) => read(&text).map_err(D::Error::custom),
    };
    written.unwrap_or_default().into_iter().map(one).collect()
}

/// Reads orders, each an object or a text such as `total desc`.
///
/// # Errors
/// What cannot be read, and how it is written.
pub fn read_orders<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Order>, D::Error> {
    read_all(from, text::read_order)
}
