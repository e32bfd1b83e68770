//! Lookup of a name from the innermost scope outwards.

use sqlparser::ast::Ident;

use super::resolver::{Found, Resolver, Scope};
use super::{ColumnUse, Relation};
use crate::Dialect;
use crate::syntax::is_system_column;

impl<'a> Resolver<'a> {
    /// Resolves an unqualified name in the innermost scope that has it.
    pub(super) fn find_name(&self, scope: &Scope<'_>, name: &Ident) -> Found<'a> {
        for level in scope.levels() {
            let relations = || level.relations.iter().map(|at| (*at, &self.done.relations[*at]));
            let found: Vec<ColumnUse<'a>> = relations()
                .filter_map(|(relation, of)| {
                    let column = of.columns.find(&name.value)?.clone();
                    Some(ColumnUse { relation, column })
                })
                .collect();
            let is_merged = level.merged.contains(&name.value.to_lowercase());
            match found.len() {
                0 => {}
                count if count == 1 || is_merged => {
                    return found.into_iter().next().map_or(Found::Unsure, Found::Column);
                }
                _ => return Found::Unsure,
            }
            if level.aliases.contains(&name.value.to_lowercase()) {
                return Found::Alias;
            }
            let is_open = |relation: &Relation<'a>| {
                !relation.columns.is_complete
                    || is_system_column(self.dialect, &name.value)
                    || relation.name.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(&name.value))
            };
            if relations().any(|(_, relation)| is_open(relation)) {
                return Found::Unsure;
            }
        }
        match self.dialect {
            Dialect::Bigquery => Found::Unsure,
            Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::Joined => Found::Unknown,
        }
    }

    /// Resolves a qualified name. Parts before the table are a schema; parts after the column are fields.
    pub(super) fn find_qualified(&self, scope: &Scope<'_>, parts: &[Ident]) -> Found<'a> {
        for split in (1..parts.len()).rev() {
            let Some(relation) = self.find_relation(scope, &parts[split - 1]) else { continue };
            let columns = &self.done.relations[relation].columns;
            let rest: Vec<&str> = parts[split..].iter().map(|part| part.value.as_str()).collect();
            let found = columns.find(&rest.join(".")).or_else(|| columns.find(rest[0]));
            return match found {
                Some(column) => Found::Column(ColumnUse { relation, column: column.clone() }),
                None if !columns.is_complete || is_system_column(self.dialect, rest[0]) => Found::Unsure,
                None => Found::Unknown,
            };
        }
        let whole = parts.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
        let has_field = |relation: &usize| {
            let columns = &self.done.relations[*relation].columns;
            columns.has(&whole) || columns.has(&parts[0].value)
        };
        let is_open = matches!(self.dialect, Dialect::Bigquery)
            || scope.levels().any(|level| level.relations.iter().any(has_field))
            // An unnamed relation may have the column.
            || scope.levels().any(|level| level.relations.iter().any(|at| self.done.relations[*at].name.is_none()));
        if is_open { Found::Unsure } else { Found::Unknown }
    }

    /// Returns the relation that a qualifier refers to in the innermost scope that has one.
    pub(super) fn find_relation(&self, scope: &Scope<'_>, qualifier: &Ident) -> Option<usize> {
        let is_meant = |at: &&usize| {
            self.done.relations[**at].name.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(&qualifier.value))
        };
        scope.levels().find_map(|level| level.relations.iter().find(is_meant).copied())
    }
}
