//! Conversion of conditions to SQL clauses with quoted columns and bound values.

use serde_json::Value;

use crate::ConnectError;
use crate::filter::{ConditionError, FilterCondition, FilterOp, Test};
use crate::rows::Rows;

/// A resolved column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypedColumn {
    /// The exact name.
    pub(crate) name: String,
    /// The type as named by the source.
    pub(crate) data_type: String,
}

/// A bound value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BoundValue {
    Text(String),
    Integer(i64),
    Float(f64),
}

/// The syntax of one SQL dialect.
pub(crate) trait Dialect {
    /// Quotes a name as an identifier.
    fn quote(&self, name: &str) -> String;

    /// Returns the placeholder of the `position`th bound value, counted from 1, for comparison with the column, and the
    /// value itself.
    ///
    /// # Errors
    /// If the value does not fit the column.
    fn bind(
        &self,
        position: usize,
        column: &TypedColumn,
        value: &Value,
    ) -> Result<(String, BoundValue), ConditionError>;

    /// Returns a case-insensitive match of the quoted column with the `position`th bound pattern.
    fn like(&self, column: &str, position: usize) -> String;
}

/// A statement with its bound values, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) values: Vec<BoundValue>,
}

/// Finds an item by name; an exact match is preferred to a case-insensitive one.
pub(crate) fn find_by_name<'a, T>(known: &'a [T], name_of: impl Fn(&T) -> &str, wanted: &str) -> Option<&'a T> {
    let exact = known.iter().find(|item| name_of(item) == wanted);
    exact.or_else(|| known.iter().find(|item| name_of(item).to_lowercase() == wanted.to_lowercase()))
}

/// Finds a column by name, like [`find_by_name`].
pub(crate) fn column<'a>(known: &'a [TypedColumn], wanted: &str) -> Option<&'a TypedColumn> {
    find_by_name(known, |column| &column.name, wanted)
}

/// Returns the named columns of a table, or all columns.
///
/// # Errors
/// The first unknown name.
pub(crate) fn columns<'a>(
    place: &str,
    table: &str,
    known: &'a [TypedColumn],
    wanted: &[String],
) -> Result<Vec<&'a TypedColumn>, ConnectError> {
    if wanted.is_empty() {
        return Ok(known.iter().collect());
    }
    let unknown = |name: &str| ConnectError::unknown_column(place, table, name);
    wanted.iter().map(|name| column(known, name).ok_or_else(|| unknown(name))).collect()
}

/// Selects the rows that meet the conditions, one more than `limit` to know whether there are more. `from` is the quoted
/// name of the table `table`.
pub(crate) fn select(
    dialect: &dyn Dialect,
    table: &str,
    from: &str,
    wanted: &[&TypedColumn],
    known: &[TypedColumn],
    conditions: &[FilterCondition],
    limit: usize,
) -> Result<Statement, ConnectError> {
    let list: Vec<String> = wanted.iter().map(|column| dialect.quote(&column.name)).collect();
    let mut statement = Statement { sql: format!("SELECT {} FROM {from}", list.join(", ")), values: Vec::new() };
    for (at, condition) in conditions.iter().enumerate() {
        let failed = ConnectError::condition(table, &condition.column);
        let column = column(known, &condition.column).ok_or_else(|| failed(ConditionError::UnknownColumn))?;
        let clause = clause(dialect, column, condition, &mut statement.values).map_err(failed)?;
        statement.sql += if at == 0 { " WHERE " } else { " AND " };
        statement.sql += &clause;
    }
    statement.sql += &format!(" LIMIT {}", limit.saturating_add(1).min(i64::MAX as usize));
    Ok(statement)
}

fn clause(
    dialect: &dyn Dialect,
    column: &TypedColumn,
    condition: &FilterCondition,
    values: &mut Vec<BoundValue>,
) -> Result<String, ConditionError> {
    let name = dialect.quote(&column.name);
    let mut bind = |value: &Value| -> Result<String, ConditionError> {
        let (sql, bound) = dialect.bind(values.len() + 1, column, value)?;
        values.push(bound);
        Ok(sql)
    };
    Ok(match condition.test()? {
        Test::Null => format!("{name} IS NULL"),
        Test::NotNull => format!("{name} IS NOT NULL"),
        Test::Compare(op, value) => format!("{name} {} {}", op.operator(), bind(value)?),
        Test::Between(low, high) => {
            format!("({name} {} {} AND {name} <= {})", FilterOp::Between.operator(), bind(low)?, bind(high)?)
        }
        Test::In { values: list, or_null } => {
            let mut parts = Vec::new();
            if !list.is_empty() {
                let bound = list.into_iter().map(bind).collect::<Result<Vec<_>, _>>()?;
                parts.push(format!("{name} IN ({})", bound.join(", ")));
            }
            if or_null {
                parts.push(format!("{name} IS NULL"));
            }
            match parts.is_empty() {
                true => "1 = 0".to_owned(),
                false => format!("({})", parts.join(" OR ")),
            }
        }
        Test::Like(pattern) => {
            values.push(BoundValue::Text(pattern));
            dialect.like(&name, values.len())
        }
        Test::NotLike(pattern) => {
            values.push(BoundValue::Text(pattern));
            format!("NOT ({})", dialect.like(&name, values.len()))
        }
    })
}

/// Removes the excess row from the result.
pub(crate) fn cap_rows(columns: Vec<String>, mut rows: Vec<Vec<Value>>, cap: usize) -> Rows {
    let has_more = rows.len() > cap;
    rows.truncate(cap);
    Rows { columns, rows, has_more }
}

/// Escapes a text for a `LIKE` pattern with backslash escapes.
pub(crate) fn escape_pattern(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
