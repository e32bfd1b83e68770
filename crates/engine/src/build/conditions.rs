//! The conditions of a query: on rows, and on what is computed of groups.

use prospector_connect::filter::FilterCondition;
use prospector_connect::query::Condition;

use super::names::{Names, Output};
use super::write::{self, Writer};
use super::{QueryRequest, invalid};
use crate::{Failure, FailureCode};

/// The names in a condition: the column, and the other that it is compared with.
pub(crate) fn list_names(filter: &FilterCondition) -> impl Iterator<Item = &str> {
    std::iter::once(filter.column.as_str()).chain(filter.reference())
}

/// The conditions of a request.
pub(super) fn of_request(query: &QueryRequest) -> Vec<Condition> {
    query.filters.iter().map(|filter| Condition::One(filter.clone())).collect()
}

/// The conditions on what is computed, and those on rows.
pub(super) fn split<'c>(conditions: &'c [Condition], outputs: &[Output]) -> (Vec<&'c Condition>, Vec<&'c Condition>) {
    let is_computed = |filter: &FilterCondition| outputs.iter().any(|output| output.is_computed(&filter.column));
    conditions.iter().partition(|condition| condition.singles().any(is_computed))
}

/// The SQL of joined conditions, each list in brackets.
///
/// # Errors
/// Those of `write`.
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

/// The conditions on rows.
///
/// # Errors
/// An unknown name, or a value that does not fit its column.
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

/// A condition that compares a column with another.
fn compare_columns(
    writer: &Writer,
    names: &Names<'_>,
    filter: &FilterCondition,
    value: &str,
    other: &str,
) -> Result<String, Failure> {
    let (column, op) = (&filter.column, filter.op);
    let sign = write::sign(op)
        .ok_or_else(|| invalid(format!("`{column}` cannot be compared with the column `{other}` in this way")))?;
    if names.class(column)? != names.class(other)? {
        let message = format!("`{column}` and `{other}` hold different kinds of values");
        return Err(Failure::new(FailureCode::TypeMismatch, message)
            .advise("compare numbers with numbers, and dates with dates"));
    }
    Ok(format!("{value} {sign} {}", names.write(writer, other)?))
}
