//! What a query is made of, as a model writes it. In few words, a measure is `total` or `avg(total)`, a dimension `country` or
//! `month(ordered_at)`, and a top a number.

use prospector_connect::filter::FilterCondition;
use prospector_connect::query::{Aggregation, DatePart};
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A query without SQL.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryRequest {
    /// The database.
    #[serde(default)]
    #[schemars(!default)]
    pub(crate) database: String,
    /// The table. Columns of others are named `table.column`; they are joined along declared foreign keys.
    #[serde(default)]
    #[schemars(!default)]
    pub(crate) table: String,
    /// What is aggregated.
    #[serde(default, deserialize_with = "measures", skip_serializing_if = "Vec::is_empty")]
    pub(crate) measures: Vec<Measure>,
    /// What it is grouped by.
    #[serde(default, deserialize_with = "dimensions", skip_serializing_if = "Vec::is_empty")]
    pub(crate) dimensions: Vec<Dimension>,
    /// Dimensions that are bins of numbers, where they are written apart from the others.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub(crate) bins: Vec<Dimension>,
    /// Conditions on columns, or on measures by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) filters: Vec<FilterCondition>,
    /// Arithmetic: over measures it is a column of the answer; over columns it can be measured or grouped by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) calculations: Vec<Calculation>,
    /// Only the top by a measure; with several, what is at the top by each.
    #[serde(
        default,
        alias = "topN",
        alias = "top_n",
        deserialize_with = "tops",
        skip_serializing_if = "Vec::is_empty"
    )]
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
    #[serde(default, alias = "field", skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<String>,
    /// How.
    pub(crate) aggregation: Aggregation,
    /// What it is called, `sum_total` if not given.
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

/// What is grouped by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dimension {
    /// The column, or a calculation over columns.
    #[serde(alias = "field")]
    pub(crate) column: String,
    /// A part of a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) part: Option<DatePart>,
    /// The width of bins of numbers; a bin is called by its lower end.
    #[serde(default, alias = "size", alias = "width", skip_serializing_if = "Option::is_none")]
    pub(crate) bin: Option<f64>,
    /// What it is called, as the column if not given.
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
    #[serde(default, alias = "by", alias = "field")]
    #[schemars(!default)]
    pub(crate) measure: String,
    /// How many.
    #[serde(alias = "count", alias = "limit")]
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

fn tops<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Top>, D::Error> {
    let count = |value: Value| match value.as_u64().and_then(|n| usize::try_from(n).ok()) {
        Some(n) => Ok(Top { measure: String::new(), n, lowest: false, per: None }),
        None => Top::deserialize(value).map_err(Error::custom),
    };
    list(from)?.into_iter().map(count).collect()
}

/// `SUM(total)` as `sum` and `total`.
fn split_call(text: &str) -> (Option<String>, &str) {
    match text.trim().strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((word, inner)) => (Some(word.trim().to_lowercase()), inner.trim()),
        None => (None, text.trim()),
    }
}

/// A list, or its only item by itself.
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
