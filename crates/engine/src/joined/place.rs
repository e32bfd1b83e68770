//! Tables that are scanned in place: the plan of the scan replaces the table.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::datasource::source_as_provider;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, TableScan, cast};

use super::provider::Remote;

/// Replaces tables by their scans, where the source provides one.
pub(super) fn scan_in_place(plan: LogicalPlan) -> Result<LogicalPlan> {
    let replaced = plan.transform_up_with_subqueries(|node| {
        let LogicalPlan::TableScan(scan) = &node else { return Ok(Transformed::no(node)) };
        let provider = source_as_provider(&scan.source)?;
        match provider.downcast_ref::<Remote>().and_then(|remote| Some((remote, remote.place()?))) {
            Some((remote, place)) => Ok(Transformed::yes(of_table(scan, remote, place)?)),
            None => Ok(Transformed::no(node)),
        }
    })?;
    replaced.data.recompute_schema()
}

/// Returns the columns that the scan reads, with the names and types of the table in the plan. Columns that the scan was asked
/// to skip are removed above it.
fn of_table(scan: &TableScan, remote: &Remote, place: &Arc<LogicalPlan>) -> Result<LogicalPlan> {
    let mut wanted = remote.list_columns(scan.projection.as_ref());
    if wanted.is_empty() {
        // Counting rows needs at least one column.
        wanted.push(0);
    }
    let columns = wanted.iter().map(|at| {
        let field = remote.field(*at);
        let column = Expr::Column(place.schema().columns()[remote.place_of(*at)].clone());
        cast(column, field.data_type().clone()).alias(field.name())
    });
    let columns: Vec<Expr> = columns.collect();
    LogicalPlanBuilder::from(place.clone()).project(columns)?.alias(scan.table_name.clone())?.build()
}
