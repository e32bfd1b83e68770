//! Queries: WITH, set operations, order and number of rows.

use sqlparser::ast::{Cte, Expr, LimitClause, OrderByExpr, OrderByKind, Query, SetExpr, SetOperator, SetQuantifier};

use super::phrase::{Binding, Phrase, list};
use super::{MAX_QUERIES, Writer};
use crate::syntax::{count_of, number_of};

impl<'a> Writer<'a> {
    /// Explains a query; `is_inner` is whether another query names its columns.
    pub(super) fn query(&mut self, query: &'a Query, is_inner: bool) -> String {
        if self.queries >= MAX_QUERIES {
            return Phrase::fragment(query).text;
        }
        self.queries += 1;
        let mut text = self.body(query, is_inner);
        let with = query.with.iter().flat_map(|with| with.cte_tables.iter().map(move |cte| (with.recursive, cte)));
        for (at, (is_recursive, cte)) in with.enumerate() {
            let word = if at == 0 { "where" } else { "and" };
            text = format!("{text}; {word} {}", self.common_table(cte, is_recursive));
        }
        self.queries -= 1;
        text
    }

    /// Explains a query in parentheses.
    pub(super) fn subquery(&mut self, query: &'a Query, is_inner: bool) -> String {
        let text = self.query(query, is_inner);
        if text.starts_with('`') { text } else { format!("({text})") }
    }

    fn common_table(&mut self, cte: &'a Cte, is_recursive: bool) -> String {
        let columns: Vec<String> = cte.alias.columns.iter().map(|column| column.name.value.clone()).collect();
        let columns = if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
        let word = if is_recursive { " (recursively)" } else { "" };
        format!("{}{columns} is{word}: {}", cte.alias.name.value, self.query(&cte.query, true))
    }

    fn body(&mut self, query: &'a Query, is_inner: bool) -> String {
        // Chains grow on the left, so they are iterated instead of recursed into.
        let (mut first, mut rest) = (query.body.as_ref(), Vec::new());
        while let SetExpr::SetOperation { left, op, set_quantifier, right } = first {
            rest.push((op, set_quantifier, right.as_ref()));
            first = left;
        }
        if rest.is_empty() {
            return match first {
                SetExpr::Select(select) => self.select(select, Some(query), is_inner),
                other => format!("{}{}", self.operand(other, is_inner), self.rest(query)),
            };
        }
        let mut text = self.operand(first, is_inner);
        for (op, quantifier, right) in rest.into_iter().rev() {
            let is_all = matches!(quantifier, SetQuantifier::All | SetQuantifier::AllByName);
            let (word, end) = match (op, is_all) {
                (SetOperator::Union, true) => ("together with", ""),
                (SetOperator::Union, false) => ("together with", ", without duplicates"),
                (SetOperator::Intersect, _) => ("that are also in", ""),
                (SetOperator::Except | SetOperator::Minus, _) => ("except", ""),
            };
            text = format!("{text} {word} {}{end}", self.operand(right, is_inner));
        }
        format!("{text}{}", self.rest(query))
    }

    /// Explains one side of a set operation.
    fn operand(&mut self, body: &'a SetExpr, is_inner: bool) -> String {
        match body {
            SetExpr::Select(select) => format!("({})", self.select(select, None, is_inner)),
            SetExpr::Query(query) => self.subquery(query, is_inner),
            other => Phrase::fragment(other).text,
        }
    }

    /// Explains the order and the number of rows.
    pub(super) fn rest(&mut self, query: &'a Query) -> String {
        let mut text = String::new();
        if let Some(order) = &query.order_by {
            match &order.kind {
                OrderByKind::Expressions(sorts) => {
                    let sorts: Vec<String> = sorts.iter().map(|sort| self.sort(sort)).collect();
                    text = format!(", ordered by {}", list(&sorts, "and"));
                }
                OrderByKind::All(_) => text = format!(", {}", Phrase::fragment(order).text),
            }
        }
        let (limit, offset) = match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
            None => (None, None),
        };
        let fetched = query.fetch.as_ref();
        let limit = limit.or_else(|| fetched.and_then(|fetch| fetch.quantity.as_ref()));
        text.push_str(&self.limit(limit, offset, fetched.is_some()));
        if fetched.is_some_and(|fetch| fetch.with_ties) {
            text.push_str(" with ties");
        }
        text
    }

    fn limit(&mut self, limit: Option<&'a Expr>, offset: Option<&'a Expr>, is_fetch: bool) -> String {
        match (limit.map(count_of), offset.map(count_of)) {
            (None, None) if is_fetch => ", first row".to_owned(),
            (None, None) => String::new(),
            (Some(Some(1)), None | Some(Some(0))) => ", first row".to_owned(),
            (Some(Some(limit)), None | Some(Some(0))) => format!(", first {limit}"),
            (Some(Some(1)), Some(Some(offset))) => format!(", row {}", offset.saturating_add(1)),
            (Some(Some(limit)), Some(Some(offset))) => {
                format!(", rows {} to {}", offset.saturating_add(1), offset.saturating_add(limit))
            }
            (None, Some(Some(offset))) => format!(", without the first {offset}"),
            _ => {
                let limit = limit.map(|limit| format!(", first {}", self.expr(limit).at_least(Binding::Call)));
                let offset =
                    offset.map(|offset| format!(", without the first {}", self.expr(offset).at_least(Binding::Call)));
                [limit, offset].into_iter().flatten().collect()
            }
        }
    }

    /// Explains an item of ORDER BY.
    pub(super) fn sort(&mut self, sort: &'a OrderByExpr) -> String {
        let mut text = self.item(&sort.expr).at_least(Binding::Sum);
        if sort.options.asc == Some(false) {
            text.push_str(" descending");
        }
        match sort.options.nulls_first {
            Some(true) => text.push_str(" (nulls first)"),
            Some(false) => text.push_str(" (nulls last)"),
            None => {}
        }
        text
    }

    /// Explains an item of GROUP BY or ORDER BY: a value, or the number or name of a selected one.
    pub(super) fn item(&mut self, expr: &'a Expr) -> Phrase {
        let meant = self.resolve_item(expr);
        if std::ptr::eq(meant, expr) {
            return match number_of(expr) {
                Some(number) => Phrase::atom(format!("column {number}")),
                None => self.expr(expr),
            };
        }
        self.as_alias(|writer| writer.expr(meant))
    }

    /// Runs `write` in the scope of an output name's definition, where names refer to columns of tables.
    pub(super) fn as_alias<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.frames.last_mut().map(|frame| std::mem::replace(&mut frame.is_alias, true));
        let written = write(self);
        if let (Some(frame), Some(before)) = (self.frames.last_mut(), before) {
            frame.is_alias = before;
        }
        written
    }
}
