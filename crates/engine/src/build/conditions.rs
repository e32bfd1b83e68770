//! The conditions of a query: on rows (WHERE), and on aggregates.

use prospector_connect::filter::FilterCondition;
use prospector_connect::query::Condition;

use super::names::{Names, Output};
use super::write::{self, Writer};
use super::{QueryRequest, invalid};
use crate::{Failure, FailureCode};

/// Returns the names in a condition: the column, and the column it is compared with.
pub(crate) fn list_names(filter: &FilterCondition) -> impl Iterator<Item = &str> {
    std::iter::once(filter.column.as_str()).chain(filter.reference())
}

/// Returns the conditions of a request.
pub(super) fn of_request(query: &QueryRequest) -> Vec<Condition> {
    query.filters.iter().map(|filter| Condition::One(filter.clone())).collect()
}

/// Splits conditions into those on computed values and those on rows.
pub(super) fn split<'c>(conditions: &'c [Condition], outputs: &[Output]) -> (Vec<&'c Condition>, Vec<&'c Condition>) {
    let is_computed = |filter: &FilterCondition| outputs.iter().any(|output| output.is_computed(&filter.column));
    conditions.iter().partition(|condition| condition.singles().any(is_computed))
}

/// Renders a condition; nested lists of conditions are in parentheses.
///
/// # Errors
/// The errors of `write`.
pub(super) fn write_joined(
    condition: &Condition,
    write: &impl Fn(&FilterCondition) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let (several, sign, of_none) = match condition {
        Condition::One(filter) => return write(filter),
        Condition::All(several) => (several, " AND ", "1 = 1"),
        Condition::Any(several) => (several, " OR ", "1 = 0"),
    };
    let parts: Vec<String> = several.iter().map(|one| write_joined(one, write)).collect::<Result<_, _>>()?;
    Ok(if parts.is_empty() { of_none.to_owned() } else { format!("({})", parts.join(sign)) })
}

/// Renders the conditions on rows.
///
/// # Errors
/// - If a name is unknown.
/// - If a value does not fit its column.
pub(crate) fn write_conditions(
    writer: &Writer,
    names: &Names<'_>,
    conditions: &[&Condition],
) -> Result<String, Failure> {
    let write = |filter: &FilterCondition| {
        let value = names.write(writer, &filter.column)?;
        match filter.reference() {
            Some(other) => compare_columns(writer, names, filter, &value, other),
            None => writer.clause(&value, names.class(&filter.column)?, filter),
        }
    };
    let clauses: Vec<String> = conditions.iter().map(|one| write_joined(one, &write)).collect::<Result<_, _>>()?;
    Ok(if clauses.is_empty() { String::new() } else { format!("\nWHERE {}", clauses.join(" AND ")) })
}

/// Renders a comparison of two columns.
fn compare_columns(
    writer: &Writer,
    names: &Names<'_>,
    filter: &FilterCondition,
    value: &str,
    other: &str,
) -> Result<String, Failure> {
    let (column, op) = (&filter.column, filter.op);
    let sign = write::sign(op)
        .ok_or_else(|| invalid(format!("this operator cannot compare `{column}` with the column `{other}`")))?;
    if names.class(column)? != names.class(other)? {
        let message = format!("`{column}` and `{other}` have different types");
        return Err(Failure::new(FailureCode::TypeMismatch, message)
            .advise("compare numbers with numbers, and dates with dates"));
    }
    Ok(format!("{value} {sign} {}", names.write(writer, other)?))
}
