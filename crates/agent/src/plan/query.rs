//! What a step computes, said so that it can be checked and run: measures, conditions, groups, an order, a limit. A model may
//! write each as an object or as a short text, such as `sum(db.table.column) as name`; a plan that is printed holds objects.

mod text;

use prospector_connect::filter::FilterCondition;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

/// What is computed over rows, or over what was computed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// How rows are aggregated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<Aggregation>,
    /// The column, `database.table.column`; without one, rows are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// In the place of an aggregation: arithmetic over the names of other measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

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

/// What is grouped by.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The column, `database.table.column`.
    pub column: String,
    /// A part of a date: see [`DatePart`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<DatePart>,
}

/// A part of a date.
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

pub(super) fn read_measures<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Measure>, D::Error> {
    read_all(from, text::read_measure)
}

pub(super) fn read_filters<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<FilterCondition>, D::Error> {
    read_all(from, text::read_filter)
}

pub(super) fn read_groups<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Group>, D::Error> {
    read_all(from, text::read_group)
}

pub(super) fn read_orders<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Order>, D::Error> {
    read_all(from, text::read_order)
}
