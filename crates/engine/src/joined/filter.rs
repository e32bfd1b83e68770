//! Predicate pushdown: the conditions of a plan that a source can evaluate. The engine evaluates each of them again, so a
//! source may return more rows than match, but never fewer.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator, expr::InList};
use prospector_connect::filter::{FilterCondition, FilterOp};
use serde_json::{Value, json};

/// The maximum length of a list that is pushed down.
pub(super) const MAX_LIST: usize = 500;

/// A column that conditions may refer to.
pub(crate) struct FilteredColumn<'a> {
    /// The name in the source.
    pub(crate) name: &'a str,
    pub(crate) data_type: &'a DataType,
    /// Whether texts that are equal here are also equal in the source.
    pub(crate) compares_texts: bool,
}

/// Returns the equivalent condition for the source, if it has one.
pub(crate) fn condition<'a>(
    expression: &Expr,
    column: &impl Fn(&str) -> Option<FilteredColumn<'a>>,
) -> Option<FilterCondition> {
    let of = |expression: &Expr| match expression {
        Expr::Column(named) => column(&named.name),
        _ => None,
    };
    let made = |name: &str, op, value| Some(FilterCondition { column: name.to_owned(), op, value });
    match expression {
        Expr::IsNull(inner) => made(of(inner)?.name, FilterOp::Eq, Value::Null),
        Expr::IsNotNull(inner) => made(of(inner)?.name, FilterOp::Neq, Value::Null),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (column, op, value) = match (of(left), of(right)) {
                (Some(column), None) => (column, *op, right.as_ref()),
                (None, Some(column)) => (column, op.swap()?, left.as_ref()),
                _ => return None,
            };
            let op = match op {
                Operator::Eq => FilterOp::Eq,
                Operator::Gt => FilterOp::Gt,
                Operator::GtEq => FilterOp::Gte,
                Operator::Lt => FilterOp::Lt,
                Operator::LtEq => FilterOp::Lte,
                _ => return None,
            };
            made(column.name, op, literal(value, &column, op)?)
        }
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let column = of(expr)?;
            let end = |value| literal(value, &column, FilterOp::Between);
            made(column.name, FilterOp::Between, json!([end(low)?, end(high)?]))
        }
        Expr::InList(InList { expr, list, negated: false }) if list.len() <= MAX_LIST => {
            let column = of(expr)?;
            let values: Option<Vec<Value>> = list.iter().map(|value| literal(value, &column, FilterOp::In)).collect();
            made(column.name, FilterOp::In, values?.into())
        }
        _ => None,
    }
}

/// Returns the value, if the source compares it with the column as this engine does.
fn literal(expression: &Expr, column: &FilteredColumn<'_>, op: FilterOp) -> Option<Value> {
    let Expr::Literal(scalar, _) = expression else { return None };
    let is_order = !matches!(op, FilterOp::Eq | FilterOp::In);
    match (column.data_type, scalar) {
        // Every source orders texts differently.
        (DataType::Utf8, ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)))
            if !is_order && column.compares_texts =>
        {
            Some(text.clone().into())
        }
        (DataType::Int64, ScalarValue::Int64(Some(number))) => Some((*number).into()),
        // The shown value of a number may be rounded down.
        (DataType::Float64, ScalarValue::Float64(Some(number))) if is_order && number.is_finite() => {
            let slack = (number.abs() * 1e-6).max(f64::MIN_POSITIVE);
            match op {
                FilterOp::Gt | FilterOp::Gte => Some((number - slack).into()),
                FilterOp::Lt | FilterOp::Lte => Some((number + slack).into()),
                _ => None,
            }
        }
        (DataType::Decimal128(..), ScalarValue::Decimal128(Some(_), ..)) => Some(scalar.to_string().into()),
        (DataType::Date32, ScalarValue::Date32(Some(_))) => Some(scalar.to_string().into()),
        _ => None,
    }
}
