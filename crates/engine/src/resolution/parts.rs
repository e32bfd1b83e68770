//! The names and the queries in the expressions of one scope.

use std::collections::HashSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    AccessExpr, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, Query, Visit, Visitor,
};
use sqlparser::tokenizer::Location;

use crate::Dialect;
use crate::rewrite::unit_argument;
use crate::syntax::last_part;

/// The names and queries that the expressions of one scope contain.
#[derive(Debug)]
pub(super) struct Parts {
    dialect: Dialect,
    /// Names by their parts.
    pub(super) names: Vec<Vec<Ident>>,
    /// The subqueries, and whether only their existence matters.
    pub(super) queries: Vec<(Query, bool)>,
    /// Words that look like columns: parts of dates, and fields of values.
    words: HashSet<Location>,
    is_exists: bool,
    depth: usize,
}

impl Parts {
    pub(super) fn new(dialect: Dialect) -> Self {
        let (names, queries, words) = (Vec::new(), Vec::new(), HashSet::new());
        Parts { dialect, names, queries, words, is_exists: false, depth: 0 }
    }

    pub(super) fn and(mut self, node: &impl Visit) -> Self {
        let _ = node.visit(&mut self);
        self
    }

    fn skip(&mut self, expr: &Expr) {
        if let Expr::Identifier(word) = expr {
            self.words.insert(word.span.start);
        }
    }

    fn skip_unit(&mut self, name: &ObjectName, arguments: &[FunctionArg]) {
        let Some(name) = last_part(name) else { return };
        let unit = unit_argument(self.dialect, &name.value.to_ascii_lowercase());
        if let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) = unit.and_then(|at| arguments.get(at)) {
            self.skip(expr);
        }
    }
}

impl Visitor for Parts {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            self.queries.push((query.clone(), self.is_exists));
            self.is_exists = false;
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        match expr {
            Expr::Identifier(name) if !self.words.contains(&name.span.start) => self.names.push(vec![name.clone()]),
            Expr::CompoundIdentifier(parts) => self.names.push(parts.clone()),
            Expr::Exists { .. } => self.is_exists = true,
            Expr::Function(function) => {
                if let FunctionArguments::List(list) = &function.args {
                    self.skip_unit(&function.name, &list.args);
                }
            }
            Expr::MatchAgainst { columns, .. } => {
                let parts = |name: &ObjectName| name.0.iter().filter_map(|part| part.as_ident()).cloned().collect();
                self.names.extend(columns.iter().map(parts));
            }
            Expr::CompoundFieldAccess { access_chain, .. } => {
                for access in access_chain {
                    if let AccessExpr::Dot(field) = access {
                        self.skip(field);
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
