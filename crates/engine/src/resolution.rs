//! Name resolution of a statement, scope by scope, as far as it is certain: a column of a table, a name that the statement
//! itself defines, or an unknown name.
//!
//! A name is reported as unknown only if all columns of all tables, queries and functions that are visible at its position are
//! known. The result does not decide what may run; see [`crate::rewrite`] for that.

mod from;
mod lookup;
mod parts;
mod projection;
mod resolver;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use prospector_connect::table::{Column, ColumnType};
use sqlparser::ast::{Expr, ObjectName, Select, Spanned};
use sqlparser::tokenizer::Location;

use crate::plan::Plan;
use resolver::Resolver;

/// The names of a statement with their meanings.
#[derive(Debug, Default)]
pub(crate) struct Resolution<'a> {
    /// By the position of the first part of a name.
    names: HashMap<Location, Meaning<'a>>,
    /// By the position of the name of a table in FROM.
    tables: HashMap<Location, usize>,
    relations: Vec<Relation<'a>>,
    /// The number of each SELECT, by the position of the keyword.
    scopes: HashMap<Location, usize>,
    /// The columns of the catalog's tables that are read, as `database.table.column`.
    pub(crate) columns: BTreeSet<String>,
    /// The names of columns that do not exist, as written, in lower case.
    pub(crate) unknown: BTreeSet<String>,
    /// Texts that are quoted like names, as SQLite allows.
    pub(crate) texts: Vec<String>,
    /// The columns that the statement returns, in order; `None` if they are not certain.
    pub(crate) output: Option<Vec<OutputColumn>>,
}

/// A column that a statement returns, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputColumn {
    /// `None` if the source generates a name.
    pub(crate) name: Option<String>,
    /// Its type, if it is an unchanged column of a table.
    pub(crate) column_type: Option<ColumnType>,
    /// Its unit; empty if it has none.
    pub(crate) unit: String,
}

/// The meaning of a name in an expression.
#[derive(Debug, Clone)]
pub(crate) enum Meaning<'a> {
    Column(ColumnUse<'a>),
    /// An output name of the same SELECT.
    Alias,
    /// A text in double quotes.
    Text,
}

/// A column of a relation in FROM.
#[derive(Debug, Clone)]
pub(crate) struct ColumnUse<'a> {
    /// The number of the relation.
    pub(crate) relation: usize,
    pub(crate) column: NamedColumn<'a>,
}

/// A column of a table or of a query.
#[derive(Debug, Clone, Default)]
pub(crate) struct NamedColumn<'a> {
    /// `None` if the source generates a name.
    pub(crate) name: Option<String>,
    /// `database.table.column`, if it is an unchanged column of the catalog.
    pub(crate) id: Option<Rc<str>>,
    /// The described column, if it is an unchanged one.
    pub(crate) column: Option<&'a Column>,
    /// The type of the described column; for a set operation, that of its first query.
    pub(crate) column_type: Option<ColumnType>,
    /// The described column whose unit its values have: it is unchanged, or in functions that keep the unit.
    pub(crate) measured: Option<&'a Column>,
}

/// The columns of a relation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns<'a> {
    pub(crate) list: Vec<NamedColumn<'a>>,
    /// Whether there are no other columns.
    is_complete: bool,
    /// Whether the list is in the order of the source, without merged join columns.
    is_ordered: bool,
}

/// A relation in FROM.
#[derive(Debug, Clone)]
pub(crate) struct Relation<'a> {
    /// The qualifier of its columns, as written; `None` for an unnamed query.
    pub(crate) name: Option<String>,
    pub(crate) kind: RelationKind,
    /// The number of its SELECT.
    pub(crate) scope: usize,
    columns: Rc<Columns<'a>>,
}

/// The kinds of relations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RelationKind {
    /// A table of the catalog, as `database.table`.
    Table(Rc<str>),
    /// Rows of the session under an alias.
    Input(String),
    /// A query under WITH, or a named query.
    Common(String),
    /// A query or a function in FROM.
    Derived,
}

/// Resolves all names of a statement.
pub(crate) fn resolve_names(plan: &Plan) -> Resolution<'_> {
    Resolver::new(plan).resolve()
}

/// Returns the units of the columns that a plan returns under these names.
pub(crate) fn find_units(plan: &Plan, columns: &[String]) -> Vec<(String, String)> {
    if plan.tables().iter().all(|table| table.columns.iter().all(|column| column.unit.is_empty())) {
        return Vec::new();
    }
    let output = resolve_names(plan).output.filter(|output| output.len() == columns.len()).unwrap_or_default();
    let named: Vec<(&String, String)> = columns.iter().zip(output.into_iter().map(|column| column.unit)).collect();
    // A name of several columns is ambiguous if their units differ.
    let is_clear = |(name, unit): &&(&String, String)| named.iter().all(|(own, other)| own != name || other == unit);
    let units = named.iter().filter(|(_, unit)| !unit.is_empty()).filter(is_clear);
    units.map(|(name, unit)| ((*name).clone(), unit.clone())).collect()
}

impl<'a> Resolution<'a> {
    /// Returns the meaning of a name in an expression, if it is certain.
    pub(crate) fn meaning(&self, expr: &Expr) -> Option<&Meaning<'a>> {
        self.names.get(&place_of(expr)?)
    }

    /// Returns the column of an expression that is only a column.
    pub(crate) fn column(&self, expr: &Expr) -> Option<&ColumnUse<'a>> {
        match (expr, self.meaning(expr)?) {
            (Expr::Identifier(_) | Expr::CompoundIdentifier(_), Meaning::Column(column)) => Some(column),
            _ => None,
        }
    }

    /// Returns the relation of that number.
    pub(crate) fn relation(&self, at: usize) -> Option<&Relation<'a>> {
        self.relations.get(at)
    }

    /// Returns the number of the relation of a table in FROM.
    pub(crate) fn table(&self, name: &ObjectName) -> Option<usize> {
        self.tables.get(&name.span().start).copied()
    }

    /// Returns the column of that name of a relation, as `database.table.column`.
    pub(crate) fn column_id(&self, relation: usize, name: &str) -> Option<Rc<str>> {
        self.relations.get(relation)?.columns.find(name)?.id.clone()
    }

    /// Returns whether tables of several databases are read.
    pub(crate) fn has_several_databases(&self) -> bool {
        let database = |relation: &Relation<'a>| match &relation.kind {
            RelationKind::Table(id) => id.split_once('.').map(|(database, _)| database.to_owned()),
            RelationKind::Input(_) | RelationKind::Common(_) | RelationKind::Derived => None,
        };
        self.relations.iter().filter_map(database).collect::<BTreeSet<String>>().len() > 1
    }

    /// Returns the number of a SELECT.
    pub(crate) fn scope(&self, select: &Select) -> Option<usize> {
        self.scopes.get(&select.select_token.0.span.start).copied()
    }

    /// Returns the relations of a SELECT, in order.
    pub(crate) fn relations_of(&self, scope: usize) -> impl Iterator<Item = (usize, &Relation<'a>)> {
        self.relations.iter().enumerate().filter(move |(_, relation)| relation.scope == scope)
    }
}

impl<'a> Columns<'a> {
    /// Returns the column of that name: an exact match, or one that ignores case.
    fn find(&self, name: &str) -> Option<&NamedColumn<'a>> {
        let named = |column: &&NamedColumn<'a>, is_same: fn(&str, &str) -> bool| {
            column.name.as_deref().is_some_and(|own| is_same(own, name))
        };
        let exact = self.list.iter().find(|column| named(column, |a, b| a == b));
        exact.or_else(|| self.list.iter().find(|column| named(column, |a, b| a.eq_ignore_ascii_case(b))))
    }

    fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}

/// Returns the position of a name.
fn place_of(expr: &Expr) -> Option<Location> {
    let first = match expr {
        Expr::Identifier(name) => name,
        Expr::CompoundIdentifier(parts) => parts.first()?,
        _ => return None,
    };
    // A name without a position is not from the text.
    Some(first.span.start).filter(|place| place.line > 0)
}
