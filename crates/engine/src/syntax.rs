//! Helpers over the syntax tree: chains of operators, literals, names, and function calls.

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, JoinConstraint,
    JoinOperator, ObjectName, SelectItem, UnaryOperator, Value, ValueWithSpan,
};

use crate::Dialect;

/// A function call with plain arguments and nothing else.
pub(crate) struct Call<'a> {
    /// In lower case, without a schema.
    pub(crate) name: String,
    pub(crate) arguments: Vec<&'a Expr>,
}

/// Returns the call of an expression without DISTINCT, clauses, filters and windows.
pub(crate) fn plain_call(expr: &Expr) -> Option<Call<'_>> {
    let Expr::Function(function) = expr else { return None };
    let is_plain = function.filter.is_none() && function.over.is_none() && function.within_group.is_empty();
    let arguments = match &function.args {
        FunctionArguments::None => Vec::new(),
        FunctionArguments::List(list) if list.duplicate_treatment.is_none() && list.clauses.is_empty() => {
            values(&list.args)?
        }
        FunctionArguments::List(_) | FunctionArguments::Subquery(_) => return None,
    };
    is_plain.then(|| Call { name: name_of(function), arguments })
}

/// Returns whether a column is a system column of the tables of a dialect, which no description lists.
pub(crate) fn is_system_column(dialect: Dialect, name: &str) -> bool {
    let known: &[&str] = match dialect {
        Dialect::Postgres => &["cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"],
        Dialect::Mysql => &["_rowid"],
        // `rank` is a column of full-text search tables.
        Dialect::Sqlite => &["_rowid_", "oid", "rank", "rowid"],
        Dialect::Bigquery | Dialect::Joined => &[],
    };
    known.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Returns the name of a function in lower case, without its schema.
pub(crate) fn name_of(function: &Function) -> String {
    last_part(&function.name).map(|name| name.value.to_lowercase()).unwrap_or_default()
}

/// Returns the arguments, if all of them are plain values.
pub(crate) fn values(arguments: &[FunctionArg]) -> Option<Vec<&Expr>> {
    let values = arguments.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        FunctionArg::Unnamed(_) | FunctionArg::Named { .. } | FunctionArg::ExprNamed { .. } => None,
    });
    values.collect()
}

/// Splits a condition at its ANDs.
pub(crate) fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    operands(condition, &BinaryOperator::And)
}

/// Splits a chain of operators; parentheses around chains of the same operator are dropped.
pub(crate) fn operands<'a>(condition: &'a Expr, operator: &BinaryOperator) -> Vec<&'a Expr> {
    let (mut parts, mut rest) = (Vec::new(), vec![condition]);
    while let Some(next) = rest.pop() {
        match without_parentheses(next) {
            Expr::BinaryOp { left, op, right } if op == operator => rest.extend([right.as_ref(), left.as_ref()]),
            _ => parts.push(next),
        }
    }
    parts
}

pub(crate) fn without_parentheses(expr: &Expr) -> &Expr {
    let mut inner = expr;
    while let Expr::Nested(next) = inner {
        inner = next;
    }
    inner
}

/// Returns whether an expression is a literal.
pub(crate) fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Value(_) | Expr::TypedString(_) => true,
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => is_literal(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => is_literal(expr),
        _ => false,
    }
}

/// Returns the text of a string literal.
pub(crate) fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(value) => value.value.clone().into_string(),
        Expr::TypedString(typed) => typed.value.value.clone().into_string(),
        _ => None,
    }
}

/// Returns the text of a number literal.
pub(crate) fn number_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::Number(number, _), .. }) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the text of a number or string literal.
pub(crate) fn literal_of(expr: &Expr) -> Option<String> {
    number_of(expr).or_else(|| text_of(expr))
}

/// Returns the number of an item of GROUP BY or ORDER BY, or of a LIMIT.
pub(crate) fn count_of(expr: &Expr) -> Option<usize> {
    number_of(expr)?.parse().ok()
}

/// Returns whether a part of a name is `*`.
pub(crate) fn is_wildcard(part: &Ident) -> bool {
    part.value == "*" && part.quote_style.is_none()
}

/// Returns whether a text is a word of ASCII letters, digits and `_`.
pub(crate) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the identifiers of a name.
pub(crate) fn idents(name: &ObjectName) -> Vec<&Ident> {
    name.0.iter().filter_map(|part| part.as_ident()).collect()
}

/// Returns the last part of the name of a table or function.
pub(crate) fn last_part(name: &ObjectName) -> Option<&Ident> {
    name.0.iter().rev().find_map(|part| part.as_ident())
}

/// Returns the column of an expression that is only a name, without its qualifier.
pub(crate) fn column_name(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    }
}

/// Returns the last part of a name.
pub(crate) fn last_name(expr: &Expr) -> &str {
    column_name(expr).map(|name| name.value.as_str()).unwrap_or_default()
}

/// Returns the name of an item of a projection: its alias, or that of the column.
pub(crate) fn output_name(item: &SelectItem) -> Option<&Ident> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias),
        SelectItem::UnnamedExpr(expr) => column_name(expr),
        _ => None,
    }
}

/// Returns the item of a projection at this position, counted from 1.
pub(crate) fn value_at(projection: &[SelectItem], position: usize) -> Option<&Expr> {
    value_of(projection.get(position.checked_sub(1)?)?)
}

/// Returns the expression of an item of a projection.
pub(crate) fn value_of(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// Returns the constraint of a join.
pub(crate) fn constraint_of(operator: &JoinOperator) -> Option<&JoinConstraint> {
    use JoinOperator as J;
    match operator {
        J::Join(constraint)
        | J::Inner(constraint)
        | J::Left(constraint)
        | J::LeftOuter(constraint)
        | J::Right(constraint)
        | J::RightOuter(constraint)
        | J::FullOuter(constraint)
        | J::CrossJoin(constraint)
        | J::Semi(constraint)
        | J::LeftSemi(constraint)
        | J::RightSemi(constraint)
        | J::Anti(constraint)
        | J::LeftAnti(constraint)
        | J::RightAnti(constraint)
        | J::StraightJoin(constraint) => Some(constraint),
        _ => None,
    }
}
