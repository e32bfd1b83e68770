//! Filters, sort orders, aggregations and date parts, each an object or a short text such as `country = 'DE'` or `revenue
//! desc`; and the statements of a script.

mod filters;
mod text;

use prospector_core::{named_enum, word_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

pub use crate::ddl::{Statement as ScriptStatement, statements as split_script};
pub use filters::read_filters;

named_enum! {
    /// An aggregate function.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Aggregation {
        /// The sum.
        Sum = "sum",
        /// The mean.
        Avg = "avg",
        /// The minimum.
        Min = "min",
        /// The maximum.
        Max = "max",
        /// The number of rows.
        Count = "count",
        /// The number of distinct values.
        CountDistinct = "count_distinct",
    }
}

named_enum! {
    /// A part of a date: `month` is 1 to 12, `year_month` is `2025-03`, `year_quarter` is `2025-Q1`, `date` is `2025-03-09`,
    /// `weekday` is 0 for Sunday to 6.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum DatePart {
        /// `2025`
        Year = "year",
        /// 1 to 4.
        Quarter = "quarter",
        /// 1 to 12.
        Month = "month",
        /// 1 to 31.
        Day = "day",
        /// 0 for Sunday to 6.
        Weekday = "weekday",
        /// 0 to 23.
        Hour = "hour",
        /// `2025-Q4`
        YearQuarter = "year_quarter",
        /// `2025-12`
        YearMonth = "year_month",
        /// `2025-12-31`
        Date = "date",
    }
}

/// A sort key.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The name of a measure or column.
    pub by: String,
    /// Whether the highest value is first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub descending: bool,
}

impl Aggregation {
    /// Finds an aggregation by name, case-insensitively, including `average` and `mean`.
    pub fn find(word: &str) -> Option<Self> {
        match word.to_lowercase().as_str() {
            "average" | "mean" => Some(Aggregation::Avg),
            word => Aggregation::ALL.into_iter().find(|known| known.as_str() == word),
        }
    }
}

impl DatePart {
    /// Whether it is a number.
    pub fn is_number(self) -> bool {
        !matches!(self, DatePart::YearQuarter | DatePart::YearMonth | DatePart::Date)
    }

    /// Parses a text such as `month(orders.day)` into the part and the column.
    pub fn read(text: &str) -> Option<(DatePart, &str)> {
        let (function, inner) = text::read_call(text)?;
        let part = DatePart::ALL.into_iter().find(|part| part.as_str().eq_ignore_ascii_case(function))?;
        Some((part, inner.trim()))
    }
}

word_schema!(Aggregation);
word_schema!(DatePart);

/// A sort key, or an equivalent text.
#[derive(Deserialize)]
#[serde(untagged)]
enum OrderForm {
    Object(Order),
    Text(String),
}

/// Deserializes sort keys, each an object or a text such as `total desc`.
///
/// # Errors
/// If an entry cannot be parsed; the message shows the syntax.
pub fn read_orders<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Order>, D::Error> {
    let orders: Option<Vec<OrderForm>> = Option::deserialize(from)?;
    let one = |order| match order {
        OrderForm::Object(order) => Ok(order),
        OrderForm::Text(text) => text::read_order(&text).map_err(D::Error::custom),
    };
    orders.unwrap_or_default().into_iter().map(one).collect()
}
