//! Names of tables and columns in the catalog.

use sqlparser::ast::{Expr, SelectItem};

use super::{Frame, Writer};
use crate::resolution::{ColumnUse, Meaning, Relation, RelationKind};
use crate::syntax::{count_of, last_name, output_name, value_at, value_of};

impl<'a> Writer<'a> {
    pub(super) fn frame(&self) -> Option<&Frame<'a>> {
        self.frames.last()
    }

    /// Returns a column, with its table where it would be ambiguous.
    pub(super) fn column(&self, used: &ColumnUse<'a>, written: &str) -> String {
        let bare = self.bare_column(used, written);
        let relation = self.names.relation(used.relation);
        let (Some(frame), Some(relation)) = (self.frame(), relation) else { return bare };
        let is_outer = frame.scope != Some(relation.scope);
        match is_outer || frame.is_qualified {
            true => match self.qualifier(relation) {
                Some(qualifier) => format!("{qualifier}.{bare}"),
                None => bare,
            },
            false => bare,
        }
    }

    /// Returns a column without its table.
    pub(super) fn bare_column(&self, used: &ColumnUse<'a>, written: &str) -> String {
        let label = used.column.id.as_deref().and_then(|id| self.labels.column(id)).filter(|label| !label.is_empty());
        label.unwrap_or_else(|| written.to_owned())
    }

    /// Returns the qualifier of the columns of a relation.
    fn qualifier(&self, relation: &Relation<'a>) -> Option<String> {
        let is_single =
            self.names.relations_of(relation.scope).filter(|(_, other)| other.kind == relation.kind).count() < 2;
        match &relation.kind {
            RelationKind::Table(id) if is_single => Some(table_name(id)),
            RelationKind::Input(alias) if is_single => Some(input_name(alias)),
            RelationKind::Common(name) if is_single => Some(name.clone()),
            RelationKind::Table(_) | RelationKind::Input(_) | RelationKind::Common(_) | RelationKind::Derived => {
                relation.name.clone()
            }
        }
    }

    /// Returns a relation in FROM, with its alias if the same table is read more than once.
    pub(super) fn relation(&self, at: usize) -> String {
        let Some(relation) = self.names.relation(at) else { return String::new() };
        let is_single =
            self.names.relations_of(relation.scope).filter(|(_, other)| other.kind == relation.kind).count() < 2;
        let own = match &relation.kind {
            RelationKind::Table(id) => match id.split_once('.') {
                Some((database, _)) if self.has_several_databases => format!("{} ({database})", table_name(id)),
                _ => table_name(id),
            },
            RelationKind::Input(alias) => format!("rows of {}", input_name(alias)),
            RelationKind::Common(name) => name.clone(),
            RelationKind::Derived => String::new(),
        };
        match (&relation.name, is_single) {
            (Some(name), false) => format!("{own} as {name}"),
            _ => own,
        }
    }

    /// Returns the name that both columns share.
    pub(super) fn same_name(&self, left: &Expr, right: &Expr) -> Option<String> {
        let (a, b) = (self.names.column(left)?, self.names.column(right)?);
        last_name(left).eq_ignore_ascii_case(last_name(right)).then(|| {
            let label = |used: &ColumnUse<'a>| self.labels.column(used.column.id.as_deref()?);
            label(b).or_else(|| label(a)).unwrap_or_else(|| last_name(right).to_owned())
        })
    }

    /// Resolves an item of GROUP BY or ORDER BY that refers to a column of the SELECT by number or name.
    pub(super) fn resolve_item(&self, expr: &'a Expr) -> &'a Expr {
        let Some(frame) = self.frame() else { return expr };
        let projection = &frame.select.projection;
        let found = match expr {
            Expr::Value(_) => count_of(expr).and_then(|at| value_at(projection, at)),
            Expr::Identifier(name) if matches!(self.names.meaning(expr), Some(Meaning::Alias)) => {
                projection.iter().find(|item| is_called(item, &name.value)).and_then(value_of)
            }
            _ => None,
        };
        found.unwrap_or(expr)
    }
}

/// Returns `step 1` for `step_1`.
fn input_name(alias: &str) -> String {
    match alias.strip_prefix("step_").filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) {
        Some(number) => format!("step {number}"),
        None => alias.to_owned(),
    }
}

/// Returns whether a column of a SELECT has that name.
pub(super) fn is_called(item: &SelectItem, name: &str) -> bool {
    output_name(item).is_some_and(|own| own.value.eq_ignore_ascii_case(name))
}

/// Returns the name of a table of the catalog, `database.table`, without the database.
fn table_name(id: &str) -> String {
    id.split_once('.').map_or(id, |(_, table)| table).to_owned()
}
