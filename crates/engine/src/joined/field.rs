//! `get_field` over nested columns: the engine represents them as JSON texts, while DataFusion only supports structs.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{exec_err, plan_err};
use datafusion::error::Result;
use datafusion::functions::core::get_field;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use serde_json::Value;

use crate::guard::GET_FIELD;

/// Returns the function that replaces DataFusion's own.
pub(super) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(GetField { signature: Signature::variadic_any(Volatility::Immutable) })
}

/// Returns a field of a JSON text as text, and of a struct as DataFusion does.
#[derive(Debug, PartialEq, Eq, Hash)]
struct GetField {
    signature: Signature,
}

impl ScalarUDFImpl for GetField {
    fn name(&self) -> &str {
        GET_FIELD
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        get_field().inner().schema_name(args)
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        match args.arg_fields {
            [value, _, ..] if value.data_type().is_string() => {
                if args.scalar_arguments.iter().skip(1).any(|key| key_of(*key).is_none()) {
                    return plan_err!("the name of a field must be a text in single quotes");
                }
                Ok(Arc::new(Field::new(GET_FIELD, DataType::Utf8, true)))
            }
            _ => get_field().inner().return_field_from_args(args),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [value, keys @ ..] = args.args.as_slice() else { return exec_err!("get_field takes a value and names") };
        if !value.data_type().is_string() {
            return get_field().inner().invoke_with_args(args);
        }
        let key = |key: &ColumnarValue| match key {
            ColumnarValue::Scalar(key) => key_of(Some(key)).map(str::to_owned),
            ColumnarValue::Array(_) => None,
        };
        let Some(path) = keys.iter().map(key).collect::<Option<Vec<String>>>() else {
            return exec_err!("the name of a field must be a text in single quotes");
        };
        match value {
            ColumnarValue::Scalar(scalar) => {
                let text = scalar.try_as_str().flatten().and_then(|text| find_field(text, &path));
                Ok(ColumnarValue::Scalar(ScalarValue::Utf8(text)))
            }
            ColumnarValue::Array(array) => Ok(ColumnarValue::Array(find_fields(array, &path)?)),
        }
    }
}

fn key_of(key: Option<&ScalarValue>) -> Option<&str> {
    key?.try_as_str().flatten()
}

fn find_fields(array: &ArrayRef, path: &[String]) -> Result<ArrayRef> {
    let texts = cast(array, &DataType::Utf8)?;
    let Some(texts) = texts.as_any().downcast_ref::<StringArray>() else { return exec_err!("expected a text") };
    Ok(Arc::new(texts.iter().map(|text| find_field(text?, path)).collect::<StringArray>()))
}

/// Returns the field of a JSON text: the characters of a text, the JSON of other values; `None` if there is no such field.
fn find_field(text: &str, path: &[String]) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let found = path.iter().try_fold(&value, |value, key| value.get(key))?;
    match found {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
