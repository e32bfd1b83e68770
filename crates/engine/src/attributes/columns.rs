//! The columns of a relation as far as their names are certain, and what makes each certain.

use std::collections::BTreeMap;
use std::rc::Rc;

use sqlparser::ast::{Expr, TableAlias};

use super::DIALECT;

/// Functions that return rows of one column, which is called as their alias, or as the function where there is none.
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

/// Functions that return rows whose columns have names of their own.
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

/// What makes a name certain to be that of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Proof {
    /// The statement itself gives the name: an alias, a list of columns, or a reference or a call without an alias.
    Statement,
    /// A description of the table, which the table may have been changed after.
    Description,
    /// What PostgreSQL is known to call such a column.
    Convention,
}

/// Names of columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    /// Shared by all that read the same table or query.
    names: Rc<BTreeMap<String, Proof>>,
    /// Whether there is no other column.
    pub(super) is_complete: bool,
}

impl Columns {
    /// No column.
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

    /// The columns of a function of the system in FROM, or of one that is not known (`None`). `alias` is the name of its only
    /// column, where it has but one.
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

    /// The columns behind an alias. A list of names replaces the first of them: which these are is not asked, so that
    /// nothing else is certain any more.
    pub(super) fn rename(self, alias: &TableAlias) -> Self {
        match alias.columns.as_slice() {
            [] => self,
            list => Columns::new(list.iter().map(|column| (DIALECT.name_of(&column.name), Proof::Statement)), false),
        }
    }

    /// Adds a column; of two with one name the weaker proof counts.
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

    /// Adds columns of which nothing is known.
    pub(super) fn add_unknown(&mut self) {
        self.is_complete = false;
    }

    /// Adds the column of an expression without an alias, where PostgreSQL names it alike in every version.
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

/// The name of a referenced column.
fn find_reference(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(DIALECT.name_of(name)),
        Expr::CompoundIdentifier(parts) => parts.last().map(|last| DIALECT.name_of(last)),
        _ => None,
    }
}
