//! The keys of the smaller side of a join, pushed down to the source of the larger side as a condition.
//!
//! A condition on a table is sound if the join above drops or ignores the rows that it excludes. Everything between the join
//! and the table must preserve this: filters, plain columns, grouping by the column.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, JoinType, NullEquality, ScalarValue};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::error::Result;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, TableScan};

use super::filter::MAX_LIST;
use super::provider::{FetchedTable, MAX_ROWS, Remote, RowsError};

/// A side with at most this many rows needs no condition.
const FEW: u64 = 200;

/// A table scan of a plan. Scans are numbered in the order of the plan.
struct Scan {
    scan: TableScan,
    provider: Arc<dyn TableProvider>,
    /// The expected number of rows.
    rows: u64,
}

/// The join needs only rows of one column whose values occur in the other.
struct Edge {
    from: (usize, String),
    to: (usize, String),
}

/// Returns the plan with those tables fetched whose keys are needed, or whose rows are selected by the keys of others.
///
/// # Errors
/// The error of a source.
pub(super) async fn fetch_keys(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut edges = Vec::new();
    collect(&plan, 0, &mut edges);
    if edges.is_empty() {
        return Ok(plan);
    }
    let scans = scans(&plan)?;
    let mut order: Vec<usize> = (0..scans.len()).collect();
    order.sort_by_key(|at| scans[*at].rows);
    let mut read: HashMap<usize, RecordBatch> = HashMap::new();
    for at in order {
        let Scan { scan, provider, rows } = &scans[at];
        if let Some(held) = provider.downcast_ref::<FetchedTable>() {
            read.insert(at, held.batch().clone());
            continue;
        }
        let Some(remote) = provider.downcast_ref::<Remote>() else { continue };
        let is_larger = |edge: &&Edge| edge.to.0 == at && *rows > FEW && scan.fetch.is_none();
        let mut filters = scan.filters.clone();
        for edge in edges.iter().filter(is_larger) {
            if let Some(keys) = read.get(&edge.from.0).and_then(|batch| keys(batch, &edge.from.1)) {
                let list = keys.into_iter().map(|key| Expr::Literal(key, None)).collect();
                let column = Box::new(Expr::Column(Column::new_unqualified(&edge.to.1)));
                filters.push(Expr::InList(InList { expr: column, list, negated: false }));
            }
        }
        let is_scanned = remote.place().is_some();
        let is_read = match is_scanned {
            // Only a source can use its keys.
            true => {
                let is_sent = |edge: &Edge| edge.from.0 == at && !is_scanned_at(&scans[edge.to.0]);
                edges.iter().any(is_sent) && remote.estimate_rows(&filters) <= MAX_ROWS as u64
            }
            false => edges.iter().any(|edge| edge.from.0 == at || edge.to.0 == at),
        };
        if !is_read {
            continue;
        }
        match remote.batch(&remote.list_columns(scan.projection.as_ref()), &filters, scan.fetch).await {
            Ok(batch) => drop(read.insert(at, batch)),
            // An underestimate does no harm if the table can be scanned in place.
            Err(error) if is_scanned && RowsError::is_too_large(&error) => {}
            Err(error) => return Err(error),
        }
    }
    let mut at = 0;
    let replaced = plan.transform_down(|node| {
        let LogicalPlan::TableScan(scan) = node else { return Ok(Transformed::no(node)) };
        at += 1;
        Ok(match read.remove(&(at - 1)) {
            Some(batch) if scans[at - 1].provider.downcast_ref::<Remote>().is_some() => {
                let source = provider_as_source(Arc::new(FetchedTable::part(scan.source.schema(), batch)));
                Transformed::yes(LogicalPlan::TableScan(TableScan { source, ..scan }))
            }
            _ => Transformed::no(LogicalPlan::TableScan(scan)),
        })
    })?;
    Ok(replaced.data)
}

fn is_scanned_at(scan: &Scan) -> bool {
    scan.provider.downcast_ref::<Remote>().is_some_and(|remote| remote.place().is_some())
}

/// Returns the distinct values of a column, if they are few.
fn keys(batch: &RecordBatch, name: &str) -> Option<Vec<ScalarValue>> {
    let column = batch.column_by_name(name)?;
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    for row in (0..column.len()).filter(|row| column.is_valid(*row)) {
        let key = ScalarValue::try_from_array(column, row).ok()?;
        if seen.insert(key.clone()) {
            found.push(key);
        }
        if found.len() > MAX_LIST {
            return None;
        }
    }
    Some(found)
}

fn scans(plan: &LogicalPlan) -> Result<Vec<Scan>> {
    let mut found = Vec::new();
    plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            let provider = source_as_provider(&scan.source)?;
            let rows = match provider.downcast_ref::<FetchedTable>() {
                Some(held) => held.batch().num_rows() as u64,
                None => {
                    provider.downcast_ref::<Remote>().map_or(u64::MAX, |remote| remote.estimate_rows(&scan.filters))
                }
            };
            let rows = scan.fetch.map_or(rows, |fetch| rows.min(fetch as u64));
            found.push(Scan { scan: scan.clone(), provider, rows });
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

fn count(plan: &LogicalPlan) -> usize {
    let mut count = 0;
    let _ = plan.apply(|node| {
        count += usize::from(matches!(node, LogicalPlan::TableScan(_)));
        Ok(TreeNodeRecursion::Continue)
    });
    count
}

/// Collects the edges of all joins; `first` is the number of the first table of the plan.
fn collect(plan: &LogicalPlan, first: usize, edges: &mut Vec<Edge>) {
    if let LogicalPlan::Join(join) = plan {
        of_join(join, first, edges);
    }
    let mut first = first;
    for input in plan.inputs() {
        collect(input, first, edges);
        first += count(input);
    }
}

fn of_join(join: &Join, first: usize, edges: &mut Vec<Edge>) {
    if join.null_equality != NullEquality::NullEqualsNothing || join.null_aware {
        return;
    }
    use JoinType::{Inner, Left, LeftAnti, LeftSemi, Right, RightAnti, RightSemi};
    let right_by_left = matches!(join.join_type, Inner | Left | LeftSemi | LeftAnti | RightSemi);
    let left_by_right = matches!(join.join_type, Inner | Right | RightSemi | RightAnti | LeftSemi);
    let second = first + count(&join.left);
    for (left, right) in &join.on {
        let (Expr::Column(left), Expr::Column(right)) = (left, right) else { continue };
        let sides = |strict_left: bool, strict_right: bool| {
            Some((origin(&join.left, first, left, strict_left)?, origin(&join.right, second, right, strict_right)?))
        };
        if right_by_left && let Some((from, to)) = sides(false, true) {
            edges.push(Edge { from, to });
        }
        if left_by_right && let Some((to, from)) = sides(true, false) {
            edges.push(Edge { from, to });
        }
    }
}

/// Returns the table that an unchanged column originates from, and its name there. `is_target` requires that excluding rows of
/// the table by that column is equivalent to excluding them here.
fn origin(plan: &LogicalPlan, first: usize, column: &Column, is_target: bool) -> Option<(usize, String)> {
    let at = || plan.schema().maybe_index_of_column(column);
    let beneath = |input: &LogicalPlan, at: usize| -> Column { input.schema().qualified_field(at).into() };
    match plan {
        LogicalPlan::TableScan(_) => at().map(|_| (first, column.name.clone())),
        LogicalPlan::SubqueryAlias(alias) => origin(&alias.input, first, &beneath(&alias.input, at()?), is_target),
        LogicalPlan::Filter(filter) => origin(&filter.input, first, column, is_target),
        LogicalPlan::Projection(projection) => {
            let mut expression = projection.expr.get(at()?)?;
            while let Expr::Alias(alias) = expression {
                expression = &alias.expr;
            }
            let Expr::Column(inner) = expression else { return None };
            origin(&projection.input, first, inner, is_target)
        }
        LogicalPlan::Aggregate(aggregate) => {
            let Expr::Column(inner) = aggregate.group_expr.get(at()?)? else { return None };
            origin(&aggregate.input, first, inner, is_target)
        }
        LogicalPlan::Sort(sort) if sort.fetch.is_none() || !is_target => origin(&sort.input, first, column, is_target),
        LogicalPlan::Limit(limit) if !is_target => origin(&limit.input, first, column, is_target),
        LogicalPlan::Join(join) => {
            let is_left = join.left.schema().maybe_index_of_column(column).is_some();
            let is_right = join.right.schema().maybe_index_of_column(column).is_some();
            let kept = match join.join_type {
                JoinType::Inner => true,
                JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti => is_left,
                JoinType::Right | JoinType::RightSemi | JoinType::RightAnti => is_right,
                _ => false,
            };
            match (is_left, is_right) {
                _ if is_target && !kept => None,
                (true, false) => origin(&join.left, first, column, is_target),
                (false, true) => origin(&join.right, first + count(&join.left), column, is_target),
                _ => None,
            }
        }
        _ => None,
    }
}
