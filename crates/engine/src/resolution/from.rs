//! FROM: tables, queries and functions, and how joins merge their columns.

use std::collections::BTreeSet;
use std::rc::Rc;

use sqlparser::ast::{Join, JoinConstraint, ObjectName, Spanned, TableAlias, TableFactor, TableWithJoins};

use super::parts::Parts;
use super::resolver::{Resolver, Scope};
use super::{Columns, NamedColumn, Relation, RelationKind};
use crate::Dialect;
use crate::source::ResolvedTable;
use crate::syntax::{constraint_of, last_part};

impl<'a> Resolver<'a> {
    /// Resolves one item of FROM with its joins, added to the relations before it.
    pub(super) fn join_tree(
        &mut self,
        table: &TableWithJoins,
        number: usize,
        relations: &mut Vec<usize>,
        merged: &mut BTreeSet<String>,
        outer: Option<&Scope<'_>>,
    ) {
        self.factor(&table.relation, number, relations, merged, outer);
        for join in &table.joins {
            let before = relations.len();
            self.factor(&join.relation, number, relations, merged, outer);
            self.join(join, relations, before, merged, outer);
        }
    }

    fn join(
        &mut self,
        join: &Join,
        relations: &[usize],
        before: usize,
        merged: &mut BTreeSet<String>,
        outer: Option<&Scope<'_>>,
    ) {
        match constraint_of(&join.join_operator) {
            Some(JoinConstraint::Using(names)) => {
                for name in names.iter().filter_map(last_part) {
                    self.merge(relations, &name.value);
                    merged.insert(name.value.to_lowercase());
                }
            }
            Some(JoinConstraint::Natural) => {
                let names = |relations: &[usize]| -> BTreeSet<String> {
                    let all = relations.iter().flat_map(|at| &self.done.relations[*at].columns.list);
                    all.filter_map(|column| Some(column.name.as_ref()?.to_lowercase())).collect()
                };
                let common: Vec<String> =
                    names(&relations[..before]).intersection(&names(&relations[before..])).cloned().collect();
                for name in common {
                    self.merge(relations, &name);
                    merged.insert(name);
                }
                // An undescribed column may be in both.
                merged.insert(String::new());
            }
            _ => {}
        }
        let parts = Parts::new(self.dialect).and(&join.join_operator);
        self.parts(parts, &Scope { relations, aliases: &[], merged, outer });
    }

    /// Records that a merged join column is read from each table that has it.
    fn merge(&mut self, relations: &[usize], name: &str) {
        let of = |at: &usize| self.done.relations[*at].columns.find(name)?.id.clone();
        let read: Vec<Rc<str>> = relations.iter().filter_map(of).collect();
        self.done.columns.extend(read.into_iter().map(|id| id.to_string()));
    }

    fn factor(
        &mut self,
        factor: &TableFactor,
        number: usize,
        relations: &mut Vec<usize>,
        merged: &mut BTreeSet<String>,
        outer: Option<&Scope<'_>>,
    ) {
        let left = relations.clone();
        let lateral = Scope { relations: &left, aliases: &[], merged: &merged.clone(), outer };
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let relation = self.table(name, alias.as_ref(), number);
                self.done.tables.insert(name.span().start, self.done.relations.len());
                self.push(relation, relations);
            }
            TableFactor::Derived { lateral: is_lateral, subquery, alias, .. } => {
                let columns = self.query(subquery, if *is_lateral { Some(&lateral) } else { outer }, true);
                let columns = self.rename(alias.as_ref(), columns);
                self.push(derive(alias.as_ref(), None, columns, number), relations);
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let before = relations.len();
                self.join_tree(table_with_joins, number, relations, merged, outer);
                if alias.is_some() {
                    let inner: Vec<usize> = relations.drain(before..).collect();
                    let list = inner.iter().flat_map(|at| self.done.relations[*at].columns.list.clone()).collect();
                    let columns = Columns { list, is_complete: false, is_ordered: false };
                    let columns = self.rename(alias.as_ref(), Rc::new(columns));
                    self.push(derive(alias.as_ref(), None, columns, number), relations);
                }
            }
            other => self.function(other, number, relations, &lateral),
        }
    }

    /// Resolves a function in FROM, whose columns are not described.
    fn function(&mut self, factor: &TableFactor, number: usize, relations: &mut Vec<usize>, lateral: &Scope<'_>) {
        let (alias, own, parts) = match factor {
            TableFactor::Table { name, alias, args: Some(args), .. } => {
                (alias, last_part(name), Parts::new(self.dialect).and(&args.args))
            }
            TableFactor::Function { name, args, alias, .. } => {
                (alias, last_part(name), Parts::new(self.dialect).and(args))
            }
            TableFactor::UNNEST { alias, array_exprs, .. } => (alias, None, Parts::new(self.dialect).and(array_exprs)),
            // Rejected earlier.
            _ => (&None, None, Parts::new(self.dialect)),
        };
        self.parts(parts, lateral);
        let columns = self.rename(alias.as_ref(), Rc::default());
        self.push(derive(alias.as_ref(), own.map(|own| own.value.as_str()), columns, number), relations);
    }

    fn push(&mut self, relation: Relation<'a>, relations: &mut Vec<usize>) {
        relations.push(self.done.relations.len());
        self.done.relations.push(relation);
    }

    fn table(&self, name: &ObjectName, alias: Option<&TableAlias>, scope: usize) -> Relation<'a> {
        let last = last_part(name);
        let shown = alias.map(|alias| &alias.name).or(last).map(|name| name.value.clone());
        if let Some(found) = self.tables.get(&name.span().start) {
            let (kind, columns) = self.describe(found);
            return Relation { name: shown, kind, scope, columns: self.rename(alias, Rc::new(columns)) };
        }
        let folded = last.map(|last| self.dialect.fold(last));
        let common = self.common.iter().rev().find(|(own, _)| Some(own) == folded.as_ref());
        let columns = common.map(|(_, columns)| columns.clone()).unwrap_or_default();
        let kind = RelationKind::Common(last.map(|last| last.value.clone()).unwrap_or_default());
        Relation { name: shown, kind, scope, columns: self.rename(alias, columns) }
    }

    /// Returns the kind and the columns of a described table.
    fn describe(&self, found: &ResolvedTable) -> (RelationKind, Columns<'a>) {
        let plan = self.plan;
        let table = &plan.view[found.source].tables[found.table];
        let kind = match plan.view.subset(found) {
            None => RelationKind::Table(plan.view.origin(found).into()),
            Some(held) if plan.reads_first.iter().any(|read| read.table == held.table.name) => {
                RelationKind::Common(held.table.name.clone())
            }
            Some(held) => RelationKind::Input(held.table.name.clone()),
        };
        let column = |column: &'a prospector_connect::table::Column| NamedColumn {
            name: Some(column.name.clone()),
            id: match &kind {
                RelationKind::Table(id) => Some(format!("{id}.{}", column.name).into()),
                RelationKind::Input(_) | RelationKind::Common(_) | RelationKind::Derived => None,
            },
            column: Some(column),
            column_type: Some(column.column_type),
            measured: Some(column),
        };
        let list: Vec<NamedColumn<'a>> = table.columns.iter().map(column).collect();
        // Fields of records, and pseudo columns, are described incompletely.
        let is_complete = !list.is_empty() && self.dialect != Dialect::Bigquery;
        (kind, Columns { list, is_complete, is_ordered: is_complete })
    }
}

/// Creates the relation of a query or a function in FROM.
fn derive<'a>(alias: Option<&TableAlias>, own: Option<&str>, columns: Rc<Columns<'a>>, scope: usize) -> Relation<'a> {
    let name = alias.map(|alias| alias.name.value.as_str()).or(own).map(str::to_owned);
    Relation { name, kind: RelationKind::Derived, scope, columns }
}
