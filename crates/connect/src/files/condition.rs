//! Conversion of conditions to DataFusion expressions: values are literals of the type of the column.

use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use datafusion::prelude::{ident, lit};
use serde_json::Value;

use super::column_of;
use super::value::{comparable, comparable_type, searchable};
use crate::display;
use crate::filter::{ConditionError, FilterCondition, FilterOp, Test, boolean, number, text};

/// Returns a predicate for the condition.
///
/// # Errors
/// If the value does not fit the column.
pub(super) fn expression(schema: &Schema, condition: &FilterCondition) -> Result<Expr, ConditionError> {
    let (name, data_type) = column_of(schema, &condition.column).map_err(|_| ConditionError::UnknownColumn)?;
    let column = comparable(ident(name), &data_type);
    let plain = comparable_type(&data_type);
    Ok(match condition.test()? {
        Test::Null => column.is_null(),
        Test::NotNull => column.is_not_null(),
        Test::Compare(op, value) => {
            let value = literal(value, &plain)?;
            match op {
                FilterOp::Neq => column.not_eq(value),
                FilterOp::Gt => column.gt(value),
                FilterOp::Gte => column.gt_eq(value),
                FilterOp::Lt => column.lt(value),
                FilterOp::Lte => column.lt_eq(value),
                FilterOp::Eq | FilterOp::Between | FilterOp::In | FilterOp::Like | FilterOp::NotLike => {
                    column.eq(value)
                }
            }
        }
        Test::Between(low, high) => column.between(literal(low, &plain)?, literal(high, &plain)?),
        Test::In { values, or_null } => {
            let values = values.into_iter().map(|value| literal(value, &plain)).collect::<Result<Vec<_>, _>>()?;
            let among = if values.is_empty() { lit(false) } else { column.clone().in_list(values, false) };
            if or_null { among.or(column.is_null()) } else { among }
        }
        Test::Like(pattern) => searchable(column, &data_type).map_or(lit(false), |text| text.ilike(lit(pattern))),
        Test::NotLike(pattern) => searchable(column.clone(), &data_type)
            .map_or_else(|| column.is_not_null(), |text| text.not_ilike(lit(pattern))),
    })
}

fn literal(value: &Value, data_type: &DataType) -> Result<Expr, ConditionError> {
    let wrong_type = |text: &str, data_type: &DataType| ConditionError::WrongType {
        value: display::cut(text).to_owned(),
        data_type: data_type.to_string(),
    };
    let decimal = |text: String| {
        let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len()).min(38) as i8;
        let decimal = DataType::Decimal128(38, scale);
        ScalarValue::try_from_string(text.clone(), &decimal).map(lit).map_err(|_| wrong_type(&text, &decimal))
    };
    match data_type {
        _ if data_type.is_integer() || data_type.is_decimal() => {
            let number = number(value)?;
            match number.parse::<i64>() {
                Ok(whole) => Ok(lit(whole)),
                Err(_) if number.contains(['e', 'E']) => Ok(lit(number.parse::<f64>().unwrap_or(f64::NAN))),
                Err(_) => decimal(number),
            }
        }
        _ if data_type.is_floating() => Ok(lit(number(value)?.parse::<f64>().unwrap_or(f64::NAN))),
        DataType::Boolean => Ok(lit(boolean(value)?)),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            let text = text(value);
            let bytes =
                text.strip_prefix("\\x").map(display::bytes_of).unwrap_or_else(|| Some(text.clone().into_bytes()));
            bytes.map(|bytes| lit(ScalarValue::Binary(Some(bytes)))).ok_or(ConditionError::Bytes)
        }
        _ if data_type.is_string() => Ok(lit(text(value))),
        // Dates and times.
        _ => {
            let text = text(value);
            let scalar = ScalarValue::try_from_string(text.clone(), data_type);
            scalar.map(lit).map_err(|_| wrong_type(&text, data_type))
        }
    }
}
