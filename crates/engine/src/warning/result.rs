//! Warnings that follow from the rows of an answer alone.

use prospector_connect::rows::Rows;
use serde_json::Value;

use super::numbers::is_whole;
use super::similarity::{Difference, difference, quote};
use super::{Case, QueryWarning, WarningCode};
use crate::Dialect;

/// Returns whether there are no rows, or a column contains only zeros or nulls.
pub(super) fn is_empty(rows: &Rows) -> bool {
    let is_nothing = |value: &Value| value.is_null() || value.as_f64() == Some(0.0);
    let is_column_empty = |at: usize| rows.rows.iter().all(|row| row.get(at).is_none_or(is_nothing));
    rows.rows.is_empty() || (0..rows.columns.len()).any(is_column_empty)
}

pub(super) fn examine(case: &mut Case<'_>, rows: &Rows) {
    case.report(find_split_group(case, rows));
    case.report(find_quotient(case, rows));
}

/// Tests for two groups whose names differ only in spaces or case.
fn find_split_group(case: &Case<'_>, rows: &Rows) -> Option<QueryWarning> {
    let is_grouped = case.parts.iter().any(|part| !part.groups.is_empty() || part.is_distinct);
    if !is_grouped {
        return None;
    }
    let texts = |at: usize| rows.rows.iter().filter_map(move |row| row.get(at)?.as_str());
    (0..rows.columns.len()).find_map(|at| {
        let values: Vec<&str> = texts(at).collect();
        let pairs = values.iter().enumerate().flat_map(|(n, a)| values[..n].iter().map(move |b| (*b, *a)));
        let is_split = |kind: Difference| match kind {
            Difference::Leading | Difference::Trailing | Difference::Blanks | Difference::Case => true,
            Difference::Zeros | Difference::Signs => false,
        };
        let (a, b) = pairs.into_iter().find(|(a, b)| difference(a, b).is_some_and(is_split))?;
        let message = format!("{} and {} are different groups in `{}`", quote(a), quote(b), rows.columns[at]);
        let suggestion = "group by a trimmed lower-case value if they are the same";
        Some(QueryWarning::new(WarningCode::SplitGroup, message).suggest(suggestion))
    })
}

/// Tests for a quotient of integers that became zero.
fn find_quotient(case: &Case<'_>, rows: &Rows) -> Option<QueryWarning> {
    let divides_whole = match case.dialect {
        Dialect::Sqlite | Dialect::Postgres | Dialect::Joined => true,
        Dialect::Mysql | Dialect::Bigquery => false,
    };
    let is_zero = |at: usize| rows.rows.iter().all(|row| row.get(at).and_then(Value::as_i64) == Some(0));
    if !divides_whole || rows.rows.is_empty() || !(0..rows.columns.len()).any(is_zero) {
        return None;
    }
    case.parts.iter().find_map(|part| {
        let (left, right) =
            part.quotients.iter().find(|(left, right)| is_whole(part, left) && is_whole(part, right))?;
        let message = format!("`{left} / {right}` divides integers and drops the remainder");
        let suggestion = format!("write {left} * 1.0 / {right}");
        let all = case
            .parts
            .iter()
            .flat_map(|part| part.quotients.iter().filter(move |(a, b)| is_whole(part, a) && is_whole(part, b)));
        let columns = case.columns_with(all.map(|(left, right)| format!("{left} / {right}")));
        Some(QueryWarning::new(WarningCode::IntegerDivision, message).suggest(suggestion).about(columns))
    })
}
