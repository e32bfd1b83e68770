//! A query taken apart for its warnings: for each SELECT in it the tables, the comparisons, the joins and the aggregates.

mod merge;
mod read;

use prospector_connect::table::{Column, Table};
use sqlparser::ast::{Expr, Ident, Query};

use crate::Dialect;

pub(super) use read::{literal, parts, resolve_item};

/// A table as a SELECT reads it.
#[derive(Debug)]
pub(super) struct TableUse<'a> {
    pub(super) table: &'a Table,
    /// As FROM writes it, with its alias.
    pub(super) written: String,
    /// What columns are named by.
    pub(super) name: String,
    /// Whether rows of the other tables stay that have no match in it.
    pub(super) is_optional: bool,
    /// Whether it has an alias.
    pub(super) is_renamed: bool,
}

impl TableUse<'_> {
    /// What columns are named by, as SQL.
    pub(super) fn reference(&self, dialect: Dialect) -> String {
        match self.is_renamed {
            true => crate::native::quote(dialect, &self.name),
            false => self.name.clone(),
        }
    }
}

/// How something is compared with what the query says.
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

/// Which end of a range a comparison sets.
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

/// An expression over one table that is compared with literals.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) table: usize,
    pub(super) subject: Expr,
    pub(super) operator: Operator,
    pub(super) bound: Bound,
    /// What it is compared with, as it is written.
    pub(super) literals: Vec<Literal>,
    /// The condition as it is written.
    pub(super) whole: String,
    /// Whether a row that does not meet it is not in the answer.
    pub(super) is_required: bool,
}

/// A text or number that a query says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Literal {
    /// As SQL.
    pub(super) written: String,
    pub(super) value: String,
    pub(super) is_text: bool,
}

/// Two expressions over different tables that are to be equal.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) left: (usize, Expr),
    pub(super) right: (usize, Expr),
}

impl Key {
    pub(super) fn condition(&self) -> String {
        format!("{} = {}", self.left.1, self.right.1)
    }

    /// The sides, that of this table first.
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
    /// In small letters.
    pub(super) name: String,
    /// What it is called with; none for `*`.
    pub(super) argument: Option<Expr>,
    /// The tables of its argument.
    pub(super) tables: Vec<usize>,
    pub(super) written: String,
}

/// One SELECT.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) tables: Vec<TableUse<'a>>,
    /// Whether FROM names tables alone, and all of them are known.
    pub(super) is_plain: bool,
    pub(super) comparisons: Vec<Comparison>,
    pub(super) keys: Vec<Key>,
    /// Conditions that name several tables, whatever they are.
    pub(super) links: Vec<Vec<usize>>,
    /// Conditions on one table that its rows must meet: the table, the condition, and whether it stands in WHERE.
    pub(super) required: Vec<(usize, Expr, bool)>,
    /// Pairs of tables that CROSS JOIN is meant for.
    pub(super) is_crossed: bool,
    pub(super) aggregates: Vec<Aggregate>,
    pub(super) groups: Vec<Expr>,
    pub(super) is_distinct: bool,
    /// What the rows are sorted by, where only the first of them are asked for.
    pub(super) sorts: Vec<Expr>,
    /// All calls with one column or more, CAST among them: the name in small letters, and the first argument.
    pub(super) calls: Vec<(String, Expr)>,
    /// `x NOT IN (SELECT ...)`.
    pub(super) exclusions: Vec<Query>,
    /// Comparisons with NULL, as they are written.
    pub(super) null_comparisons: Vec<String>,
    /// `x NOT IN (..., NULL)`, as it is written.
    pub(super) null_lists: Vec<String>,
    /// What stands behind FROM, as it is written.
    pub(super) from: String,
    /// What stands behind WHERE.
    pub(super) selection: Option<Expr>,
    /// Quotients, as they are written, with both sides.
    pub(super) quotients: Vec<(Expr, Expr)>,
}

impl Part<'_> {
    /// The table and the column that an expression is, if it is nothing else.
    pub(super) fn column(&self, expr: &Expr) -> Option<(usize, &Column)> {
        let (owner, name) = match expr {
            Expr::Identifier(name) => (None, name),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [.., owner, name] => (Some(owner), name),
                _ => return None,
            },
            Expr::Nested(inner) => return self.column(inner),
            _ => return None,
        };
        find_column(&self.tables, owner, name)
    }

    /// A column as `table.column`, any other expression as it is written.
    pub(super) fn label(&self, expr: &Expr) -> String {
        match self.column(expr) {
            Some((table, column)) => format!("`{}.{}`", self.tables[table].table.name, column.name),
            None => format!("`{expr}`"),
        }
    }

    /// What a row of this table must meet, as one condition.
    pub(super) fn filter(&self, table: usize) -> Option<String> {
        let own = self.required.iter().filter(|(at, ..)| *at == table);
        let all: Vec<String> = own.map(|(_, condition, _)| format!("({condition})")).collect();
        (!all.is_empty()).then(|| all.join(" AND "))
    }

    /// The keys between two tables.
    pub(super) fn keys_between(&self, a: usize, b: usize) -> impl Iterator<Item = &Key> {
        self.keys.iter().filter(move |key| (key.left.0, key.right.0) == (a, b) || (key.left.0, key.right.0) == (b, a))
    }
}

/// The column that a name means among these tables.
fn find_column<'a>(tables: &[TableUse<'a>], owner: Option<&Ident>, name: &Ident) -> Option<(usize, &'a Column)> {
    let mut found = tables
        .iter()
        .enumerate()
        .filter(|(_, table)| owner.is_none_or(|owner| owner.value.eq_ignore_ascii_case(&table.name)))
        .filter_map(|(at, table)| Some((at, table.table.column(&name.value)?)));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}
