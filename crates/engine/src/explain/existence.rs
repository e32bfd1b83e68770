//! Conditions on related rows: EXISTS, and IN or NOT IN with a query.

use sqlparser::ast::{BinaryOperator, Expr, GroupByExpr, Query, Select, SelectItem, SetExpr, UnaryOperator};

use super::phrase::{Binding, list};
use super::{Frame, MAX_QUERIES, Writer};
use crate::syntax::{conjuncts, last_name, without_parentheses};

/// A condition that related rows exist, or do not exist.
pub(super) struct Existence {
    is_negated: bool,
    /// The related rows: `invoices (same customer_id and status is paid)`.
    rows: String,
}

impl Existence {
    /// Returns `have no invoices`.
    pub(super) fn plural(&self) -> String {
        format!("have {}{}", if self.is_negated { "no " } else { "" }, self.rows)
    }

    /// Returns `has no invoices`.
    pub(super) fn singular(&self) -> String {
        format!("has {}{}", if self.is_negated { "no " } else { "" }, self.rows)
    }

    pub(super) fn negate(self) -> Self {
        Existence { is_negated: !self.is_negated, ..self }
    }
}

impl<'a> Writer<'a> {
    /// Returns the related rows that a condition requires; `None` if it is another condition, or the rows are computed.
    pub(super) fn existence(&mut self, condition: &'a Expr) -> Option<Existence> {
        match without_parentheses(condition) {
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => {
                let inner = without_parentheses(expr);
                matches!(inner, Expr::Exists { .. } | Expr::InSubquery { .. }).then_some(())?;
                Some(self.existence(inner)?.negate())
            }
            Expr::Exists { subquery, negated } => {
                let rows = self.rows(subquery, None)?;
                Some(Existence { is_negated: *negated, rows })
            }
            Expr::InSubquery { expr, subquery, negated } => {
                let rows = self.rows(subquery, Some(expr.as_ref()))?;
                Some(Existence { is_negated: *negated, rows })
            }
            _ => None,
        }
    }

    /// Explains the rows of a query and how they relate to the outer row; `outer` must equal the selected column.
    fn rows(&mut self, query: &'a Query, outer: Option<&'a Expr>) -> Option<String> {
        let select = plain_select(query).filter(|_| self.queries < MAX_QUERIES)?;
        let inner = match outer {
            None => None,
            Some(_) => match select.projection.as_slice() {
                [SelectItem::UnnamedExpr(inner) | SelectItem::ExprWithAlias { expr: inner, .. }] => {
                    self.names.column(inner)?;
                    Some(inner)
                }
                _ => return None,
            },
        };
        let (own, scope) = (self.frame().copied(), self.names.scope(select));
        let relations = scope.map_or(0, |scope| self.names.relations_of(scope).count());
        let outer_text = outer.map(|outer| self.expr(outer).at_least(Binding::Sum));
        self.queries += 1;
        self.frames.push(Frame { select, scope, is_qualified: relations > 1, is_alias: false });
        let from = self.describe_from(&select.from);
        let (mut keys, mut others) = (Vec::new(), Vec::new());
        if let Some((inner, outer)) = inner.zip(outer) {
            keys.push(match self.same_name(outer, inner) {
                Some(name) => format!("same {name}"),
                None => format!("{} is its {}", self.qualify(inner), outer_text.unwrap_or_default()),
            });
        }
        for part in select.selection.iter().flat_map(conjuncts) {
            match self.correlation(part, own.as_ref()) {
                Some(key) => keys.push(key),
                None => others.push(part),
            }
        }
        if !others.is_empty() {
            keys.push(self.conjunction(&others).at_least(Binding::And));
        }
        self.frames.pop();
        self.queries -= 1;
        Some(if keys.is_empty() { from } else { format!("{from} ({})", list(&keys, "and")) })
    }

    /// Explains a value whose columns are named with their tables.
    pub(super) fn qualify(&mut self, value: &'a Expr) -> String {
        let before = self.frames.last_mut().map(|frame| std::mem::replace(&mut frame.is_qualified, true));
        let text = self.expr(value).text;
        if let (Some(frame), Some(before)) = (self.frames.last_mut(), before) {
            frame.is_qualified = before;
        }
        text
    }

    /// Returns the number of the SELECT whose FROM has a column.
    fn scope_of(&self, column: &Expr) -> Option<Option<usize>> {
        let used = self.names.column(column)?;
        Some(self.names.relation(used.relation).map(|relation| relation.scope))
    }

    /// Explains the equality of a column with one of the outer row.
    fn correlation(&mut self, condition: &'a Expr, own: Option<&Frame<'a>>) -> Option<String> {
        let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = without_parentheses(condition) else {
            return None;
        };
        let scope = own?.scope;
        let (inner, outer) = match (self.scope_of(left)? == scope, self.scope_of(right)? == scope) {
            (false, true) => (left.as_ref(), right.as_ref()),
            (true, false) => (right.as_ref(), left.as_ref()),
            _ => return None,
        };
        if let Some(name) = self.same_name(outer, inner) {
            return Some(format!("same {name}"));
        }
        let used = self.names.column(outer)?;
        let outer_name = self.bare_column(used, last_name(outer));
        Some(format!("{} is its {outer_name}", self.qualify(inner)))
    }
}

/// Returns the SELECT of a query that only filters rows.
fn plain_select(query: &Query) -> Option<&Select> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let is_plain = query.with.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && matches!(&select.group_by, GroupByExpr::Expressions(keys, modifiers) if keys.is_empty() && modifiers.is_empty())
        && select.having.is_none()
        && select.qualify.is_none()
        && !select.from.is_empty()
        && select.projection.iter().all(|item| !is_aggregate(item));
    is_plain.then_some(select)
}

/// Returns whether an item aggregates all rows, so that there is always one row.
fn is_aggregate(item: &SelectItem) -> bool {
    matches!(
        item,
        SelectItem::UnnamedExpr(Expr::Function(_)) | SelectItem::ExprWithAlias { expr: Expr::Function(_), .. }
    )
}
