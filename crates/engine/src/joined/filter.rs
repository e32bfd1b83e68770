//! Which conditions of a plan a source can be asked for. The engine tests each of them again, so that a source may answer
//! with more rows than meet it, but never with fewer.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator, expr::InList};
use prospector_connect::filter::{FilterCondition, FilterOp};
use serde_json::{Value, json};

/// A longer list is not sent.
pub(super) const MAX_LIST: usize = 500;

/// A column that conditions may be about.
pub(crate) struct FilteredColumn<'a> {
    /// The name in the source.
    pub(crate) name: &'a str,
    pub(crate) data_type: &'a DataType,
    /// Whether texts are equal there whenever they are here.
    pub(crate) compares_texts: bool,
}

/// The same condition for the source, where it has one.
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

/// The value, where the source compares it with the column as it is compared here.
fn literal(expression: &Expr, column: &FilteredColumn<'_>, op: FilterOp) -> Option<Value> {
    let Expr::Literal(scalar, _) = expression else { return None };
    let is_order = !matches!(op, FilterOp::Eq | FilterOp::In);
    match (column.data_type, scalar) {
        // Texts have another order in every source.
        (DataType::Utf8, ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)))
            if !is_order && column.compares_texts =>
        {
            Some(text.clone().into())
        }
        (DataType::Int64, ScalarValue::Int64(Some(number))) => Some((*number).into()),
        // What is shown of a number may be less than it is.
        (DataType::Float64, ScalarValue::Float64(Some(number))) if is_order && number.is_finite() => {
            let slack = (number.abs() * 1e-6).max(f64::MIN_POSITIVE);
            match op {
                FilterOp::Gt | FilterOp::Gte => Some((number - slack).into()),
                FilterOp::Lt | FilterOp::Lte => Some((number + slack).into()),
                FilterOp::Eq
                | FilterOp::Neq
                | FilterOp::Between
                | FilterOp::In
                | FilterOp::Like
                | FilterOp::NotLike => None,
            }
        }
        (DataType::Decimal128(..), ScalarValue::Decimal128(Some(_), ..)) => Some(scalar.to_string().into()),
        (DataType::Date32, ScalarValue::Date32(Some(_))) => Some(scalar.to_string().into()),
        _ => None,
    }
}
