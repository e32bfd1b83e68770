//! Cells of files that do not have the type of their column, or are the total of the others, if the query reads it.

use std::ops::ControlFlow;

use prospector_connect::rows::Rows;
use prospector_connect::table::{ColumnIssue, IssueEffect, Table};
use sqlparser::ast::{Expr, Ident, Query, SetExpr, TableFactor, visit_expressions};

use super::affected::{Suspect, contains};
use super::{Case, QueryWarning, WarningCode};
use crate::plan::Plan;
use crate::syntax::{column_name, value_of};

/// Reports the columns with such cells. Rows that list the column, without a null in it, contain none of them, or show the
/// total.
pub(super) fn examine(case: &mut Case<'_>, plan: &Plan, rows: Option<&Rows>) {
    let tables = plan.tables();
    let is_read = |issue: &&ColumnIssue| matches!(issue.effect, IssueEffect::Null | IssueEffect::CountedTotal);
    let issues: Vec<(&Table, &ColumnIssue)> =
        tables.iter().flat_map(|table| table.issues.iter().filter(is_read).map(move |issue| (*table, issue))).collect();
    if issues.is_empty() {
        return;
    }
    let mut read: Vec<String> = Vec::new();
    let _ = visit_expressions(plan.query(), |expression: &Expr| {
        read.extend(column_name(expression).map(|name| name.value.to_lowercase()));
        ControlFlow::<()>::Continue(())
    });
    for (table, issue) in issues.into_iter().filter(|(_, issue)| read.contains(&issue.column.to_lowercase())) {
        let message = format!("`{}.{}`: {issue}", table.name, issue.column);
        let columns = case.statement.columns_with(&Suspect::Column(table, &issue.column));
        let is_listed = !columns.is_empty() && lists(plan.query(), &issue.column);
        if is_listed && rows.is_some_and(|rows| !has_null(rows, &columns)) {
            continue;
        }
        case.report(Some(QueryWarning::new(WarningCode::InvalidCells, message).about(columns)));
    }
}

/// Returns whether a query is one SELECT over tables that returns a column only as it is.
fn lists(query: &Query, column: &str) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    let is_table = |factor: &TableFactor| matches!(factor, TableFactor::Table { args: None, .. });
    let is_own = |name: &Ident| name.value.eq_ignore_ascii_case(column);
    let is_plain = |expr: &Expr| {
        column_name(expr).is_some_and(is_own) || !contains(expr, &mut |part| column_name(part).is_some_and(is_own))
    };
    let mut factors = select
        .from
        .iter()
        .flat_map(|table| std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)));
    query.with.is_none() && factors.all(is_table) && select.projection.iter().filter_map(value_of).all(is_plain)
}

/// Returns whether one of the columns has a null.
fn has_null(rows: &Rows, columns: &[String]) -> bool {
    let places = rows.columns.iter().enumerate().filter(|(_, name)| columns.contains(*name));
    let places: Vec<usize> = places.map(|(at, _)| at).collect();
    rows.rows.iter().any(|row| places.iter().any(|at| row.get(*at).is_none_or(serde_json::Value::is_null)))
}
