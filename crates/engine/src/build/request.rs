//! Structured queries as a model writes them. In short form, a measure is `total` or `avg(total)`, a dimension `country` or
//! `month(ordered_at)`, and a top a number.

use prospector_connect::filter::FilterCondition;
use prospector_connect::query::{Aggregation, DatePart};
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A structured query without SQL.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryRequest {
    /// The database.
    #[serde(default)]
    #[schemars(!default)]
    pub(crate) database: String,
    /// The base table. Columns of other tables are named `table.column` and joined along declared foreign keys.
    #[serde(default)]
    #[schemars(!default)]
    pub(crate) table: String,
    /// The aggregates to compute.
    #[serde(default, deserialize_with = "measures", skip_serializing_if = "Vec::is_empty")]
    pub(crate) measures: Vec<Measure>,
    /// The columns to group by.
    #[serde(default, deserialize_with = "dimensions", skip_serializing_if = "Vec::is_empty")]
    pub(crate) dimensions: Vec<Dimension>,
    /// Numeric bins, if given separately from the other dimensions.
    #[serde(default, deserialize_with = "bins", skip_serializing)]
    #[schemars(skip)]
    pub(crate) bins: Vec<Dimension>,
    /// Conditions on columns, or on measures by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) filters: Vec<FilterCondition>,
    /// Arithmetic: over measures, it is a column of the answer; over columns, it can be used in measures and dimensions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) calculations: Vec<Calculation>,
    /// Keeps only the top N by a measure; with several, the rows that are in every top.
    #[serde(
        default,
        alias = "topN",
        alias = "top_n",
        deserialize_with = "tops",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub(crate) top: Vec<Top>,
    /// The foreign keys to join along, as `table.column`, if there are several paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) via: Vec<String>,
    /// Maximum number of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<usize>,
}

/// An aggregate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measure {
    /// The column, or a calculation over columns; omit it to count rows.
    #[serde(default, alias = "field", skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<String>,
    /// The aggregate function.
    pub(crate) aggregation: Aggregation,
    /// The name of the output column; defaults to a name such as `sum_total`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
}

impl Measure {
    pub(crate) fn name(&self) -> String {
        let word = self.aggregation.as_str();
        let usual = || match &self.column {
            Some(column) => format!("{word}_{}", bare(column)),
            None => word.to_owned(),
        };
        self.name.clone().unwrap_or_else(usual)
    }
}

/// A column to group by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dimension {
    /// The column, or a calculation over columns.
    #[serde(alias = "field")]
    pub(crate) column: String,
    /// The part of a date to group by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) part: Option<DatePart>,
    /// The width of numeric bins; each bin is labelled by its lower bound.
    #[serde(default, alias = "size", alias = "width", skip_serializing_if = "Option::is_none")]
    pub(crate) bin: Option<f64>,
    /// The name of the output column; defaults to the column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
}

impl Dimension {
    pub(crate) fn name(&self) -> String {
        let usual = || match (self.part, self.bin) {
            (Some(part), _) => format!("{}_{}", bare(&self.column), part.as_str()),
            (None, Some(_)) => format!("{}_bin", bare(&self.column)),
            (None, None) => bare(&self.column).to_owned(),
        };
        self.name.clone().unwrap_or_else(usual)
    }
}

/// A computed value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Calculation {
    /// The name of the result.
    pub(crate) name: String,
    /// Names, numbers, `+ - * /`, parentheses, `abs`, `round(x, n)`, `coalesce`. Division by zero yields null.
    pub(crate) expression: String,
}

/// The top N by a measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Top {
    /// The name of the measure, or of a calculation over measures.
    #[serde(default, alias = "by", alias = "field")]
    #[schemars(!default)]
    pub(crate) measure: String,
    /// The number of rows to keep.
    #[serde(alias = "count", alias = "limit")]
    pub(crate) n: usize,
    /// Keep the lowest values instead of the highest.
    #[serde(default)]
    pub(crate) lowest: bool,
    /// Keep N rows for each value of this dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) per: Option<String>,
}

/// Returns the name of a column without its table.
fn bare(column: &str) -> &str {
    column.rsplit('.').next().unwrap_or(column)
}

fn measures<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Measure>, D::Error> {
    read_all(from, |text| {
        let (word, column) = split_call(text);
        let of = |aggregation, column: &str| {
            let column = (column != "*").then(|| column.to_owned());
            Measure { column, aggregation, name: None }
        };
        match (word.and_then(|word| Aggregation::find(&word)), column.strip_prefix("distinct ")) {
            (Some(Aggregation::Count), Some(column)) => of(Aggregation::CountDistinct, column.trim()),
            (Some(found), _) => of(found, column),
            (None, _) if text.eq_ignore_ascii_case("count") => of(Aggregation::Count, "*"),
            (None, _) => of(Aggregation::Sum, text),
        }
    })
}

fn dimensions<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Dimension>, D::Error> {
    read_all(from, |text| {
        let (word, column) = split_call(text);
        let part = word.and_then(|word| serde_json::from_value(Value::String(word)).ok());
        let column = if part.is_some() { column } else { text };
        Dimension { column: column.to_owned(), part, bin: None, name: None }
    })
}

/// Bins of numeric columns. A bin needs a width, which a name alone does not give.
fn bins<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Dimension>, D::Error> {
    let read = |value: Value| match value {
        Value::String(column) => {
            let form = serde_json::json!({"column": column, "width": 10});
            Err(Error::custom(format!("the bin of `{column}` has no width; write it as {form}")))
        }
        value => Dimension::deserialize(value).map_err(Error::custom),
    };
    list(from)?.into_iter().map(read).collect()
}

fn tops<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Top>, D::Error> {
    let count = |value: Value| match value.as_u64().and_then(|n| usize::try_from(n).ok()) {
        Some(n) => Ok(Top { measure: String::new(), n, lowest: false, per: None }),
        None => Top::deserialize(value).map_err(Error::custom),
    };
    list(from)?.into_iter().map(count).collect()
}

/// Splits `SUM(total)` into `sum` and `total`.
fn split_call(text: &str) -> (Option<String>, &str) {
    match text.trim().strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((word, inner)) => (Some(word.trim().to_lowercase()), inner.trim()),
        None => (None, text.trim()),
    }
}

/// Accepts a list, or a single item in place of a list.
fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Value>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        one => vec![one],
    })
}

fn read_all<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    from: D,
    of_text: impl Fn(&str) -> T,
) -> Result<Vec<T>, D::Error> {
    let read = |value: Value| match value {
        Value::String(text) => Ok(of_text(text.trim())),
        value => serde_json::from_value(value).map_err(Error::custom),
    };
    list(from)?.into_iter().map(read).collect()
}
