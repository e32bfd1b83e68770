//! The conditions of a query: on rows, and on what is computed of groups.

use prospector_connect::filter::FilterCondition;
use prospector_connect::query::Condition;

use super::names::{Names, Output};
use super::write::{self, Writer};
use super::{QueryRequest, invalid};
use crate::{Failure, FailureCode};

/// A single condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Clause {
    Compare(FilterCondition),
    Among(Membership),
}

/// A column, and the query among whose values its own must be, or must not be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Membership {
    pub(crate) column: String,
    pub(crate) set: String,
    pub(crate) is_excluded: bool,
}

impl Clause {
    /// What it compares.
    pub(crate) fn column(&self) -> &str {
        match self {
            Clause::Compare(filter) => &filter.column,
            Clause::Among(membership) => &membership.column,
        }
    }

    /// The names in it: the column, and the other that it is compared with.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let other = match self {
            Clause::Compare(filter) => filter.reference(),
            Clause::Among(_) => None,
        };
        std::iter::once(self.column()).chain(other)
    }

    /// The SQL of it over a value of that class.
    ///
    /// # Errors
    /// Where the value has not the form that the comparison needs.
    pub(super) fn write(&self, writer: &Writer, value: &str, class: write::Class) -> Result<String, Failure> {
        match self {
            Clause::Compare(filter) => writer.clause(value, class, filter),
            Clause::Among(Membership { set, is_excluded, .. }) => {
                // Beside an alternative, DataFusion takes a row without a value for one whose value is not among them.
                Ok(match is_excluded {
                    true => format!("({value} IS NOT NULL AND {value} NOT IN ({set}))"),
                    false => format!("{value} IN ({set})"),
                })
            }
        }
    }
}

/// The conditions of a request.
pub(super) fn of_request(query: &QueryRequest) -> Vec<Condition<Clause>> {
    query.filters.iter().map(|filter| Condition::One(Clause::Compare(filter.clone()))).collect()
}

/// The conditions on what is computed, and those on rows.
pub(super) fn split<'c>(
    conditions: &'c [Condition<Clause>],
    outputs: &[Output],
) -> (Vec<&'c Condition<Clause>>, Vec<&'c Condition<Clause>>) {
    let is_computed = |clause: &Clause| outputs.iter().any(|output| output.is_computed(clause.column()));
    conditions.iter().partition(|condition| condition.singles().any(is_computed))
}

/// The SQL of joined conditions, each list in brackets.
///
/// # Errors
/// Those of `write`.
pub(super) fn write_joined(
    condition: &Condition<Clause>,
    write: &impl Fn(&Clause) -> Result<String, Failure>,
) -> Result<String, Failure> {
    let (several, sign, of_none) = match condition {
        Condition::One(clause) => return write(clause),
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
    conditions: &[&Condition<Clause>],
) -> Result<String, Failure> {
    let write = |clause: &Clause| {
        let value = names.write(writer, clause.column())?;
        let compared = match clause {
            Clause::Compare(filter) => filter.reference().map(|other| (filter, other)),
            Clause::Among(_) => None,
        };
        match compared {
            Some((filter, other)) => compare_columns(writer, names, filter, &value, other),
            None => clause.write(writer, &value, names.class(clause.column())?),
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
