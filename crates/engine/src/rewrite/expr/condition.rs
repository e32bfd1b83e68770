//! Conditions: comparisons with one or more values, patterns, and EXISTS.

use sqlparser::ast::{BinaryOperator, Expr, Spanned, ValueWithSpan};

use crate::Dialect;
use crate::rewrite::{WriteResult, Writer, reject};

impl Writer<'_> {
    /// Renders a condition, or another form.
    pub(super) fn condition(&mut self, expr: &Expr) -> WriteResult {
        match expr {
            Expr::IsFalse(inner) => self.postfix(inner, " IS FALSE"),
            Expr::IsNotFalse(inner) => self.postfix(inner, " IS NOT FALSE"),
            Expr::IsTrue(inner) => self.postfix(inner, " IS TRUE"),
            Expr::IsNotTrue(inner) => self.postfix(inner, " IS NOT TRUE"),
            Expr::IsNull(inner) => self.postfix(inner, " IS NULL"),
            Expr::IsNotNull(inner) => self.postfix(inner, " IS NOT NULL"),
            Expr::IsUnknown(inner) => self.postfix(inner, " IS UNKNOWN"),
            Expr::IsNotUnknown(inner) => self.postfix(inner, " IS NOT UNKNOWN"),
            Expr::IsDistinctFrom(left, right) => self.infix(left, " IS DISTINCT FROM ", right),
            Expr::IsNotDistinctFrom(left, right) => self.infix(left, " IS NOT DISTINCT FROM ", right),
            Expr::InList { expr, list, negated } => {
                self.expr(expr)?;
                self.list(if *negated { " NOT IN (" } else { " IN (" }, list, ")", Self::expr)
            }
            Expr::InSubquery { expr, subquery, negated } => {
                self.expr(expr)?;
                self.push(if *negated { " NOT IN " } else { " IN " });
                self.subquery(subquery)
            }
            Expr::InUnnest { expr, array_expr, negated } if self.dialect == Dialect::Bigquery => {
                self.expr(expr)?;
                self.prefix(if *negated { " NOT IN UNNEST(" } else { " IN UNNEST(" }, array_expr)?;
                self.end(")")
            }
            Expr::Between { expr, negated, low, high } => {
                self.expr(expr)?;
                self.push(if *negated { " NOT BETWEEN " } else { " BETWEEN " });
                self.infix(low, " AND ", high)
            }
            Expr::Like { negated, any: false, expr, pattern, escape_char } => {
                self.like(expr, *negated, "LIKE", pattern, escape_char.as_ref())
            }
            Expr::ILike { expr, .. } if !matches!(self.dialect, Dialect::Postgres | Dialect::Joined) => {
                let message = format!("ILIKE is not supported in {}", self.dialect.as_str());
                reject(message, expr.span(), "use LOWER(x) LIKE '...' with the pattern in lower case")
            }
            Expr::ILike { negated, any: false, expr, pattern, escape_char } => {
                self.like(expr, *negated, "ILIKE", pattern, escape_char.as_ref())
            }
            Expr::SimilarTo { negated, expr, pattern, escape_char } => {
                self.like(expr, *negated, "SIMILAR TO", pattern, escape_char.as_ref())
            }
            Expr::RLike { negated, expr, pattern, regexp } => {
                self.like(expr, *negated, if *regexp { "REGEXP" } else { "RLIKE" }, pattern, None)
            }
            Expr::AnyOp { left, compare_op, right, is_some } => {
                self.quantify(left, compare_op, if *is_some { "SOME" } else { "ANY" }, right)
            }
            Expr::AllOp { left, compare_op, right } => self.quantify(left, compare_op, "ALL", right),
            Expr::Exists { subquery, negated } => {
                self.push(if *negated { "NOT EXISTS " } else { "EXISTS " });
                self.subquery(subquery)
            }
            Expr::MemberOf(member) if self.dialect == Dialect::Mysql => {
                self.infix(&member.value, " MEMBER OF (", &member.array)?;
                self.end(")")
            }
            _ => self.special_form(expr),
        }
    }

    fn like(
        &mut self,
        expr: &Expr,
        negated: bool,
        word: &str,
        pattern: &Expr,
        escape: Option<&ValueWithSpan>,
    ) -> WriteResult {
        self.expr(expr)?;
        self.push(if negated { " NOT " } else { " " });
        self.push(word);
        self.prefix(" ", pattern)?;
        if let Some(escape) = escape {
            self.push(" ESCAPE ");
            self.value(escape)?;
        }
        Ok(())
    }

    fn quantify(&mut self, left: &Expr, operator: &BinaryOperator, word: &str, right: &Expr) -> WriteResult {
        self.expr(left)?;
        self.operator(operator, right)?;
        self.push(&format!(" {word} "));
        match right {
            Expr::Subquery(query) => self.subquery(query),
            Expr::Nested(inner) => self.enclose(inner),
            other => self.enclose(other),
        }
    }
}
