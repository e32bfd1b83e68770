//! Queries beyond their text: aggregates that are written as data ([`aggregate`]), values for parameters, what a statement reads and
//! computes, warnings. Rows that were answered are kept with [`Engine::keep`] for later statements.

pub mod aggregate;
mod inspect;
mod outline;
mod parameters;

use chrono::NaiveDate;
use prospector_connect::table::{Column, ColumnType, Table};
use serde_json::Value;

pub use crate::answer::QueryAnswer;
pub use crate::explain::Labels;
pub use crate::outcome::{Outcome, Way};
use crate::scope::{self, StoredSubset};
pub use crate::warning::{QueryWarning, WarningCode};
use crate::{Engine, Failure, FailureCode, joined};
pub use inspect::Inspection;
pub use outline::{ComparedValue, Outline};
pub use parameters::Literal;
pub use prospector_connect::rows::{BlockSender, Rows};
pub use prospector_connect::script::statements as split_script;
pub use prospector_connect::sql::Dialect;

/// The SQL of a query that was written as data.
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

impl Engine {
    /// Keeps rows under an alias, as [`Engine::load`] does with those of a table. `keys` are the columns that are together
    /// different in each row; `origin` says where the rows are from, as `database.table` or in other words.
    ///
    /// # Errors
    /// An alias that is no plain name, columns of one name, or rows that take too much memory.
    pub fn keep(&self, alias: &str, rows: &Rows, keys: &[String], origin: &str) -> Result<(), Failure> {
        let is_key = |name: &str| keys.iter().any(|key| key.eq_ignore_ascii_case(name));
        // Of what there is nothing, what is no group was to be calculated with.
        let type_of_empty = |name: &str| if is_key(name) { ColumnType::Text } else { ColumnType::Float };
        let mut subset = make_subset(scope::alias(alias)?, rows, &type_of_empty, self.limits().source_bytes)?;
        for column in &mut subset.table.columns {
            column.primary_key = is_key(&column.name);
        }
        subset.database = origin.split_once('.').map_or(origin, |(database, _)| database).to_owned();
        subset.origin = origin.to_owned();
        self.hold(subset)
    }
}

/// Rows as a subset of that name, which take at most so many bytes. `type_of_empty` gives the type of a column without values.
///
/// # Errors
/// Columns of one name, or rows that take too much memory.
pub(crate) fn make_subset(
    name: String,
    rows: &Rows,
    type_of_empty: &dyn Fn(&str) -> ColumnType,
    max_bytes: usize,
) -> Result<StoredSubset, Failure> {
    let mut columns: Vec<Column> = Vec::new();
    for (at, name) in rows.columns.iter().enumerate() {
        if columns.iter().any(|column| column.name.eq_ignore_ascii_case(name)) {
            let message = format!("two columns are called `{name}`");
            return Err(Failure::new(FailureCode::InvalidArguments, message).advise("give one of them another name"));
        }
        columns.push(Column {
            name: name.to_lowercase(),
            column_type: type_of(rows.rows.iter().filter_map(|row| row.get(at))).unwrap_or_else(|| type_of_empty(name)),
            nullable: true,
            ..Column::default()
        });
    }
    if joined::measure::rows(rows) > max_bytes {
        let message = format!("the rows would take more than {} MB", max_bytes >> 20);
        return Err(Failure::new(FailureCode::TooLarge, message).advise("ask for fewer columns or rows"));
    }
    let batch = scope::batch(&columns, &rows.rows);
    let batch = batch.map_err(|error| Failure::new(FailureCode::Failed, error.to_string()))?;
    let table = Table { name, columns, ..Table::default() };
    Ok(StoredSubset { table, database: String::new(), origin: String::new(), batch, share: None })
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
