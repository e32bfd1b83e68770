//! Queries beyond their text: structured aggregates ([`aggregate`]), parameter values, the tables and columns that a statement
//! reads and computes, and warnings. Answered rows are kept with [`Engine::keep`] for later statements.

pub mod aggregate;
mod inspect;
mod outline;
mod parameters;

use prospector_connect::table::{Column, ColumnType, Table};
use serde_json::Value;

pub use crate::answer::QueryAnswer;
use crate::explain::parse_day;
pub use crate::explain::{Labels, name_period};
pub use crate::outcome::{Outcome, Way};
use crate::scope::{self, StoredSubset};
pub use crate::warning::{QueryWarning, WarningCode};
use crate::{Engine, Failure, FailureCode, joined};
pub use inspect::Inspection;
pub use outline::{ComparedValue, Outline};
pub use parameters::Literal;
pub use prospector_connect::query::split_script;
pub use prospector_connect::rows::{BlockSender, Rows};
pub use prospector_connect::sql::Dialect;

/// The SQL of a structured query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledQuery {
    /// The text for [`Engine::run`].
    pub sql: String,
    /// The database that it reads, in whose SQL it is written; `None` if it is written in DataFusion's SQL.
    pub database: Option<String>,
    /// The names of the columns of the answer.
    pub columns: Vec<String>,
}

impl Engine {
    /// Keeps rows under an alias, as [`Engine::load`] does with those of a table. `origin` names the origin of the rows, as
    /// `database.table` or in other words.
    ///
    /// # Errors
    /// - If the alias is not a plain name.
    /// - If two columns have the same name.
    /// - If the rows take too much memory.
    pub fn keep(&self, alias: &str, rows: &Rows, origin: &str) -> Result<(), Failure> {
        let mut subset = make_subset(scope::alias(alias)?, rows, &|_| ColumnType::Float, self.limits().source_bytes)?;
        subset.database = origin.split_once('.').map_or(origin, |(database, _)| database).to_owned();
        subset.origin = origin.to_owned();
        self.hold(subset)
    }
}

/// Creates a subset of that name from rows, limited to `max_bytes` of memory. `type_of_empty` returns the type of a column
/// without values.
///
/// # Errors
/// - If two columns have the same name.
/// - If the rows take too much memory.
pub(crate) fn make_subset(
    name: String,
    rows: &Rows,
    type_of_empty: &dyn Fn(&str) -> ColumnType,
    max_bytes: usize,
) -> Result<StoredSubset, Failure> {
    let mut columns: Vec<Column> = Vec::new();
    for (at, name) in rows.columns.iter().enumerate() {
        if columns.iter().any(|column| column.name.eq_ignore_ascii_case(name)) {
            let message = format!("two columns have the name `{name}`");
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
        return Err(Failure::new(FailureCode::TooLarge, message).advise("select fewer columns or rows"));
    }
    let batch = scope::batch(&columns, &rows.rows);
    let batch = batch.map_err(|error| Failure::new(FailureCode::Failed, error.to_string()))?;
    let table = Table { name, columns, ..Table::default() };
    Ok(StoredSubset { table, database: String::new(), origin: String::new(), batch, share: None })
}

/// Returns the type that fits all values, if there is one.
fn type_of<'a>(values: impl Iterator<Item = &'a Value>) -> Option<ColumnType> {
    let mut found = None;
    for value in values {
        let own = match value {
            Value::Null => continue,
            Value::Bool(_) => ColumnType::Boolean,
            Value::Number(number) if number.is_i64() => ColumnType::Integer,
            Value::Number(_) => ColumnType::Float,
            Value::String(text) if text.len() == 10 && parse_day(text).is_some() => ColumnType::Date,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_days_if_all_are() {
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
