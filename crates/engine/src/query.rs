//! Queries that are written as data: measures, conditions, groups and an order over tables of any databases and over what a
//! session has loaded. [`Engine::compile`] writes the SQL; rows that were answered are kept with [`Engine::keep`] for the next.

pub mod aggregate;
mod combine;
mod compile;
mod inspect;
mod joint;
mod measure;
mod parameters;

use chrono::NaiveDate;
use prospector_connect::filter::FilterCondition;
use prospector_connect::query::{Condition, Group, Measure, Order};
use prospector_connect::rows::Rows;
use prospector_connect::table::{Column, ColumnType, Table};
use serde_json::Value;

use aggregate::NamedJoin;

pub use crate::answer::QueryAnswer;
pub use crate::build::check_expression;
pub use crate::outcome::{Outcome, Way};
use crate::scope::{self, StoredSubset};
use crate::{Engine, Failure, FailureCode, joined};
pub use combine::{Combination, CombinedColumn, KeptColumn};
pub use inspect::Inspection;
pub use parameters::Literal;

/// What is computed over tables.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableQuery {
    /// `database.table`, or the alias of what was loaded or kept.
    pub tables: Vec<String>,
    /// The columns of the rows, where nothing is computed and nothing is grouped; all of the first table where it is empty.
    pub columns: Vec<String>,
    /// What is computed.
    pub compute: Vec<Measure>,
    /// Conditions, all of which are to be met.
    pub filter: Vec<Condition<Criterion>>,
    /// What is grouped by.
    pub group_by: Vec<Group>,
    /// What rows are ordered by, most important first.
    pub order: Vec<Order>,
    /// At most so many rows.
    pub limit: Option<usize>,
    /// Joins that no schema declares, between tables as `database.table`. They are taken as declared keys are.
    pub joins: Vec<NamedJoin>,
}

/// A single condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Criterion {
    /// On a column, on a measure by its name, or on what is computed of each group: `sum(database.table.column)`.
    Compare(FilterCondition),
    /// On a column, whose values must be, or must not be, among those of one that was loaded or kept.
    Within(Within),
}

/// A column whose values must be among those of another, or must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Within {
    /// The column, `database.table.column`.
    pub column: String,
    /// What was loaded or kept under that alias.
    pub alias: String,
    /// Its column.
    pub of: String,
    /// Whether the values must not be among those.
    pub is_excluded: bool,
}

/// The SQL of a [`TableQuery`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledQuery {
    /// The text for [`Engine::run`].
    pub sql: String,
    /// The one database that it reads, in whose SQL it is written; none where it is in DataFusion's.
    pub database: Option<String>,
    /// What the columns of the answer are called.
    pub columns: Vec<String>,
    /// How many of them, the first, are groups: together they are different in each row.
    pub groups: usize,
}

impl TableQuery {
    /// Whether it lists rows: nothing is grouped, and what is computed is computed of each row.
    fn lists_rows(&self) -> bool {
        self.group_by.is_empty() && self.compute.iter().all(measure::is_of_rows)
    }

    /// Whether something in it is computed of several rows.
    pub fn aggregates(&self) -> bool {
        let of_groups = |criterion: &Criterion| match criterion {
            Criterion::Compare(filter) => Measure::read_aggregate(&filter.column).is_some(),
            Criterion::Within(_) => false,
        };
        !self.compute.iter().all(measure::is_of_rows)
            || self.filter.iter().flat_map(|condition| condition.singles()).any(of_groups)
    }
}

impl Engine {
    /// Keeps rows under an alias, as [`Engine::load`] does with those of a table. `keys` are the columns that are together
    /// different in each row; `origin` says where the rows are from, as `database.table` or in other words.
    ///
    /// # Errors
    /// An alias that is no plain name, columns of one name, or rows that take too much memory.
    pub fn keep(&self, alias: &str, rows: &Rows, keys: &[String], origin: &str) -> Result<(), Failure> {
        let alias = scope::alias(alias)?;
        let mut columns: Vec<Column> = Vec::new();
        for (at, name) in rows.columns.iter().enumerate() {
            if columns.iter().any(|column| column.name.eq_ignore_ascii_case(name)) {
                let message = format!("two columns are called `{name}`");
                return Err(
                    Failure::new(FailureCode::InvalidArguments, message).advise("give one of them another name")
                );
            }
            let is_key = keys.iter().any(|key| key.eq_ignore_ascii_case(name));
            // Of what there is nothing, what is no group was to be calculated with.
            let empty = if is_key { ColumnType::Text } else { ColumnType::Float };
            columns.push(Column {
                name: name.to_lowercase(),
                column_type: type_of(rows.rows.iter().filter_map(|row| row.get(at))).unwrap_or(empty),
                nullable: true,
                primary_key: is_key,
                ..Column::default()
            });
        }
        let most = self.limits().source_bytes;
        if joined::measure::rows(rows) > most {
            let message = format!("the rows would take more than {} MB", most >> 20);
            return Err(Failure::new(FailureCode::TooLarge, message).advise("ask for fewer columns or rows"));
        }
        let batch = scope::batch(&columns, &rows.rows);
        let batch = batch.map_err(|error| Failure::new(FailureCode::Failed, error.to_string()))?;
        let database = origin.split_once('.').map_or(origin, |(database, _)| database).to_owned();
        self.hold(StoredSubset {
            table: Table { name: alias, columns, ..Table::default() },
            database,
            origin: origin.to_owned(),
            batch,
            share: None,
        })
    }
}

/// The type that holds all of the values, where there is one.
fn type_of<'a>(values: impl Iterator<Item = &'a Value>) -> Option<ColumnType> {
    let mut found = None;
    for value in values {
        let own = match value {
            Value::Null => continue,
            Value::Bool(_) => ColumnType::Boolean,
            Value::Number(number) if number.is_i64() => ColumnType::Integer,
            Value::Number(_) => ColumnType::Float,
            Value::String(text) if is_day(text) => ColumnType::Date,
            Value::String(_) | Value::Array(_) | Value::Object(_) => return Some(ColumnType::Text),
        };
        found = match (found, own) {
            (None, own) => Some(own),
            (Some(before), own) if before == own => Some(own),
            (Some(ColumnType::Integer), ColumnType::Float) | (Some(ColumnType::Float), ColumnType::Integer) => {
                Some(ColumnType::Float)
            }
            (Some(_), _) => return Some(ColumnType::Text),
        };
    }
    found
}

/// Whether a text is a day, `2025-12-31`.
fn is_day(text: &str) -> bool {
    let is_sign = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(is_sign) && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_days_where_all_of_them_are() {
        let check = |values: Value, expected: Option<ColumnType>| {
            assert_eq!(type_of(values.as_array().into_iter().flatten()), expected, "{values}");
        };
        check(json!(["2025-12-31", null, "2024-02-29"]), Some(ColumnType::Date));
        for other in ["2025-02-29", "2025-12", "2025-12-31 10:00:00", "+025-12-31", "2025-1-31"] {
            check(json!(["2025-12-31", other]), Some(ColumnType::Text));
        }
        check(json!(["2025-12-31", 5]), Some(ColumnType::Text));
        check(json!([5, "2025-12-31"]), Some(ColumnType::Text));
        check(json!([null]), None);
    }
}
