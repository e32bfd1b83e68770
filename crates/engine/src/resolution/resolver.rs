//! The traversal of a statement: each query with its visible scopes.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use sqlparser::ast::{Cte, Expr, Ident, OrderByKind, Query, Select, SelectItem, SetExpr, Spanned};
use sqlparser::tokenizer::{Location, TokenWithSpan, Tokenizer};

use super::parts::Parts;
use super::{ColumnUse, Columns, Meaning, NamedColumn, OutputColumn, Resolution};
use crate::Dialect;
use crate::plan::Plan;
use crate::rewrite::{Source, labels};
use crate::source::ResolvedTable;
use crate::syntax::is_wildcard;

/// The relations of one SELECT, and of the enclosing ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) relations: &'s [usize],
    /// The output names of its columns, in lower case.
    pub(super) aliases: &'s [String],
    /// The merged join columns, in lower case.
    pub(super) merged: &'s BTreeSet<String>,
    pub(super) outer: Option<&'s Scope<'s>>,
}

/// The result of a lookup.
pub(super) enum Found<'a> {
    Column(ColumnUse<'a>),
    Alias,
    /// It may refer to something that is not described.
    Unsure,
    Unknown,
}

pub(super) struct Resolver<'a> {
    pub(super) plan: &'a Plan,
    pub(super) dialect: Dialect,
    /// The tables by the positions of their names.
    pub(super) tables: HashMap<Location, &'a ResolvedTable>,
    /// The visible queries under WITH, the innermost last.
    pub(super) common: Vec<(String, Rc<Columns<'a>>)>,
    tokens: Vec<TokenWithSpan>,
    pub(super) done: Resolution<'a>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        let dialect = plan.dialect();
        let tables = plan.found.iter().map(|found| (found.written.span().start, found)).collect();
        let tokens = Tokenizer::new(dialect.grammar(), &plan.sql).tokenize_with_location().unwrap_or_default();
        Resolver { plan, dialect, tables, common: Vec::new(), tokens, done: Resolution::default() }
    }

    pub(super) fn resolve(mut self) -> Resolution<'a> {
        let columns = self.query(self.plan.query(), None, true);
        let output = |column: &NamedColumn<'a>| OutputColumn {
            name: column.name.clone(),
            column_type: column.column_type,
            unit: column.measured.map(|column| column.unit.clone()).unwrap_or_default(),
        };
        self.done.output = columns.is_ordered.then(|| columns.list.iter().map(output).collect());
        self.done
    }

    /// Returns the texts of the columns of a SELECT, if the dialect names them by their text.
    pub(super) fn labels(&self, select: &Select) -> Vec<String> {
        match self.dialect {
            Dialect::Mysql | Dialect::Sqlite => {
                let source = Source { sql: &self.plan.sql, tokens: &self.tokens };
                labels(self.dialect, &source, select.select_token.0.span, select.projection.len())
            }
            Dialect::Postgres | Dialect::Bigquery | Dialect::Joined => Vec::new(),
        }
    }

    /// Resolves a query and returns its columns; `reads_all` is whether its `*` reads them.
    pub(super) fn query(&mut self, query: &Query, outer: Option<&Scope<'_>>, reads_all: bool) -> Rc<Columns<'a>> {
        let visible = self.common.len();
        let ctes = query.with.as_ref().map(|with| (with.recursive, with.cte_tables.as_slice()));
        let (is_recursive, ctes) = ctes.unwrap_or_default();
        // SQLite lets a query under WITH read later ones, and itself.
        if self.dialect == Dialect::Sqlite {
            let names: Vec<String> = ctes.iter().map(|cte| self.dialect.fold(&cte.alias.name)).collect();
            self.common.extend(names.into_iter().map(|name| (name, Rc::default())));
        }
        for cte in ctes {
            self.common_table(cte, is_recursive || self.dialect == Dialect::Sqlite, outer);
        }
        let columns = self.body(&query.body, outer, Some(query), reads_all);
        self.common.truncate(visible);
        columns
    }

    fn common_table(&mut self, cte: &Cte, is_recursive: bool, outer: Option<&Scope<'_>>) {
        let name = self.dialect.fold(&cte.alias.name);
        let columns = match cte.query.body.as_ref() {
            // The first part of a recursive query cannot read the query itself, and defines its columns.
            SetExpr::SetOperation { left, right, .. } if is_recursive && cte.query.with.is_none() => {
                let columns = self.body(left, outer, None, true);
                let columns = self.rename(Some(&cte.alias), columns);
                self.common.push((name.clone(), columns.clone()));
                self.body(right, outer, None, true);
                self.common.pop();
                let merged = BTreeSet::new();
                self.rest(&cte.query, &Scope { relations: &[], aliases: &[], merged: &merged, outer }, &columns);
                columns
            }
            _ => {
                let columns = self.query(&cte.query, outer, true);
                self.rename(Some(&cte.alias), columns)
            }
        };
        self.common.push((name, columns));
    }

    /// Resolves the body of a query; the ORDER BY and LIMIT of `around` belong to it.
    fn body(
        &mut self,
        body: &SetExpr,
        outer: Option<&Scope<'_>>,
        around: Option<&Query>,
        reads_all: bool,
    ) -> Rc<Columns<'a>> {
        // Chains grow on the left, so they are iterated instead of recursed into.
        let (mut first, mut others) = (body, Vec::new());
        while let SetExpr::SetOperation { left, right, .. } = first {
            others.push(right);
            first = left;
        }
        let own = around.filter(|_| others.is_empty());
        let columns = match first {
            SetExpr::Select(select) => self.select(select, outer, own, reads_all),
            SetExpr::Query(query) => self.query(query, outer, reads_all),
            SetExpr::Values(values) => {
                let parts = Parts::new(self.dialect).and(values);
                self.parts(parts, &Scope { relations: &[], aliases: &[], merged: &BTreeSet::new(), outer });
                Rc::default()
            }
            // Rejected earlier.
            _ => Rc::default(),
        };
        let is_select = matches!(first, SetExpr::Select(_)) && others.is_empty();
        if is_select {
            return columns;
        }
        for other in others.iter().rev() {
            self.body(other, outer, None, reads_all);
        }
        // The columns of a set operation have no single origin.
        let mut columns = (*columns).clone();
        if !others.is_empty() {
            let named = |column: NamedColumn<'a>| NamedColumn { id: None, column: None, measured: None, ..column };
            columns.list = columns.list.into_iter().map(named).collect();
        }
        let columns = Rc::new(columns);
        if let Some(query) = around {
            let merged = BTreeSet::new();
            self.rest(query, &Scope { relations: &[], aliases: &[], merged: &merged, outer }, &columns);
        }
        columns
    }

    fn select(
        &mut self,
        select: &Select,
        outer: Option<&Scope<'_>>,
        around: Option<&Query>,
        reads_all: bool,
    ) -> Rc<Columns<'a>> {
        let number = self.done.scopes.len();
        self.done.scopes.insert(select.select_token.0.span.start, number);
        let (mut relations, mut merged) = (Vec::new(), BTreeSet::new());
        for table in &select.from {
            self.join_tree(table, number, &mut relations, &mut merged, outer);
        }
        let aliases: Vec<String> = select.projection.iter().filter_map(alias_of).collect();
        let scope = Scope { relations: &relations, aliases: &aliases, merged: &merged, outer };
        let parts = Parts::new(self.dialect)
            .and(&select.projection)
            .and(&select.distinct)
            .and(&select.selection)
            .and(&select.group_by)
            .and(&select.having)
            .and(&select.named_window)
            .and(&select.qualify);
        self.parts(parts, &scope);
        let columns = self.project(select, &scope, reads_all);
        if let Some(query) = around {
            self.rest(query, &scope, &columns);
        }
        Rc::new(columns)
    }

    /// Resolves ORDER BY, LIMIT and FETCH of a query with these columns, whose names take precedence in ORDER BY.
    fn rest(&mut self, query: &Query, scope: &Scope<'_>, columns: &Columns<'a>) {
        let parts = Parts::new(self.dialect).and(&query.limit_clause).and(&query.fetch);
        self.parts(parts, scope);
        let Some(order) = &query.order_by else { return };
        let OrderByKind::Expressions(sorts) = &order.kind else { return };
        // After a set operation no tables are visible, and a name that the source generates may be referenced.
        let is_open = scope.relations.is_empty() && !columns.is_complete;
        for sort in sorts {
            if let Expr::Identifier(name) = &sort.expr
                && (columns.has(&name.value) && !self.is_plain_column(scope, name, columns) || is_open)
            {
                self.done.names.insert(name.span.start, Meaning::Alias);
                continue;
            }
            if !is_open {
                self.parts(Parts::new(self.dialect).and(sort), scope);
            }
        }
    }

    /// Returns whether an output column is the column of a table with that name.
    fn is_plain_column(&self, scope: &Scope<'_>, name: &Ident, columns: &Columns<'a>) -> bool {
        let Found::Column(used) = self.find_name(scope, name) else { return false };
        let id = columns.find(&name.value).and_then(|column| column.id.as_ref());
        id.is_some() && id == used.column.id.as_ref()
    }

    /// Resolves the names of one scope, and the queries inside its expressions.
    pub(super) fn parts(&mut self, parts: Parts, scope: &Scope<'_>) {
        for name in &parts.names {
            self.name(name, scope);
        }
        for (query, is_exists) in &parts.queries {
            self.query(query, Some(scope), !is_exists);
        }
    }

    fn name(&mut self, parts: &[Ident], scope: &Scope<'_>) {
        let Some((first, last)) = parts.first().zip(parts.last()) else { return };
        if is_wildcard(last) {
            return;
        }
        let place = first.span.start;
        let found = match parts {
            [name] => self.find_name(scope, name),
            _ => self.find_qualified(scope, parts),
        };
        match found {
            Found::Column(used) => {
                self.done.columns.extend(used.column.id.as_deref().map(str::to_owned));
                self.done.names.insert(place, Meaning::Column(used));
            }
            Found::Alias => drop(self.done.names.insert(place, Meaning::Alias)),
            Found::Unsure => {}
            Found::Unknown if parts.len() == 1 && self.dialect == Dialect::Sqlite && first.quote_style == Some('"') => {
                self.done.texts.push(first.value.clone());
                self.done.names.insert(place, Meaning::Text);
            }
            Found::Unknown => {
                let written: Vec<String> = parts.iter().map(|part| part.value.to_lowercase()).collect();
                self.done.unknown.insert(written.join("."));
            }
        }
    }
}

impl<'s> Scope<'s> {
    pub(super) fn levels(&'s self) -> impl Iterator<Item = &'s Scope<'s>> {
        std::iter::successors(Some(self), |scope| scope.outer)
    }
}

fn alias_of(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.to_lowercase()),
        _ => None,
    }
}
