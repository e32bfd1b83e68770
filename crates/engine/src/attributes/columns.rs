//! The columns of a relation whose names are certain, and what proves each.

use std::collections::BTreeMap;
use std::rc::Rc;

use sqlparser::ast::{Expr, TableAlias};

use super::DIALECT;
use crate::syntax::column_name;

/// Set-returning functions with one column, named by the alias or else by the function.
const ONE_COLUMN: [&str; 8] = [
    "generate_series",
    "generate_subscripts",
    "json_object_keys",
    "jsonb_object_keys",
    "jsonb_path_query",
    "regexp_matches",
    "regexp_split_to_table",
    "string_to_table",
];

/// Set-returning functions with fixed column names.
const NAMED_COLUMNS: [(&str, &[&str]); 8] = [
    ("json_array_elements", &["value"]),
    ("json_array_elements_text", &["value"]),
    ("json_each", &["key", "value"]),
    ("json_each_text", &["key", "value"]),
    ("jsonb_array_elements", &["value"]),
    ("jsonb_array_elements_text", &["value"]),
    ("jsonb_each", &["key", "value"]),
    ("jsonb_each_text", &["key", "value"]),
];

/// What proves that a name is a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Proof {
    /// The statement itself defines the name: an alias, a column list, or a reference or a call without an alias.
    Statement,
    /// A description of the table, which may be outdated.
    Description,
    /// PostgreSQL's naming convention for such a column.
    Convention,
}

/// The known columns of a relation.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    /// Shared by all references to the same table or query.
    names: Rc<BTreeMap<String, Proof>>,
    /// Whether there are no other columns.
    pub(super) is_complete: bool,
}

impl Columns {
    /// Returns no columns.
    pub(super) fn empty() -> Self {
        Columns { names: Rc::default(), is_complete: true }
    }

    fn new(names: impl Iterator<Item = (String, Proof)>, is_complete: bool) -> Self {
        Columns { names: Rc::new(names.collect()), is_complete }
    }

    pub(super) fn of_description(names: Vec<String>) -> Self {
        Columns::new(names.into_iter().map(|name| (name, Proof::Description)), true)
    }

    pub(super) fn of_values(width: usize) -> Self {
        Columns::new((1..=width).map(|at| (format!("column{at}"), Proof::Convention)), true)
    }

    /// Returns the columns of a built-in function in FROM, or of an unknown one (`None`). `alias` is the name of its column if
    /// it has exactly one.
    pub(super) fn of_function(builtin: Option<&str>, alias: &str, with_ordinality: bool) -> Self {
        let one = builtin.filter(|name| ONE_COLUMN.contains(name)).map(|_| alias);
        let own = NAMED_COLUMNS.iter().filter(|(known, _)| builtin == Some(*known)).flat_map(|(_, names)| names.iter());
        let ordinality = with_ordinality.then_some("ordinality");
        let names = one.into_iter().chain(own.copied()).chain(ordinality);
        Columns::new(names.map(|name| (name.to_owned(), Proof::Convention)), false)
    }

    pub(super) fn get(&self, name: &str) -> Option<Proof> {
        self.names.get(name).copied()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Applies an alias. A column list renames the first columns; which ones is not determined, so no other name remains
    /// certain.
    pub(super) fn rename(self, alias: &TableAlias) -> Self {
        match alias.columns.as_slice() {
            [] => self,
            list => Columns::new(list.iter().map(|column| (DIALECT.name_of(&column.name), Proof::Statement)), false),
        }
    }

    /// Adds a column; if the name exists already, the weaker proof is kept.
    pub(super) fn add(&mut self, name: String, proof: Proof) {
        let known = Rc::make_mut(&mut self.names).entry(name).or_insert(proof);
        *known = proof.max(*known);
    }

    pub(super) fn add_all(&mut self, other: &Columns) {
        self.is_complete &= other.is_complete;
        if self.names.is_empty() {
            self.names = other.names.clone();
        } else {
            other.names.iter().for_each(|(name, proof)| self.add(name.clone(), *proof));
        }
    }

    /// Adds an unknown number of unknown columns.
    pub(super) fn add_unknown(&mut self) {
        self.is_complete = false;
    }

    /// Adds the column of an expression without an alias if all PostgreSQL versions name it the same.
    pub(super) fn add_expression(&mut self, expr: &Expr) {
        match expr {
            Expr::Nested(inner) => self.add_expression(inner),
            Expr::Cast { expr, .. } => match find_reference(expr) {
                Some(name) => self.add(name, Proof::Convention),
                None => self.add_unknown(),
            },
            Expr::Function(function) => match function.name.0.last().and_then(|part| part.as_ident()) {
                Some(name) => self.add(DIALECT.name_of(name), Proof::Statement),
                None => self.add_unknown(),
            },
            _ => match find_reference(expr) {
                Some(name) => self.add(name, Proof::Statement),
                None => self.add_unknown(),
            },
        }
    }
}

/// Returns the name of a referenced column.
fn find_reference(expr: &Expr) -> Option<String> {
    column_name(expr).map(|name| DIALECT.name_of(name))
}
