//! The columns of the result that a warning is about: the items of the outermost projection that compute the suspect values, directly
//! or from columns of queries under WITH and in FROM.
//!
//! A suspect value in a filter, a join, a grouping or a sort key affects every row, and so does one that cannot be followed to the
//! result.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use prospector_connect::table::Table;
use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, JoinConstraint, ObjectName, OrderByKind, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, Spanned, TableAlias, TableFactor, TableWithJoins, Visit, Visitor,
};
use sqlparser::tokenizer::Location;

use super::select::resolve_item;
use crate::plan::Plan;
use crate::syntax::{column_name, constraint_of, last_part, output_name};

/// The statement that a warning is about, with the names of the columns of its result, if known.
pub(super) struct Statement<'a> {
    query: &'a Query,
    /// The table at each position of a name.
    tables: HashMap<Location, &'a Table>,
    columns: Option<&'a [String]>,
}

/// The suspect values.
pub(super) enum Suspect<'a> {
    /// Expressions as written.
    Expressions(&'a BTreeSet<String>),
    /// A column of a table.
    Column(&'a Table, &'a str),
}

impl<'a> Statement<'a> {
    pub(super) fn new(plan: &'a Plan, columns: Option<&'a [String]>) -> Self {
        let tables = plan.reads().map(|(name, table)| (name.span().start, table)).collect();
        Statement { query: plan.query(), tables, columns }
    }

    /// Returns the columns of the result that depend on the suspect values; empty if these affect every row, or no column.
    pub(super) fn columns_with(&self, suspect: &Suspect<'_>) -> Vec<String> {
        let mut search = Search { suspect, tables: &self.tables, common: Vec::new(), scopes: Vec::new() };
        let Reach::Columns(found) = search.query(self.query) else { return Vec::new() };
        let Some(columns) = self.columns else {
            let names: Option<Vec<String>> = found.into_iter().map(|item| item.name).collect();
            return names.unwrap_or_default();
        };
        let mut names: Vec<String> = Vec::new();
        for item in &found {
            let before = names.len();
            match (&item.name, item.at) {
                (_, Some(at)) => names.extend(columns.get(at).cloned()),
                (Some(name), None) => {
                    names.extend(columns.iter().filter(|own| own.eq_ignore_ascii_case(name)).cloned())
                }
                (None, None) => {}
            }
            if names.len() == before {
                return Vec::new();
            }
        }
        names
    }
}

/// A column of a query.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    /// Its position, if no `*` is before it.
    at: Option<usize>,
    /// `None` if the source generates it.
    name: Option<String>,
}

/// What of a query depends on the suspect values.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reach {
    /// Which rows it returns, or their order.
    Rows,
    /// The values of these columns.
    Columns(BTreeSet<Item>),
}

impl Reach {
    const NOTHING: Reach = Reach::Columns(BTreeSet::new());

    fn rows_if(is_reached: bool) -> Reach {
        if is_reached { Reach::Rows } else { Reach::NOTHING }
    }

    /// Returns the names of the columns in lower case; `None` if all rows are affected, or a column has an unknown name.
    fn names(self, alias: Option<&TableAlias>) -> Option<BTreeSet<String>> {
        let Reach::Columns(items) = self else { return None };
        let is_renamed = alias.is_some_and(|alias| !alias.columns.is_empty());
        let names = items.into_iter().map(|item| Some(item.name.filter(|_| !is_renamed)?.to_lowercase()));
        names.collect()
    }
}

/// A relation with suspect columns.
struct Relation {
    /// The qualifier of its columns, in lower case.
    name: Option<String>,
    /// In lower case.
    columns: BTreeSet<String>,
}

/// The traversal of a statement.
struct Search<'s> {
    suspect: &'s Suspect<'s>,
    tables: &'s HashMap<Location, &'s Table>,
    /// The visible queries under WITH, with their suspect columns; `None` if all of their rows are affected.
    common: Vec<(String, Option<BTreeSet<String>>)>,
    /// The relations with suspect columns of each enclosing SELECT.
    scopes: Vec<Vec<Relation>>,
}

impl Search<'_> {
    fn query(&mut self, query: &Query) -> Reach {
        let visible = self.common.len();
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let names = self.query(&cte.query).names(Some(&cte.alias));
            self.common.push((cte.alias.name.value.to_lowercase(), names));
        }
        let reach = match query.body.as_ref() {
            SetExpr::Select(select) => self.select(select, query),
            SetExpr::Query(inner) => match self.query(inner) {
                Reach::Columns(items) if !items.is_empty() && query.order_by.is_some() => Reach::Rows,
                reach => reach,
            },
            other => Reach::rows_if(self.reads(other)),
        };
        let is_limited = self.reads(&query.limit_clause) || self.reads(&query.fetch);
        self.common.truncate(visible);
        if is_limited { Reach::Rows } else { reach }
    }

    fn select(&mut self, select: &Select, around: &Query) -> Reach {
        let mut relations = Vec::new();
        for table in &select.from {
            if !self.relations(table, &mut relations) {
                return Reach::Rows;
            }
        }
        self.scopes.push(relations);
        let reach = self.project(select, around);
        self.scopes.pop();
        reach
    }

    /// Adds the relations with suspect columns of an item of FROM; returns whether none of them is affected in all of its rows.
    fn relations(&mut self, table: &TableWithJoins, relations: &mut Vec<Relation>) -> bool {
        std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)).all(|factor| {
            let (alias, name, columns) = match factor {
                TableFactor::Table { name, alias, args: None, .. } => (alias, last_part(name), self.table(name)),
                TableFactor::Derived { lateral: false, subquery, alias, .. } => {
                    (alias, None, self.query(subquery).names(alias.as_ref()))
                }
                other => return !self.reads(other),
            };
            let Some(columns) = columns else { return false };
            let name = alias.as_ref().map(|alias| &alias.name).or(name).map(|name| name.value.to_lowercase());
            if !columns.is_empty() {
                relations.push(Relation { name, columns });
            }
            true
        })
    }

    /// Returns the suspect columns of a table or a query under WITH; `None` if all rows are affected, or it is unknown.
    fn table(&self, name: &ObjectName) -> Option<BTreeSet<String>> {
        match (self.tables.get(&name.span().start), self.suspect) {
            (Some(table), Suspect::Column(own, column)) if std::ptr::eq(*table, *own) => {
                Some(BTreeSet::from([column.to_lowercase()]))
            }
            (Some(_), _) => Some(BTreeSet::new()),
            (None, _) => self.common(name)?.clone(),
        }
    }

    fn common(&self, name: &ObjectName) -> Option<&Option<BTreeSet<String>>> {
        let name = last_part(name)?.value.to_lowercase();
        self.common.iter().rev().find(|(own, _)| *own == name).map(|(_, names)| names)
    }

    fn project(&self, select: &Select, around: &Query) -> Reach {
        let joins = || select.from.iter().flat_map(|table| &table.joins).map(|join| &join.join_operator);
        let is_joined = joins().any(|operator| self.reads(operator) || self.merges(constraint_of(operator)));
        let is_filtered = self.reads(&select.selection) || self.reads(&select.having) || self.reads(&select.qualify);
        let groups = match &select.group_by {
            GroupByExpr::Expressions(groups, _) => groups.as_slice(),
            GroupByExpr::All(_) => &[],
        };
        let is_grouped = groups.iter().any(|group| self.reads(&resolve_item(group, select)));
        if is_joined || is_filtered || is_grouped || self.reads(&select.named_window) {
            return Reach::Rows;
        }
        let mut items = BTreeSet::new();
        let mut has_all = false;
        for (at, item) in select.projection.iter().enumerate() {
            let at = Some(at).filter(|_| !has_all);
            match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } if self.reads(expr) => {
                    items.insert(Item { at, name: output_name(item).map(|name| name.value.clone()) });
                }
                SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. } => {}
                SelectItem::Wildcard(_) => {
                    has_all = true;
                    items.extend(self.columns_of(None));
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                    has_all = true;
                    items.extend(self.columns_of(last_part(name).map(|name| name.value.to_lowercase())));
                }
                _ => return Reach::Rows,
            }
        }
        let is_all_grouped = matches!(select.group_by, GroupByExpr::All(_));
        let is_distinct = select.distinct.is_some() || is_all_grouped;
        if !items.is_empty() && (is_distinct || self.orders(select, around, &items)) {
            return Reach::Rows;
        }
        Reach::Columns(items)
    }

    /// Returns the suspect columns that `*` returns, of one relation or of all.
    fn columns_of(&self, relation: Option<String>) -> Vec<Item> {
        let own = self.scopes.last().into_iter().flatten();
        let named = own.filter(|own| relation.is_none() || own.name == relation);
        named.flat_map(|own| &own.columns).map(|name| Item { at: None, name: Some(name.clone()) }).collect()
    }

    /// Returns whether HAVING or ORDER BY use a suspect column of the projection.
    fn orders(&self, select: &Select, around: &Query, items: &BTreeSet<Item>) -> bool {
        let is_item = |name: &str| {
            items.iter().any(|item| item.name.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name)))
        };
        let names_item =
            |expr: &Expr| contains(expr, &mut |expr| matches!(expr, Expr::Identifier(name) if is_item(&name.value)));
        let is_filtered = select.having.iter().chain(&select.qualify).any(names_item);
        let is_sorted = match around.order_by.as_ref().map(|order| &order.kind) {
            Some(OrderByKind::Expressions(sorts)) => sorts.iter().any(|sort| {
                let is_numbered = items.iter().any(|item| item.at.is_none()) && matches!(sort.expr, Expr::Value(_));
                is_numbered || names_item(&sort.expr) || self.reads(&resolve_item(&sort.expr, select))
            }),
            Some(OrderByKind::All(_)) => true,
            None => false,
        };
        is_filtered || is_sorted
    }

    /// Returns whether a join merges a suspect column.
    fn merges(&self, constraint: Option<&JoinConstraint>) -> bool {
        let mut own = self.scopes.last().into_iter().flatten().flat_map(|relation| &relation.columns);
        match constraint {
            Some(JoinConstraint::Using(names)) => {
                let names: Vec<String> =
                    names.iter().filter_map(last_part).map(|name| name.value.to_lowercase()).collect();
                own.any(|column| names.contains(column))
            }
            Some(JoinConstraint::Natural) => own.next().is_some(),
            Some(JoinConstraint::On(_) | JoinConstraint::None) | None => false,
        }
    }

    /// Returns whether a part of the statement contains a suspect value, or a query that depends on one.
    fn reads(&self, part: &impl Visit) -> bool {
        part.visit(&mut Reads(self)).is_break()
    }

    fn is_suspect(&self, expr: &Expr) -> bool {
        let column = column_name(expr).map(|name| name.value.to_lowercase());
        let is_own = match (self.suspect, &column) {
            (Suspect::Expressions(written), _) => is_compared(expr) && written.contains(&expr.to_string()),
            (Suspect::Column(_, name), Some(column)) => name.eq_ignore_ascii_case(column),
            (Suspect::Column(..), None) => false,
        };
        let qualifier = match expr {
            Expr::CompoundIdentifier(parts) => parts.iter().rev().nth(1).map(|name| name.value.to_lowercase()),
            _ => None,
        };
        let is_column = |relation: &Relation| {
            column.as_ref().is_some_and(|column| relation.columns.contains(column))
                && (qualifier.is_none() || qualifier == relation.name)
        };
        is_own || self.scopes.iter().flatten().any(is_column)
    }
}

/// Stops at a suspect value.
struct Reads<'s, 'a>(&'s Search<'a>);

impl Visitor for Reads<'_, '_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.0.is_suspect(expr) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        let is_affected = |names: &Option<BTreeSet<String>>| names.as_ref().is_none_or(|names| !names.is_empty());
        match self.0.common(name).is_some_and(is_affected) && !self.0.tables.contains_key(&name.span().start) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Returns whether suspect expressions may be of this form; the others are only parts of statements.
fn is_compared(expr: &Expr) -> bool {
    !matches!(
        expr,
        Expr::Value(_)
            | Expr::Nested(_)
            | Expr::Case { .. }
            | Expr::Subquery(_)
            | Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. }
    )
}

/// Returns whether an expression contains one for which `is_wanted` returns true.
pub(super) fn contains(expr: &Expr, is_wanted: &mut dyn FnMut(&Expr) -> bool) -> bool {
    let stop = |expr: &Expr| if is_wanted(expr) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    sqlparser::ast::visit_expressions(expr, stop).is_break()
}
