//! What a query is made of, as a model writes it.

use prospector_connect::filter::FilterCondition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A query without SQL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryRequest {
    /// The database.
    pub(crate) database: String,
    /// The table. Columns of others are named `table.column`; they are joined along declared foreign keys.
    pub(crate) table: String,
    /// What is aggregated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) measures: Vec<Measure>,
    /// What it is grouped by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) dimensions: Vec<Dimension>,
    /// Conditions on columns, or on measures by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) filters: Vec<FilterCondition>,
    /// Arithmetic: over measures it is a column of the answer; over columns it can be measured or grouped by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) calculations: Vec<Calculation>,
    /// Only the top by a measure; with several, what is at the top by each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) top: Vec<Top>,
    /// Which foreign keys to join along where there are several ways, as `table.column`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) via: Vec<String>,
    /// At most so many rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<usize>,
}

/// What is aggregated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measure {
    /// The column, or a calculation over columns; without it rows are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<String>,
    /// How.
    pub(crate) aggregation: Aggregation,
    /// What it is called, `sum_total` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
}

impl Measure {
    pub(crate) fn name(&self) -> String {
        let word = self.aggregation.word();
        let usual = || match &self.column {
            Some(column) => format!("{word}_{}", bare(column)),
            None => word.to_owned(),
        };
        self.name.clone().unwrap_or_else(usual)
    }
}

/// A function over the rows of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Aggregation {
    Sum,
    Avg,
    Min,
    Max,
    Count,
    CountDistinct,
}

impl Aggregation {
    pub(crate) fn word(self) -> &'static str {
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

/// What is grouped by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dimension {
    /// The column, or a calculation over columns.
    pub(crate) column: String,
    /// A part of a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) part: Option<DatePart>,
    /// The width of bins of numbers; a bin is called by its lower end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bin: Option<f64>,
    /// What it is called, as the column if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
}

impl Dimension {
    pub(crate) fn name(&self) -> String {
        let usual = || match (self.part, self.bin) {
            (Some(part), _) => format!("{}_{}", bare(&self.column), part.word()),
            (None, Some(_)) => format!("{}_bin", bare(&self.column)),
            (None, None) => bare(&self.column).to_owned(),
        };
        self.name.clone().unwrap_or_else(usual)
    }
}

/// A part of a date: `month` is 1 to 12, `year_month` is `2025-03`, `year_quarter` is `2025-Q1`, `date` is `2025-03-09`,
/// `weekday` is 0 for Sunday to 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DatePart {
    Year,
    Quarter,
    Month,
    Day,
    Weekday,
    Hour,
    YearQuarter,
    YearMonth,
    Date,
}

impl DatePart {
    pub(crate) fn word(self) -> &'static str {
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

/// A value that is computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Calculation {
    /// What it is called.
    pub(crate) name: String,
    /// Names, numbers, `+ - * /`, parentheses, `abs`, `round(x, n)`, `coalesce`. Divided by zero, there is no value.
    pub(crate) expression: String,
}

/// The first by a measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Top {
    /// The name of the measure, or of a calculation over measures.
    pub(crate) measure: String,
    /// How many.
    pub(crate) n: usize,
    /// The lowest instead of the highest.
    #[serde(default)]
    pub(crate) lowest: bool,
    /// So many for each value of this dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) per: Option<String>,
}

/// The name of a column without its table.
fn bare(column: &str) -> &str {
    column.rsplit('.').next().unwrap_or(column)
}
