//! Expressions.

mod condition;
mod special;

use sqlparser::ast::{AccessExpr, BinaryOperator, CaseWhen, Expr, ObjectName, Query, Spanned, Subscript};
use sqlparser::tokenizer::Span;

use super::operator::{is_binary, is_unary};
use super::{WriteResult, Writer, reject};
use crate::Dialect;

impl Writer<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> WriteResult {
        self.deeper(|writer| writer.expr_here(expr))
    }

    fn expr_here(&mut self, expr: &Expr) -> WriteResult {
        match expr {
            Expr::Identifier(name) => self.ident(name),
            Expr::CompoundIdentifier(parts) => self.column(parts),
            Expr::QualifiedWildcard(name, _) => self.all_columns(name),
            Expr::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain),
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right),
            Expr::UnaryOp { op, expr } if is_unary(self.dialect, op) => self.prefix(&format!("{op} "), expr),
            Expr::UnaryOp { op, expr } => self.refuse_form(&format!("the operator `{op}`"), expr.as_ref()),
            Expr::Nested(inner) => self.enclose(inner),
            Expr::Value(value) => self.value(value),
            Expr::Function(function) => self.function(function),
            Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref())
            }
            Expr::Subquery(query) => self.subquery(query),
            Expr::GroupingSets(sets) => self.grouping("GROUPING SETS", sets),
            Expr::Cube(sets) => self.grouping("CUBE", sets),
            Expr::Rollup(sets) => self.grouping("ROLLUP", sets),
            _ => self.composite(expr),
        }
    }

    /// Renders a value of several parts, or another form.
    fn composite(&mut self, expr: &Expr) -> WriteResult {
        match expr {
            Expr::Tuple(items) => self.list("(", items, ")", Self::expr),
            Expr::Struct { values, fields } if self.dialect == Dialect::Bigquery && fields.is_empty() => {
                self.list("STRUCT(", values, ")", Self::expr)
            }
            Expr::Named { expr, name } if self.dialect == Dialect::Bigquery => {
                self.expr(expr)?;
                self.push(" AS ");
                self.ident(name)
            }
            Expr::Array(array) if matches!(self.dialect, Dialect::Postgres | Dialect::Bigquery | Dialect::Joined) => {
                self.list(if array.named { "ARRAY[" } else { "[" }, &array.elem, "]", Self::expr)
            }
            _ => self.condition(expr),
        }
    }

    fn case(&mut self, operand: Option<&Expr>, conditions: &[CaseWhen], else_result: Option<&Expr>) -> WriteResult {
        self.push("CASE");
        if let Some(operand) = operand {
            self.prefix(" ", operand)?;
        }
        for when in conditions {
            self.prefix(" WHEN ", &when.condition)?;
            self.prefix(" THEN ", &when.result)?;
        }
        if let Some(otherwise) = else_result {
            self.prefix(" ELSE ", otherwise)?;
        }
        self.end(" END")
    }

    /// Renders a prefix and an expression.
    pub(super) fn prefix(&mut self, text: &str, expr: &Expr) -> WriteResult {
        self.push(text);
        self.expr(expr)
    }

    fn postfix(&mut self, expr: &Expr, text: &str) -> WriteResult {
        self.expr(expr)?;
        self.end(text)
    }

    fn infix(&mut self, left: &Expr, text: &str, right: &Expr) -> WriteResult {
        self.expr(left)?;
        self.prefix(text, right)
    }

    fn enclose(&mut self, expr: &Expr) -> WriteResult {
        self.prefix("(", expr)?;
        self.end(")")
    }

    /// Renders a query in parentheses.
    pub(super) fn subquery(&mut self, query: &Query) -> WriteResult {
        self.push("(");
        self.query(query)?;
        self.end(")")
    }

    /// Chains grow on the left and are long without deep nesting, so they are iterated instead of recursed into.
    fn binary(&mut self, left: &Expr, operator: &BinaryOperator, right: &Expr) -> WriteResult {
        let mut chain = vec![(operator, right)];
        let mut first = left;
        while let Expr::BinaryOp { left, op, right } = first {
            chain.push((op, right.as_ref()));
            first = left;
        }
        self.expr(first)?;
        for (operator, right) in chain.into_iter().rev() {
            self.operator(operator, right)?;
            self.prefix(" ", right)?;
        }
        Ok(())
    }

    fn operator(&mut self, operator: &BinaryOperator, near: &Expr) -> WriteResult {
        if is_binary(self.dialect, operator) {
            return self.end(&format!(" {operator}"));
        }
        match (operator, self.dialect) {
            (BinaryOperator::StringConcat, Dialect::Mysql) => reject(
                "in MySQL `||` is OR or concatenation, depending on the SQL mode",
                Span::empty(),
                "write OR, or concat(...)",
            ),
            (BinaryOperator::Arrow | BinaryOperator::LongArrow, Dialect::Joined) => {
                let message = format!("the operator `{operator}` is not supported in {}", self.dialect.as_str());
                reject(message, near.span(), "access a field of a column as column['field']")
            }
            (BinaryOperator::Assignment, _) => {
                reject("the query sets a variable", Span::empty(), "remove the variable")
            }
            _ => self.refuse_form(&format!("the operator `{}`", operator.to_string().escape_debug()), near),
        }
    }

    /// Renders `row.*` in place of an expression.
    pub(super) fn all_columns(&mut self, name: &ObjectName) -> WriteResult {
        let mut parts: Vec<_> = self.parts(name)?.into_iter().cloned().collect();
        parts.push(sqlparser::ast::Ident::new("*"));
        self.column(&parts)
    }

    fn access(&mut self, root: &Expr, chain: &[AccessExpr]) -> WriteResult {
        if !matches!(self.dialect, Dialect::Postgres | Dialect::Bigquery | Dialect::Joined) {
            return self.refuse_form("a field or an element of a value", root);
        }
        self.expr(root)?;
        for access in chain {
            match access {
                AccessExpr::Dot(Expr::Identifier(name)) => {
                    self.push(".");
                    self.ident(name)?;
                }
                AccessExpr::Subscript(Subscript::Index { index }) => {
                    self.prefix("[", index)?;
                    self.push("]");
                }
                AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride: None }) => {
                    self.push("[");
                    if let Some(bound) = lower_bound {
                        self.expr(bound)?;
                    }
                    self.push(":");
                    if let Some(bound) = upper_bound {
                        self.expr(bound)?;
                    }
                    self.push("]");
                }
                AccessExpr::Dot(_) | AccessExpr::Subscript(_) => {
                    return self.refuse_form("this access to a part of a value", root);
                }
            }
        }
        Ok(())
    }

    fn grouping(&mut self, word: &str, sets: &[Vec<Expr>]) -> WriteResult {
        self.list(&format!("{word} ("), sets, ")", |writer, set| match set.as_slice() {
            [one] if word != "GROUPING SETS" => writer.expr(one),
            set => writer.list("(", set, ")", Self::expr),
        })
    }
}
