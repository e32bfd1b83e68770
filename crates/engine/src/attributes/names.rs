//! The qualified names in an expression, and their number in a whole statement.

use std::ops::ControlFlow;

use sqlparser::ast::{AccessExpr, Expr, Ident, Query, visit_expressions};

use crate::syntax::is_wildcard;

/// A qualified name.
#[derive(Debug, Clone, Copy)]
pub(super) enum QualifiedName<'e> {
    /// A name of several parts.
    Qualified(&'e [Ident]),
    /// A field of a value.
    Field {
        /// The name in the parentheses before the dot, if they contain nothing else.
        row: Option<&'e Ident>,
        field: &'e Ident,
    },
    /// Not a name; rejected earlier.
    Other,
}

/// Lists the names of an expression, without those of its subexpressions.
pub(super) fn list_names(expr: &Expr) -> Vec<QualifiedName<'_>> {
    match expr {
        Expr::CompoundIdentifier(parts) if !parts.last().is_none_or(is_wildcard) => {
            vec![QualifiedName::Qualified(parts)]
        }
        Expr::CompoundFieldAccess { root, access_chain } => {
            let first = match root.as_ref() {
                Expr::Nested(inner) => find_identifier(inner),
                _ => None,
            };
            let fields = access_chain.iter().enumerate().filter_map(|(at, access)| match access {
                AccessExpr::Dot(Expr::Identifier(field)) => {
                    Some(QualifiedName::Field { row: first.filter(|_| at == 0), field })
                }
                AccessExpr::Dot(_) => Some(QualifiedName::Other),
                AccessExpr::Subscript(_) => None,
            });
            fields.collect()
        }
        _ => Vec::new(),
    }
}

fn find_identifier(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Identifier(name) => Some(name),
        _ => None,
    }
}

/// Counts the qualified names in a whole statement.
pub(super) fn count(query: &Query) -> usize {
    let mut count = 0;
    let _ = visit_expressions(query, |expr| {
        count += list_names(expr).len();
        ControlFlow::<()>::Continue(())
    });
    count
}
