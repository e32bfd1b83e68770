//! Decomposition of a query for its warnings: the tables, comparisons, joins and aggregates of each SELECT.

mod guards;
mod merge;
mod read;

use std::ops::ControlFlow;

use prospector_connect::table::{Column, Table};
use sqlparser::ast::{Expr, Ident, Query, visit_expressions};

use crate::Dialect;
use crate::syntax::without_parentheses;

pub(super) use read::{is_examined, literal, parts, resolve_item};

/// A table in a SELECT.
#[derive(Debug)]
pub(super) struct TableUse<'a> {
    pub(super) table: &'a Table,
    /// The table as in FROM, with its alias.
    pub(super) written: String,
    /// The qualifier of its columns.
    pub(super) name: String,
    /// Whether unmatched rows of the other tables are kept.
    pub(super) is_optional: bool,
    /// Whether it has an alias.
    pub(super) is_renamed: bool,
}

impl TableUse<'_> {
    /// Returns the qualifier of its columns, as SQL.
    pub(super) fn reference(&self, dialect: Dialect) -> String {
        match self.is_renamed {
            true => crate::native::quote(dialect, &self.name),
            false => self.name.clone(),
        }
    }

    /// Returns whether an expression over the table reads a column with personal data.
    pub(super) fn is_personal(&self, expr: &Expr) -> bool {
        let is_marked = |name: &Ident| self.table.column(&name.value).is_some_and(|column| column.is_personal);
        let found = visit_expressions(expr, |part: &Expr| match part {
            Expr::Identifier(name) if is_marked(name) => ControlFlow::Break(()),
            Expr::CompoundIdentifier(names) if names.iter().any(is_marked) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        found.is_break()
    }
}

/// The operator of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Unequal,
    /// `<`, `>` and `>=`.
    Order,
    /// `<=`, and the end of a `BETWEEN`.
    UpTo,
    Like,
    Unlike,
}

/// The end of a range that a comparison sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Neither,
    Lower,
    /// Whether the bound itself is part of the range.
    Upper {
        is_included: bool,
    },
    /// `BETWEEN`.
    Both,
}

/// A comparison of an expression over one table with literals.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) table: usize,
    pub(super) subject: Expr,
    pub(super) operator: Operator,
    pub(super) bound: Bound,
    /// The literals, as written.
    pub(super) literals: Vec<Literal>,
    /// The condition as written.
    pub(super) whole: String,
    /// Whether rows that do not match it are excluded from the answer.
    pub(super) is_required: bool,
}

/// A text or number literal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Literal {
    /// The literal as SQL.
    pub(super) written: String,
    pub(super) value: String,
    pub(super) is_text: bool,
}

/// Two expressions over different tables that must be equal.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) left: (usize, Expr),
    pub(super) right: (usize, Expr),
}

impl Key {
    pub(super) fn condition(&self) -> String {
        format!("{} = {}", self.left.1, self.right.1)
    }

    /// Returns the sides, that of this table first.
    pub(super) fn sides(&self, first: usize) -> Option<(&Expr, (usize, &Expr))> {
        match first {
            at if at == self.left.0 => Some((&self.left.1, (self.right.0, &self.right.1))),
            at if at == self.right.0 => Some((&self.right.1, (self.left.0, &self.left.1))),
            _ => None,
        }
    }
}

/// A call of an aggregate that counts each row.
#[derive(Debug)]
pub(super) struct Aggregate {
    /// The name in lower case.
    pub(super) name: String,
    /// The argument; `None` for `*`.
    pub(super) argument: Option<Expr>,
    /// The tables of its argument.
    pub(super) tables: Vec<usize>,
    pub(super) written: String,
}

/// A call of a function with a column, or a CAST.
#[derive(Debug)]
pub(super) struct Call {
    /// The name in lower case; for a CAST, `cast` and the type.
    pub(super) name: String,
    pub(super) argument: Expr,
    pub(super) written: String,
    /// The conditions of the CASE branches that contain a CAST: the table of each, and the condition.
    pub(super) guards: Vec<(usize, String)>,
}

/// One SELECT.
#[derive(Debug, Default)]
pub(super) struct Part<'a> {
    pub(super) tables: Vec<TableUse<'a>>,
    /// Whether FROM consists of tables only, all of which are known.
    pub(super) is_plain: bool,
    /// Whether a derived table was flattened into it.
    pub(super) is_merged: bool,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) keys: Vec<Key>,
    /// The tables of each condition over several tables.
    pub(super) links: Vec<Vec<usize>>,
    /// Conditions on one table that its rows must match: the table, the condition, and whether it is in WHERE.
    pub(super) required: Vec<(usize, Expr, bool)>,
    /// Whether a CROSS JOIN is explicit.
    pub(super) is_crossed: bool,
    pub(super) aggregates: Vec<Aggregate>,
    pub(super) groups: Vec<Expr>,
    pub(super) is_distinct: bool,
    /// The sort keys, if only the first rows are selected.
    pub(super) sorts: Vec<Expr>,
    /// Other functions, and aggregates with OVER or several arguments, which repeated rows may affect.
    pub(super) others: Vec<Expr>,
    /// All calls with at least one column, including CAST, with the first argument.
    pub(super) calls: Vec<Call>,
    /// The queries of `x NOT IN (SELECT ...)`.
    pub(super) exclusions: Vec<Query>,
    /// Comparisons with NULL, as written.
    pub(super) null_comparisons: Vec<String>,
    /// `x NOT IN (..., NULL)`, as written.
    pub(super) null_lists: Vec<String>,
    /// The text of FROM.
    pub(super) from: String,
    /// The condition of WHERE.
    pub(super) selection: Option<Expr>,
    /// Quotients: the dividend and the divisor, as written.
    pub(super) quotients: Vec<(Expr, Expr)>,
}

impl Part<'_> {
    /// Returns the table and the column of an expression that is only a column.
    pub(super) fn column(&self, expr: &Expr) -> Option<(usize, &Column)> {
        let (owner, name) = split_name(without_parentheses(expr))?;
        find_column(&self.tables, owner, name)
    }

    /// Returns a column as `table.column`, any other expression as written.
    pub(super) fn label(&self, expr: &Expr) -> String {
        match self.column(expr) {
            Some((table, column)) => format!("`{}.{}`", self.tables[table].table.name, column.name),
            None => format!("`{expr}`"),
        }
    }

    /// Returns the conditions on the rows of a table as one condition.
    pub(super) fn filter(&self, table: usize) -> Option<String> {
        let own = self.required.iter().filter(|(at, ..)| *at == table);
        let all: Vec<String> = own.map(|(_, condition, _)| format!("({condition})")).collect();
        (!all.is_empty()).then(|| all.join(" AND "))
    }

    /// Returns the keys between two tables.
    pub(super) fn keys_between(&self, a: usize, b: usize) -> impl Iterator<Item = &Key> {
        self.keys.iter().filter(move |key| (key.left.0, key.right.0) == (a, b) || (key.left.0, key.right.0) == (b, a))
    }
}

/// Splits a name into its qualifier and its last part; `None` for another expression.
fn split_name(expr: &Expr) -> Option<(Option<&Ident>, &Ident)> {
    match expr {
        Expr::Identifier(name) => Some((None, name)),
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [.., owner, name] => Some((Some(owner), name)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the column that a name refers to among these tables.
fn find_column<'a>(tables: &[TableUse<'a>], owner: Option<&Ident>, name: &Ident) -> Option<(usize, &'a Column)> {
    let mut found = tables
        .iter()
        .enumerate()
        .filter(|(_, table)| owner.is_none_or(|owner| owner.value.eq_ignore_ascii_case(&table.name)))
        .filter_map(|(at, table)| Some((at, table.table.column(&name.value)?)));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}
