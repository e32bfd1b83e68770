//! Resolution of qualifiers: the relations of a query and of the enclosing queries, searched as PostgreSQL does.

use std::collections::BTreeSet;

use prospector_core::name::nearest;
use sqlparser::ast::{Ident, ObjectName, TableAlias};

use super::DIALECT;
use super::columns::{Columns, Proof};
use crate::failure::quote_names;
use crate::syntax::{idents, is_system_column};
use crate::{Failure, FailureCode};

/// A name, optionally qualified by a schema.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Place {
    pub(super) schema: Option<String>,
    pub(super) name: String,
}

impl Place {
    pub(super) fn of(name: &ObjectName) -> Self {
        match idents(name).as_slice() {
            [.., schema, name] => Place { schema: Some(DIALECT.name_of(schema)), name: DIALECT.name_of(name) },
            [name] => Place { schema: None, name: DIALECT.name_of(name) },
            [] => Place::default(),
        }
    }
}

/// An item of FROM.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    /// The name in the query; `None` for an unnamed subquery.
    name: Option<String>,
    /// The schema and name of the table; `None` with an alias, since an alias hides the schema.
    place: Option<Place>,
    is_table: bool,
    pub(super) columns: Columns,
}

impl Relation {
    /// Creates a relation named by its alias, or else by its own name.
    pub(super) fn new(alias: Option<&TableAlias>, own: Option<&str>, columns: Columns) -> Self {
        let (name, columns) = match alias {
            Some(alias) => (Some(DIALECT.name_of(&alias.name)), columns.rename(alias)),
            None => (own.map(str::to_owned), columns),
        };
        Relation { name, place: None, is_table: false, columns }
    }

    pub(super) fn of_table(alias: Option<&TableAlias>, place: &Place, columns: Columns) -> Self {
        let relation = Relation::new(alias, Some(&place.name), columns);
        Relation { place: alias.is_none().then(|| place.clone()), is_table: true, ..relation }
    }

    /// Returns whether the qualifier may refer to this relation.
    pub(super) fn is_called(&self, qualifier: &Place) -> bool {
        match qualifier.schema {
            None => self.name.as_ref() == Some(&qualifier.name),
            Some(_) => self.place.as_ref() == Some(qualifier),
        }
    }

    fn prove(&self, column: &str) -> Option<Proof> {
        // Views have no system columns, so the server is asked about them.
        let is_system = self.is_table && is_system_column(DIALECT, column);
        self.columns.get(column).or(is_system.then_some(Proof::Convention))
    }

    /// Returns whether the relation certainly has no column of that name.
    fn lacks(&self, column: &str) -> bool {
        self.columns.is_complete && self.prove(column).is_none()
    }
}

/// The relations of one level and of the enclosing ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) relations: &'a [Relation],
    pub(super) outer: Option<&'a Scope<'a>>,
}

impl Scope<'_> {
    fn levels(&self) -> impl Iterator<Item = &[Relation]> {
        std::iter::successors(Some(self), |scope| scope.outer).map(|scope| scope.relations)
    }

    /// Returns the relations that a qualifier may refer to: those of the innermost level that has a match.
    fn find(&self, qualifier: &Place) -> Vec<&Relation> {
        let called = |level: &'_ [Relation]| level.iter().any(|relation| relation.is_called(qualifier));
        let level = self.levels().find(|level| called(level)).unwrap_or_default();
        level.iter().filter(|relation| relation.is_called(qualifier)).collect()
    }

    /// Proves the column of a relation, which may be qualified by its schema.
    ///
    /// # Errors
    /// If it is not certain to be a column.
    pub(super) fn prove(&self, before: &[Ident], relation: &Ident, column: &Ident) -> Result<Proof, Failure> {
        let schema = before.last().map(|schema| DIALECT.name_of(schema));
        let qualifier = Place { schema, name: DIALECT.name_of(relation) };
        match self.find(&qualifier).as_slice() {
            [] => Err(self.explain_unknown_relation(&qualifier)),
            relations => prove_column(relations, column),
        }
    }

    /// Proves the field in `(row).field`: the row must be a table referenced as a whole, which requires that no column of any
    /// level has its name.
    ///
    /// # Errors
    /// If it is not certain to be a column.
    pub(super) fn prove_field(&self, row: Option<&Ident>, field: &Ident) -> Result<Proof, Failure> {
        let tables = row.map_or_else(Vec::new, |row| {
            let name = DIALECT.name_of(row);
            let is_row = self.levels().flatten().all(|relation| relation.lacks(&name));
            let found = self.find(&Place { schema: None, name });
            // The row of a function that returns scalars is the scalar.
            if is_row && found.iter().all(|relation| relation.is_table) { found } else { Vec::new() }
        });
        match tables.as_slice() {
            [] => {
                let name = DIALECT.name_of(field);
                let message = format!("`{}` is not certain to be a field of the value before it", name.escape_debug());
                Err(Failure::new(FailureCode::UnknownColumn, message)
                    .advise("qualify the column by its table or alias, without parentheses"))
            }
            tables => prove_column(tables, field),
        }
    }

    fn explain_unknown_relation(&self, qualifier: &Place) -> Failure {
        let shown = match &qualifier.schema {
            Some(schema) => format!("{schema}.{}", qualifier.name),
            None => qualifier.name.clone(),
        };
        let message = format!("unknown table or alias `{}` before a column", shown.escape_debug());
        let failure = Failure::new(FailureCode::UnknownColumn, message);
        let names: BTreeSet<&str> = self.levels().flatten().filter_map(|relation| relation.name.as_deref()).collect();
        match nearest(&qualifier.name, names, 3).as_slice() {
            [] => failure.advise("use a name from the FROM clause, and the alias of a table that has one"),
            near => failure.advise(suggest(near)),
        }
    }
}

/// Returns the weakest proof among the candidate relations.
///
/// # Errors
/// If one of them is not certain to have the column.
fn prove_column(relations: &[&Relation], column: &Ident) -> Result<Proof, Failure> {
    let name = DIALECT.name_of(column);
    let proofs: Option<Vec<Proof>> = relations.iter().map(|relation| relation.prove(&name)).collect();
    if let Some(proof) = proofs.and_then(|proofs| proofs.into_iter().max()) {
        return Ok(proof);
    }
    let failure = Failure::new(FailureCode::UnknownColumn, format!("unknown column `{}`", name.escape_debug()));
    let columns: BTreeSet<&str> = relations.iter().flat_map(|relation| relation.columns.names()).collect();
    Err(match nearest(&name, columns.iter().copied(), 3).as_slice() {
        [] if columns.is_empty() => failure.advise("name the columns of a function or a subquery: `AS alias (column)`"),
        [] => failure,
        near => failure.advise(suggest(near)),
    })
}

fn suggest(near: &[String]) -> String {
    format!("did you mean {}? names with capitals may need quotes", quote_names(near))
}
