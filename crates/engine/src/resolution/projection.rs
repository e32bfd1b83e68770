//! The columns of a SELECT, with their names and meanings.

use std::rc::Rc;

use prospector_connect::table::Column;
use sqlparser::ast::{
    Expr, Ident, Select, SelectItem, SelectItemQualifiedWildcardKind, TableAlias, UnaryOperator,
    WildcardAdditionalOptions,
};

use super::resolver::{Resolver, Scope};
use super::{Columns, Meaning, NamedColumn, RelationKind};
use crate::Dialect;
use crate::syntax::{column_name, is_literal, last_part, plain_call, without_parentheses};

/// Functions of one value whose result has the unit of the value.
const OF_ONE_VALUE: [&str; 7] = ["abs", "avg", "ceil", "floor", "max", "min", "sum"];

/// Functions whose result has the unit of their first argument.
const OF_FIRST_VALUE: [&str; 4] = ["nullif", "round", "trunc", "truncate"];

/// Functions that return one of their arguments.
const ONE_OF_VALUES: [&str; 3] = ["coalesce", "ifnull", "nvl"];

impl<'a> Resolver<'a> {
    /// Resolves the columns of a SELECT; `reads_all` is whether `*` reads them.
    pub(super) fn project(&mut self, select: &Select, scope: &Scope<'_>, reads_all: bool) -> Columns<'a> {
        let mut columns = Columns { list: Vec::new(), is_complete: true, is_ordered: true };
        let labels = self.labels(select);
        for (at, item) in select.projection.iter().enumerate() {
            match item {
                SelectItem::ExprWithAlias { expr, alias } => {
                    let own = self.column_of(expr).unwrap_or_default();
                    let (name, measured) = (Some(self.dialect.name_of(alias)), self.find_measured(expr));
                    columns.list.push(NamedColumn { name, measured, ..own });
                }
                SelectItem::UnnamedExpr(expr) => {
                    let label = labels.get(at).cloned();
                    let own = self.describe_unnamed(expr, label);
                    // A name that the source generates may be referenced too.
                    columns.is_complete &= self.column_of(expr).is_some();
                    columns.list.push(own);
                }
                SelectItem::Wildcard(options) => {
                    columns.is_ordered &= scope.merged.is_empty();
                    for relation in scope.relations {
                        self.expand(*relation, options, reads_all, &mut columns);
                    }
                }
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
                    match last_part(name).and_then(|last| self.find_relation(scope, last)) {
                        Some(relation) => self.expand(relation, options, reads_all, &mut columns),
                        None => (columns.is_complete, columns.is_ordered) = (false, false),
                    }
                }
                _ => (columns.is_complete, columns.is_ordered) = (false, false),
            }
        }
        columns
    }

    /// Expands the wildcard of a relation.
    fn expand(&mut self, at: usize, options: &WildcardAdditionalOptions, reads_all: bool, columns: &mut Columns<'a>) {
        let relation = &self.done.relations[at];
        let (own, is_table) = (relation.columns.clone(), matches!(relation.kind, RelationKind::Table(_)));
        let except: Vec<&Ident> = options
            .opt_except
            .iter()
            .flat_map(|except| std::iter::once(&except.first_element).chain(&except.additional_elements))
            .collect();
        let is_meant = |column: &&NamedColumn<'a>| {
            !except.iter().any(|name| column.name.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(&name.value)))
        };
        for column in own.list.iter().filter(is_meant) {
            if is_table && reads_all {
                self.done.columns.extend(column.id.as_deref().map(str::to_owned));
            }
            columns.list.push(column.clone());
        }
        columns.is_complete &= own.is_complete;
        columns.is_ordered &= own.is_ordered;
    }

    /// Returns the column of an expression that is only a column.
    fn column_of(&self, expr: &Expr) -> Option<NamedColumn<'a>> {
        match (expr, self.done.meaning(expr)?) {
            (Expr::Identifier(_) | Expr::CompoundIdentifier(_), Meaning::Column(used)) => Some(used.column.clone()),
            _ => None,
        }
    }

    /// Returns a column without an alias, with the name that the source gives it.
    fn describe_unnamed(&self, expr: &Expr, label: Option<String>) -> NamedColumn<'a> {
        if let Some(written) = column_name(expr) {
            let own = self.column_of(expr).unwrap_or_default();
            let name = match self.dialect {
                // As declared by the table.
                Dialect::Sqlite => own.name.or_else(|| Some(written.value.clone())),
                Dialect::Joined => Some(written.value.to_lowercase()),
                Dialect::Postgres | Dialect::Mysql | Dialect::Bigquery => Some(self.dialect.name_of(written)),
            };
            return NamedColumn { name, ..own };
        }
        let name = label.or_else(|| match (self.dialect, expr) {
            (Dialect::Postgres, Expr::Function(function)) => match function.name.0.as_slice() {
                [only] => only.as_ident().map(|name| self.dialect.name_of(name)),
                _ => None,
            },
            _ => None,
        });
        NamedColumn { name, measured: self.find_measured(expr), ..NamedColumn::default() }
    }

    /// Returns the described column whose unit the values of an expression have.
    fn find_measured(&self, expr: &Expr) -> Option<&'a Column> {
        match without_parentheses(expr) {
            Expr::Cast { expr, .. } | Expr::Ceil { expr, .. } | Expr::Floor { expr, .. } => self.find_measured(expr),
            Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => self.find_measured(expr),
            Expr::Case { conditions, else_result, .. } => {
                self.find_shared(conditions.iter().map(|case| &case.result).chain(else_result.as_deref()))
            }
            expr => match plain_call(expr) {
                None => self.column_of(expr)?.measured,
                Some(call) => match (call.name.as_str(), call.arguments.as_slice()) {
                    (name, [value]) if OF_ONE_VALUE.contains(&name) => self.find_measured(value),
                    (name, [value, ..]) if OF_FIRST_VALUE.contains(&name) => self.find_measured(value),
                    (name, values) if ONE_OF_VALUES.contains(&name) => self.find_shared(values.iter().copied()),
                    _ => None,
                },
            },
        }
    }

    /// Returns a described column whose unit all of these values have; literals have any unit.
    fn find_shared<'e>(&self, values: impl Iterator<Item = &'e Expr>) -> Option<&'a Column> {
        let mut shared: Option<&'a Column> = None;
        for value in values.filter(|value| !is_literal(value)) {
            let measured = self.find_measured(value)?;
            if shared.is_some_and(|known| known.unit != measured.unit) {
                return None;
            }
            shared = Some(measured);
        }
        shared
    }

    /// Applies an alias: the first columns get the names of its column list, if it has one.
    pub(super) fn rename(&self, alias: Option<&TableAlias>, columns: Rc<Columns<'a>>) -> Rc<Columns<'a>> {
        let list = alias.map(|alias| alias.columns.as_slice()).unwrap_or_default();
        if list.is_empty() {
            return columns;
        }
        let mut columns = (*columns).clone();
        for (at, named) in list.iter().enumerate() {
            let name = Some(self.dialect.name_of(&named.name));
            match columns.list.get_mut(at) {
                Some(column) => column.name = name,
                None => columns.list.push(NamedColumn { name, ..NamedColumn::default() }),
            }
        }
        Rc::new(columns)
    }
}
