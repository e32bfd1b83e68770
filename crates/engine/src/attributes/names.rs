//! The qualified names in an expression, and their number in a whole statement.

use std::ops::ControlFlow;

use sqlparser::ast::{AccessExpr, Expr, Ident, Query, Visit, Visitor};

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
        Expr::CompoundIdentifier(parts) if !parts.last().is_none_or(is_all) => vec![QualifiedName::Qualified(parts)],
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

fn is_all(part: &Ident) -> bool {
    part.value == "*" && part.quote_style.is_none()
}

/// Counts the qualified names in a whole statement.
pub(super) fn count(query: &Query) -> usize {
    let mut count = Count(0);
    let _ = query.visit(&mut count);
    count.0
}

struct Count(usize);

impl Visitor for Count {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.0 += list_names(expr).len();
        ControlFlow::Continue(())
    }
}
