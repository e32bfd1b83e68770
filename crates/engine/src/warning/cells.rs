//! Cells of files that do not have the type of their column, if the query reads it.

use std::ops::ControlFlow;

use prospector_connect::table::{ColumnIssue, IssueEffect, Table};
use sqlparser::ast::{Expr, visit_expressions};

use super::affected::Suspect;
use super::{Case, QueryWarning, WarningCode};
use crate::plan::Plan;
use crate::syntax::column_name;

pub(super) fn examine(case: &mut Case<'_>, plan: &Plan) {
    let tables = plan.tables();
    let is_null = |issue: &&ColumnIssue| issue.effect == IssueEffect::Null;
    let issues: Vec<(&Table, &ColumnIssue)> =
        tables.iter().flat_map(|table| table.issues.iter().filter(is_null).map(move |issue| (*table, issue))).collect();
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
        case.report(Some(QueryWarning::new(WarningCode::InvalidCells, message).about(columns)));
    }
}
