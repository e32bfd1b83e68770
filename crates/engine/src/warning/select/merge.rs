//! Flattening of a SELECT over one derived table into a single SELECT, so that aggregates are seen together with the joins
//! below.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Query, Select, SelectItem, SetExpr, TableFactor, VisitMut, VisitorMut,
};

/// Returns the SELECT without its derived table; `None` if that groups, limits or computes values that cannot be substituted.
pub(super) fn merge(select: &Select) -> Option<Select> {
    let [from] = select.from.as_slice() else { return None };
    let TableFactor::Derived { lateral: false, subquery, alias, .. } = &from.relation else { return None };
    if !from.joins.is_empty() || alias.as_ref().is_some_and(|alias| !alias.columns.is_empty()) {
        return None;
    }
    let inner = find_plain(subquery)?;
    let columns: Option<HashMap<String, Expr>> = inner.projection.iter().map(name_item).collect();
    let mut replaced = Substitution { name: alias.as_ref().map(|alias| alias.name.value.clone()), columns: columns? };
    let mut merged = select.clone();
    merged.from = Vec::new();
    let _ = merged.visit(&mut replaced);
    merged.from.clone_from(&inner.from);
    merged.selection = match (inner.selection.clone(), merged.selection.take()) {
        (Some(inner), Some(outer)) => Some(Expr::BinaryOp {
            left: Box::new(Expr::Nested(Box::new(inner))),
            op: BinaryOperator::And,
            right: Box::new(Expr::Nested(Box::new(outer))),
        }),
        (inner, outer) => inner.or(outer),
    };
    Some(merged)
}

/// Returns the SELECT of a query that only joins, filters and computes row by row.
fn find_plain(query: &Query) -> Option<&Select> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let is_grouped = !matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
    let is_limited = query.with.is_some() || query.limit_clause.is_some() || query.fetch.is_some();
    let is_plain = !is_grouped && !is_limited && select.distinct.is_none() && select.having.is_none();
    (is_plain && select.top.is_none()).then_some(select)
}

/// Returns the name of an item and its value: a column or arithmetic over columns.
fn name_item(item: &SelectItem) -> Option<(String, Expr)> {
    let (name, expr) = match item {
        SelectItem::ExprWithAlias { expr, alias } => (alias, expr),
        SelectItem::UnnamedExpr(expr @ Expr::Identifier(name)) => (name, expr),
        SelectItem::UnnamedExpr(expr @ Expr::CompoundIdentifier(parts)) => (parts.last()?, expr),
        _ => return None,
    };
    is_by_row(expr).then(|| (name.value.to_lowercase(), expr.clone()))
}

fn is_by_row(expr: &Expr) -> bool {
    match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) => true,
        Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } | Expr::Cast { expr: inner, .. } => is_by_row(inner),
        Expr::BinaryOp { left, right, .. } => is_by_row(left) && is_by_row(right),
        _ => false,
    }
}

/// Replaces the columns of the derived table by their expressions.
struct Substitution {
    name: Option<String>,
    columns: HashMap<String, Expr>,
}

impl VisitorMut for Substitution {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let name = match &*expr {
            Expr::Identifier(name) => Some(&name.value),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [table, name] if self.name.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(&table.value)) => {
                    Some(&name.value)
                }
                _ => None,
            },
            _ => None,
        };
        if let Some(known) = name.and_then(|name| self.columns.get(&name.to_lowercase())) {
            *expr = match known {
                Expr::BinaryOp { .. } => Expr::Nested(Box::new(known.clone())),
                other => other.clone(),
            };
        }
        ControlFlow::Continue(())
    }
}
