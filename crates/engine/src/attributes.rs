//! Verification of qualified names in PostgreSQL, where `row.name` calls the function `name` if the row has no such column.
//!
//! The input is the statement as it is sent: every name is quoted, tables are qualified by their schema, queries under WITH
//! have unique names, and built-in functions are qualified by `pg_catalog`. Each qualifier is resolved in its own scope, from
//! the inside out, as PostgreSQL does: to a table with its described columns, to a query with the names of its projection, or
//! to a function whose columns are certain. A name that is not proven to be a column is rejected.

mod columns;
mod names;
mod scope;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    Cte, Expr, FunctionArg, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, TableAlias,
    TableFactor, TableWithJoins, Visit, Visitor,
};

use crate::{Dialect, Failure};
use columns::{Columns, Proof};
use names::{QualifiedName, count, list_names};
use scope::{Place, Relation, Scope};

const DIALECT: Dialect = Dialect::Postgres;

/// Verifies every qualified name in a statement that is sent to PostgreSQL. `columns_of` returns the described columns of a
/// table by its schema and its name.
///
/// Returns the names that the server is asked about before the statement runs, as a second safeguard. These are columns by a
/// description, which may be older than the table, or by PostgreSQL's naming conventions for functions, casts and VALUES. Names
/// that the statement itself defines need no such check: an alias, a column list after an alias, the name of a referenced
/// column or of a called function.
///
/// # Errors
/// The first name that is not proven to be a column, with the nearest columns.
pub(crate) fn check(
    query: &Query,
    columns_of: &dyn Fn(&str, &str) -> Option<Vec<String>>,
) -> Result<BTreeSet<String>, Failure> {
    let mut resolver = Resolver { columns_of, common: BTreeMap::new(), checked: 0, unsettled: BTreeSet::new() };
    resolver.query(query, None, &[], None)?;
    // Parts of the tree that the resolver does not visit are not verified, so the counts must match.
    match resolver.checked == count(query) {
        true => Ok(resolver.unsettled),
        false => Err(Failure::refuse("not every qualified name can be traced to a table")
            .advise("simplify the query, and omit the table of a column where the column is unambiguous")),
    }
}

struct Resolver<'a> {
    columns_of: &'a dyn Fn(&str, &str) -> Option<Vec<String>>,
    /// The queries under WITH that were resolved, by names that are unique in the statement. A query that is referenced before
    /// it is resolved has unknown columns.
    common: BTreeMap<String, Columns>,
    /// The number of verified qualified names.
    checked: usize,
    /// The verified names that the server is asked about.
    unsettled: BTreeSet<String>,
}

impl Resolver<'_> {
    /// Checks a query and returns its columns. `around` are the enclosing queries whose body is only this query in parentheses:
    /// PostgreSQL applies their ORDER BY and LIMIT to it. `recursion` is the query as it is named under WITH RECURSIVE.
    fn query(
        &mut self,
        query: &Query,
        outer: Option<&Scope<'_>>,
        around: &[&Query],
        recursion: Option<&Cte>,
    ) -> Result<Columns, Failure> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let is_recursive = query.with.as_ref().is_some_and(|with| with.recursive);
            let columns = self.query(&cte.query, outer, &[], is_recursive.then_some(cte))?;
            self.add_common(cte, columns);
        }
        self.body(&query.body, outer, &[around, &[query]].concat(), recursion)
    }

    fn add_common(&mut self, cte: &Cte, columns: Columns) {
        self.common.insert(DIALECT.name_of(&cte.alias.name), columns.rename(&cte.alias));
    }

    /// Checks the body of a query; the ORDER BY and LIMIT of `around` belong to it.
    fn body(
        &mut self,
        body: &SetExpr,
        outer: Option<&Scope<'_>>,
        around: &[&Query],
        recursion: Option<&Cte>,
    ) -> Result<Columns, Failure> {
        match body {
            SetExpr::Select(select) => self.select(select, outer, around),
            SetExpr::Query(query) => self.query(query, outer, around, recursion),
            SetExpr::SetOperation { .. } => {
                // Chains grow on the left, so they are iterated instead of recursed into.
                let (mut first, mut others) = (body, Vec::new());
                while let SetExpr::SetOperation { left, right, .. } = first {
                    others.push(right);
                    first = left;
                }
                let columns = self.body(first, outer, &[], None)?;
                // The first part cannot reference the recursive query, and defines its columns.
                if let Some(cte) = recursion {
                    self.add_common(cte, columns.clone());
                }
                for other in others.into_iter().rev() {
                    self.body(other, outer, &[], None)?;
                }
                self.verify_order(around, &Scope { relations: &[], outer })?;
                Ok(columns)
            }
            SetExpr::Values(values) => {
                let scope = Scope { relations: &[], outer };
                self.verify(values, &scope)?;
                self.verify_order(around, &scope)?;
                let width = values.rows.iter().map(|row| row.content.len()).max().unwrap_or_default();
                Ok(Columns::of_values(width))
            }
            // Rejected earlier.
            _ => Ok(Columns::default()),
        }
    }

    fn select(&mut self, select: &Select, outer: Option<&Scope<'_>>, around: &[&Query]) -> Result<Columns, Failure> {
        let mut relations = Vec::new();
        for table in &select.from {
            let own = self.join_tree(table, &relations, outer)?;
            relations.extend(own);
        }
        let scope = Scope { relations: &relations, outer };
        self.verify(&select.projection, &scope)?;
        self.verify(&select.distinct, &scope)?;
        self.verify(&select.selection, &scope)?;
        self.verify(&select.group_by, &scope)?;
        self.verify(&select.having, &scope)?;
        self.verify(&select.named_window, &scope)?;
        self.verify(&select.qualify, &scope)?;
        self.verify_order(around, &scope)?;
        Ok(project(&select.projection, &relations))
    }

    /// Resolves one item of FROM with its joins. `before` are the items on its left, which only LATERAL sees.
    fn join_tree(
        &mut self,
        table: &TableWithJoins,
        before: &[Relation],
        outer: Option<&Scope<'_>>,
    ) -> Result<Vec<Relation>, Failure> {
        let mut visible = before.to_vec();
        let own = self.factor(&table.relation, &visible, outer)?;
        visible.extend(own);
        for join in &table.joins {
            let right = self.factor(&join.relation, &visible, outer)?;
            visible.extend(right);
            // The condition of a join sees the joined relations, and no other item of FROM.
            let joined = Scope { relations: &visible[before.len()..], outer };
            self.verify(&join.join_operator, &joined)?;
        }
        Ok(visible.split_off(before.len()))
    }

    /// Resolves a table factor. `left` is what LATERAL sees.
    fn factor(
        &mut self,
        factor: &TableFactor,
        left: &[Relation],
        outer: Option<&Scope<'_>>,
    ) -> Result<Vec<Relation>, Failure> {
        let lateral = Scope { relations: left, outer };
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                Ok(Vec::from([self.find_table(&Place::of(name), alias.as_ref())]))
            }
            TableFactor::Table { name, alias, args: Some(args), with_ordinality, .. } => {
                self.function(&Place::of(name), &args.args, *with_ordinality, alias.as_ref(), &lateral)
            }
            TableFactor::Function { name, args, alias, with_ordinality, .. } => {
                self.function(&Place::of(name), args, *with_ordinality, alias.as_ref(), &lateral)
            }
            TableFactor::Derived { lateral: is_lateral, subquery, alias, .. } => {
                let seen = if *is_lateral { Some(&lateral) } else { outer };
                let columns = self.query(subquery, seen, &[], None)?;
                Ok(Vec::from([Relation::new(alias.as_ref(), None, columns)]))
            }
            TableFactor::UNNEST { alias, array_exprs, with_ordinality, .. } => {
                self.verify(array_exprs, &lateral)?;
                // Elements may be rows of any type, so only a column list is certain.
                let columns = Columns::of_function(None, "unnest", *with_ordinality);
                Ok(Vec::from([Relation::new(alias.as_ref(), Some("unnest"), columns)]))
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let own = self.join_tree(table_with_joins, left, outer)?;
                // An alias of the join hides the names of the joined relations.
                Ok(match alias {
                    None => own,
                    Some(_) => Vec::from([Relation::new(alias.as_ref(), None, join(&own))]),
                })
            }
            // Rejected earlier.
            _ => Ok(Vec::new()),
        }
    }

    /// Resolves a table qualified by its schema, or a query under WITH.
    fn find_table(&self, place: &Place, alias: Option<&TableAlias>) -> Relation {
        match &place.schema {
            None => {
                let columns = self.common.get(&place.name).cloned().unwrap_or_default();
                Relation::new(alias, Some(&place.name), columns)
            }
            Some(schema) => {
                let described = (self.columns_of)(schema, &place.name).unwrap_or_default();
                Relation::of_table(alias, place, Columns::of_description(described))
            }
        }
    }

    fn function(
        &mut self,
        place: &Place,
        arguments: &[FunctionArg],
        with_ordinality: bool,
        alias: Option<&TableAlias>,
        lateral: &Scope<'_>,
    ) -> Result<Vec<Relation>, Failure> {
        arguments.iter().try_for_each(|argument| self.verify(argument, lateral))?;
        let is_builtin = place.schema.as_deref() == Some("pg_catalog");
        let column = alias.map_or_else(|| place.name.clone(), |alias| DIALECT.name_of(&alias.name));
        let columns = Columns::of_function(is_builtin.then_some(place.name.as_str()), &column, with_ordinality);
        Ok(Vec::from([Relation::new(alias, Some(&place.name), columns)]))
    }

    /// Verifies the names of a part of the tree that belongs to one scope, and the queries inside its expressions.
    fn verify(&mut self, part: &impl Visit, scope: &Scope<'_>) -> Result<(), Failure> {
        let outcome = part.visit(&mut Verifier { resolver: self, scope, depth: 0 });
        outcome.break_value().map_or(Ok(()), |failure| Err(*failure))
    }

    /// Verifies ORDER BY, LIMIT and FETCH of these queries.
    fn verify_order(&mut self, around: &[&Query], scope: &Scope<'_>) -> Result<(), Failure> {
        around.iter().try_for_each(|query| {
            self.verify(&query.order_by, scope)?;
            self.verify(&query.limit_clause, scope)?;
            self.verify(&query.fetch, scope)
        })
    }

    fn verify_name(&mut self, name: QualifiedName<'_>, scope: &Scope<'_>) -> Result<(), Failure> {
        let (proof, column) = match name {
            QualifiedName::Qualified([rest @ .., relation, column]) => (scope.prove(rest, relation, column)?, column),
            QualifiedName::Field { row, field } => (scope.prove_field(row, field)?, field),
            QualifiedName::Qualified(_) | QualifiedName::Other => {
                return Err(Failure::refuse("a qualifier is followed by something other than a name"));
            }
        };
        self.checked += 1;
        if proof != Proof::Statement {
            self.unsettled.insert(DIALECT.name_of(column));
        }
        Ok(())
    }
}

/// Visits the expressions of one scope; subqueries have their own scope.
struct Verifier<'v, 'a, 's> {
    resolver: &'v mut Resolver<'a>,
    scope: &'v Scope<'s>,
    /// The number of subqueries around the current expression, within the verified part.
    depth: usize,
}

impl Visitor for Verifier<'_, '_, '_> {
    type Break = Box<Failure>;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Box<Failure>> {
        self.depth += 1;
        if self.depth > 1 {
            return ControlFlow::Continue(());
        }
        match self.resolver.query(query, Some(self.scope), &[], None) {
            Ok(_) => ControlFlow::Continue(()),
            Err(failure) => ControlFlow::Break(Box::new(failure)),
        }
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<Box<Failure>> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Box<Failure>> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        match list_names(expr).into_iter().try_for_each(|name| self.resolver.verify_name(name, self.scope)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => ControlFlow::Break(Box::new(failure)),
        }
    }
}

/// Returns the columns of a join with an alias.
fn join(relations: &[Relation]) -> Columns {
    let mut columns = Columns::empty();
    relations.iter().for_each(|relation| columns.add_all(&relation.columns));
    columns
}

/// Returns the columns of a projection over these relations.
fn project(items: &[SelectItem], relations: &[Relation]) -> Columns {
    let mut columns = Columns::empty();
    for item in items {
        match item {
            SelectItem::ExprWithAlias { alias, .. } => columns.add(DIALECT.name_of(alias), Proof::Statement),
            SelectItem::UnnamedExpr(expr) => columns.add_expression(expr),
            SelectItem::Wildcard(_) => relations.iter().for_each(|relation| columns.add_all(&relation.columns)),
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                let place = Place::of(name);
                let mut found = relations.iter().filter(|relation| relation.is_called(&place));
                // The name may be that of a relation in an outer scope.
                match (found.next(), found.next()) {
                    (Some(relation), None) => columns.add_all(&relation.columns),
                    _ => columns.add_unknown(),
                }
            }
            _ => columns.add_unknown(),
        }
    }
    columns
}

#[cfg(test)]
mod tests;
