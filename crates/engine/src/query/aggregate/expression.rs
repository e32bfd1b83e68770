//! SQL expressions of a catalog over the columns of a row: parsed, resolved and re-rendered.

use std::ops::ControlFlow;

use prospector_connect::query::Aggregation;
use sqlparser::ast::{
    Expr, FunctionArguments, Ident, ObjectNamePart, Query, SelectItem, SetExpr, Statement, Visit, Visitor,
    visit_expressions_mut,
};

use crate::build::invalid;
use crate::{Dialect, Failure, FailureCode};

/// The maximum length of an expression in characters.
const MAX_EXPRESSION_CHARS: usize = 2_000;

/// A name in an expression: a column, optionally qualified by its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionName {
    /// The name of the table, if qualified.
    pub table: Option<String>,
    /// The column.
    pub column: String,
}

impl ExpressionName {
    /// Returns the name that an expression is, if it is nothing else and has at most two parts.
    fn of(expr: &Expr) -> Option<Self> {
        let (table, column) = match expr {
            Expr::Identifier(column) => (None, column),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [table, column] => (Some(table.value.clone()), column),
                _ => return None,
            },
            _ => return None,
        };
        Some(ExpressionName { table, column: column.value.clone() })
    }
}

/// Returns the column names in an expression over one row, in the SQL of a dialect.
///
/// # Errors
/// If the text is not an expression over one row.
pub fn read_expression(dialect: Dialect, text: &str) -> Result<Vec<ExpressionName>, Failure> {
    Expression::parse(dialect, text)?.names()
}

/// An SQL expression over the columns of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expression {
    expr: Expr,
    text: String,
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// If the text is not an expression over one row.
    pub(super) fn parse(dialect: Dialect, text: &str) -> Result<Self, Failure> {
        let wrong = |reason: &str| {
            let shown: String = text.chars().take(100).collect();
            invalid(format!("`{shown}` is not an expression over the columns of a row: {reason}"))
        };
        if text.len() > MAX_EXPRESSION_CHARS {
            return Err(wrong("it is too long"));
        }
        let statements = prospector_connect::sql::parse_text(dialect.grammar(), &format!("SELECT {text}"))
            .map_err(|error| wrong(&error.to_string()).advise("write it as it would follow SELECT"))?;
        let expr = match statements.as_slice() {
            [Statement::Query(query)] => only_item(query),
            _ => None,
        };
        let expr = expr.ok_or_else(|| wrong("it has more than one value"))?;
        if let ControlFlow::Break(reason) = expr.visit(&mut OneRow) {
            return Err(wrong(reason).advise("define aggregates and subqueries outside of the expression"));
        }
        Ok(Expression { expr, text: text.trim().to_owned() })
    }

    /// Returns the names in the expression.
    ///
    /// # Errors
    /// If a name has more than two parts.
    pub(super) fn names(&self) -> Result<Vec<ExpressionName>, Failure> {
        let mut names = Vec::new();
        self.clone().replace(&mut |name| {
            names.push(name);
            Ok(None)
        })?;
        Ok(names)
    }

    /// Returns the name, if the expression is nothing else.
    pub(super) fn only_name(&self) -> Option<ExpressionName> {
        ExpressionName::of(&self.expr)
    }

    /// Returns the text as it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Renders the SQL, with each name replaced by the alias of its table and its column.
    ///
    /// # Errors
    /// The errors of `find`.
    pub(super) fn write(
        &self,
        dialect: Dialect,
        find: &mut impl FnMut(&ExpressionName) -> Result<(String, String), Failure>,
    ) -> Result<String, Failure> {
        let quote = match dialect {
            Dialect::Mysql | Dialect::Bigquery => '`',
            Dialect::Postgres | Dialect::Sqlite | Dialect::Joined => '"',
        };
        let mut written = self.clone();
        written.replace(&mut |name| {
            let (alias, column) = find(&name)?;
            Ok(Some(Expr::CompoundIdentifier(vec![Ident::new(alias), Ident::with_quote(quote, column)])))
        })?;
        Ok(match written.expr {
            Expr::CompoundIdentifier(_) | Expr::Function(_) | Expr::Case { .. } | Expr::Nested(_) | Expr::Value(_) => {
                written.expr.to_string()
            }
            other => format!("({other})"),
        })
    }

    fn replace(
        &mut self,
        with: &mut impl FnMut(ExpressionName) -> Result<Option<Expr>, Failure>,
    ) -> Result<(), Failure> {
        let outcome = visit_expressions_mut(&mut self.expr, |expr| {
            let Some(name) = ExpressionName::of(expr) else {
                if matches!(expr, Expr::CompoundIdentifier(_)) {
                    let failure = Failure::new(FailureCode::UnknownColumn, format!("`{expr}` is not a column name"));
                    return ControlFlow::Break(failure.advise("write `column`, or `entity.column`"));
                }
                return ControlFlow::Continue(());
            };
            match with(name) {
                Ok(Some(other)) => *expr = other,
                Ok(None) => {}
                Err(failure) => return ControlFlow::Break(failure),
            }
            ControlFlow::Continue(())
        });
        outcome.break_value().map_or(Ok(()), Err)
    }
}

/// Returns the value of a query that is only `SELECT value`.
fn only_item(query: &Query) -> Option<Expr> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    match select.projection.as_slice() {
        [SelectItem::UnnamedExpr(expr)] if query.to_string() == format!("SELECT {expr}") => Some(expr.clone()),
        _ => None,
    }
}

/// Finds parts that are not computed from a single row.
struct OneRow;

impl Visitor for OneRow {
    type Break = &'static str;

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<&'static str> {
        ControlFlow::Break("it contains a query")
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<&'static str> {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        if function.over.is_some() {
            return ControlFlow::Break("it contains a window function");
        }
        let count = match &function.args {
            FunctionArguments::List(list) => list.args.len(),
            FunctionArguments::None | FunctionArguments::Subquery(_) => 0,
        };
        let name = match function.name.0.as_slice() {
            [ObjectNamePart::Identifier(name)] => name.value.to_lowercase(),
            _ => String::new(),
        };
        // With several arguments, `min` and `max` compare the values of one row.
        let is_aggregate = Aggregation::find(&name).is_some() || matches!(name.as_str(), "median" | "total");
        match count <= 1 && is_aggregate {
            true => ControlFlow::Break("it contains an aggregate"),
            false => ControlFlow::Continue(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let written = Expression::parse(Dialect::Sqlite, text).and_then(|expression| {
            expression.write(Dialect::Sqlite, &mut |name| {
                Ok((name.table.clone().unwrap_or_else(|| "t0".to_owned()), name.column.clone()))
            })
        });
        assert_eq!(written.as_deref().ok(), expected, "{text}");
    }

    #[test]
    fn replaces_names_only() {
        check("total", Some("t0.\"total\""));
        check("unit_price * qty", Some("(t0.\"unit_price\" * t0.\"qty\")"));
        check("o.status = 'P''s'", Some("(o.\"status\" = 'P''s')"));
        check("\"Odd \"\" name\"", Some("t0.\"Odd \"\" name\""));
        check("CASE WHEN a > 1 THEN b END", Some("CASE WHEN t0.\"a\" > 1 THEN t0.\"b\" END"));
        check("coalesce(a, 0)", Some("coalesce(t0.\"a\", 0)"));
        check("a IN (1, 2) AND b IS NULL", Some("(t0.\"a\" IN (1, 2) AND t0.\"b\" IS NULL)"));
    }

    #[test]
    fn rejects_expressions_over_several_rows() {
        for text in [
            "",
            "a, b",
            "a FROM t",
            "a; DROP TABLE t",
            "sum(a)",
            "a + max(b)",
            "(SELECT 1)",
            "a IN (SELECT b FROM c)",
            "row_number() OVER (ORDER BY a)",
            "a AS b",
            "*",
            "x.y.z",
        ] {
            check(text, None);
        }
        check("max(a, b)", Some("max(t0.\"a\", t0.\"b\")"));
    }
}
