//! Filter conditions on the rows of a table, the same for every source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::cause::Cause;

/// The comparison operator of a [`FilterCondition`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FilterOp {
    /// Equal; with null: has no value.
    Eq,
    /// Not equal; with null: has a value. As in SQL, rows without a value never match.
    Neq,
    /// Greater than.
    Gt,
    /// Greater than or equal to.
    Gte,
    /// Less than.
    Lt,
    /// Less than or equal to.
    Lte,
    /// Between two values, inclusive.
    Between,
    /// One of a list of values; if the list contains null, rows without a value match too. An empty list matches no row.
    In,
    /// Matches a pattern, case-insensitively: `%` is any text, `_` any character, `\` escapes the next character.
    /// SQLite ignores case for ASCII letters only.
    Like,
    /// Does not match a pattern. Not offered by tools; used in plans.
    #[serde(rename = "not_like")]
    #[schemars(skip)]
    NotLike,
}

impl FilterOp {
    /// Returns the SQL operator of those that take one value.
    pub fn operator(self) -> &'static str {
        match self {
            FilterOp::Eq | FilterOp::In => "=",
            FilterOp::Neq => "<>",
            FilterOp::Gt => ">",
            FilterOp::Gte | FilterOp::Between => ">=",
            FilterOp::Lt => "<",
            FilterOp::Lte => "<=",
            FilterOp::Like => "LIKE",
            FilterOp::NotLike => "NOT LIKE",
        }
    }
}

/// One condition on a column. An unknown result (SQL null) counts as not met.
///
/// The value is a JSON string, number or boolean; a list of two for `between`, a list for `in`.
/// Values without a JSON type are strings: dates, UUIDs, decimals of many digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterCondition {
    /// The column name, case-insensitive.
    pub column: String,
    /// The comparison operator.
    pub op: FilterOp,
    /// The value to compare with.
    #[serde(default)]
    pub value: Value,
}

/// A condition whose value has the form that its operator requires, see [`FilterCondition::test`].
#[derive(Debug, Clone, PartialEq)]
pub enum Test<'a> {
    /// The value is missing.
    Null,
    /// The value is present.
    NotNull,
    /// The value compares in this way with another one, which is neither null nor a list. The operator is one of `eq`,
    /// `neq`, `gt`, `gte`, `lt` and `lte`.
    Compare(FilterOp, &'a Value),
    /// The value is between two others, inclusive.
    Between(&'a Value, &'a Value),
    /// The value is one of a list, which may be empty.
    In {
        /// The values in the list, without null.
        values: Vec<&'a Value>,
        /// Whether a missing value meets the condition too.
        or_null: bool,
    },
    /// The text matches a pattern, case-insensitively. See [`FilterOp::Like`].
    Like(String),
    /// There is a text, and it does not match a pattern.
    NotLike(String),
}

/// Why a condition cannot be applied to a table. The message is a clause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// The table has no column of that name.
    #[error("there is no such column")]
    UnknownColumn,
    /// The value is a list or an object.
    #[error("a value must be a text, a number or a boolean")]
    Nested,
    /// The value is null, which the operator does not support.
    #[error("null can only be compared with eq, neq and in")]
    Null,
    /// The value of `between` is not a list of two.
    #[error("between needs a list of two values")]
    Between,
    /// The value of `in` is not a list.
    #[error("in needs a list of values")]
    In,
    /// The pattern of `like` ends with a backslash that escapes nothing.
    #[error("the pattern ends with a backslash that escapes nothing")]
    Backslash,
    /// The value does not fit the values of the column.
    #[error("the column contains {holds}, and `{value}` is not one")]
    Unfit {
        /// The kind of values in the column: `numbers`, `dates`.
        holds: &'static str,
        /// The value, truncated for display.
        value: String,
    },
    /// The column is boolean, and the value is not.
    #[error("the column contains true and false, and `{0}` is neither")]
    NotBoolean(String),
    /// The value starts with `\x` but is not followed by pairs of hexadecimal digits.
    #[error("the bytes must be pairs of hexadecimal digits after `\\x`")]
    Bytes,
    /// The value does not have the type of the column.
    #[error("`{value}` is not a valid {data_type}")]
    WrongType {
        /// The value, truncated for display.
        value: String,
        /// The type, as named by the source.
        data_type: String,
    },
}

impl ConditionError {
    /// Returns the error of a value that does not fit the values of the column.
    pub(crate) fn unfit(holds: &'static str, value: &str) -> Self {
        ConditionError::Unfit { holds, value: crate::display::cut(value).to_owned() }
    }

    /// Returns the machine-readable cause.
    pub(crate) fn cause(&self) -> Cause {
        match self {
            ConditionError::UnknownColumn => Cause::UnknownColumn,
            _ => Cause::Other,
        }
    }
}

impl FilterCondition {
    /// Validates the form of the value and returns the test to apply.
    ///
    /// # Errors
    /// If the value does not have the form that the operator requires.
    pub fn test(&self) -> Result<Test<'_>, ConditionError> {
        let scalar = |value: &Value| match value {
            Value::Array(_) | Value::Object(_) => Err(ConditionError::Nested),
            Value::Null => Err(ConditionError::Null),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        };
        match (self.op, &self.value) {
            (FilterOp::Eq, Value::Null) => Ok(Test::Null),
            (FilterOp::Neq, Value::Null) => Ok(Test::NotNull),
            (FilterOp::Between, Value::Array(ends)) if ends.len() == 2 => {
                ends.iter().try_for_each(scalar)?;
                Ok(Test::Between(&ends[0], &ends[1]))
            }
            (FilterOp::Between, _) => Err(ConditionError::Between),
            (FilterOp::In, Value::Array(values)) => {
                let or_null = values.iter().any(Value::is_null);
                let values: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
                values.iter().try_for_each(|value| scalar(value))?;
                Ok(Test::In { values, or_null })
            }
            (FilterOp::In, _) => Err(ConditionError::In),
            (FilterOp::Like | FilterOp::NotLike, value) => {
                scalar(value)?;
                let pattern = text(value);
                match pattern.chars().rev().take_while(|c| *c == '\\').count() % 2 {
                    0 if self.op == FilterOp::NotLike => Ok(Test::NotLike(pattern)),
                    0 => Ok(Test::Like(pattern)),
                    _ => Err(ConditionError::Backslash),
                }
            }
            (op, value) => {
                scalar(value)?;
                Ok(Test::Compare(op, value))
            }
        }
    }
}

/// Returns the value as a text.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns the value as a number, also if it is a text: `12`, `-0.5`, `1e3`.
///
/// # Errors
/// If the value is not a number.
pub(crate) fn number(value: &Value) -> Result<String, ConditionError> {
    let written = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    let plain = written.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match written.parse::<f64>() {
        Ok(number) if plain && number.is_finite() => Ok(written),
        _ => Err(ConditionError::unfit("numbers", &written)),
    }
}

/// Returns the value as a boolean, also if it is a text or 1 or 0.
///
/// # Errors
/// If the value is not a boolean.
pub fn boolean(value: &Value) -> Result<bool, ConditionError> {
    match text(value).to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "1" => Ok(true),
        "false" | "f" | "no" | "0" => Ok(false),
        other => Err(ConditionError::NotBoolean(crate::display::cut(other).to_owned())),
    }
}

/// Converts a decimal number to JSON: a number if it has few enough digits to be lossless, else a text.
pub(crate) fn decimal(text: &str) -> Value {
    let whole = || text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok();
    if !text.contains(['.', 'e', 'E']) {
        return whole().map_or_else(|| Value::String(text.to_owned()), Value::Number);
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    match text.parse::<f64>() {
        Ok(number) if digits <= 15 => crate::display::float(number),
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(op: FilterOp, value: Value, expected: Result<Test<'static>, &str>) {
        let condition = FilterCondition { column: "c".into(), op, value };
        match (condition.test(), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(found), Err(part)) => assert!(found.to_string().contains(part), "{found}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn validates_the_form_of_values() {
        check(FilterOp::Eq, json!(null), Ok(Test::Null));
        check(FilterOp::Neq, json!(null), Ok(Test::NotNull));
        check(FilterOp::Gt, json!(null), Err("null can only"));
        check(FilterOp::Eq, json!([1]), Err("must be a text"));
        check(FilterOp::Between, json!([1]), Err("list of two"));
        check(FilterOp::Between, json!([1, null]), Err("null can only"));
        check(FilterOp::In, json!(1), Err("needs a list"));
        check(FilterOp::In, json!([[1]]), Err("must be a text"));
        check(FilterOp::In, json!([null]), Ok(Test::In { values: vec![], or_null: true }));
        check(FilterOp::Like, json!(5), Ok(Test::Like("5".into())));
        check(FilterOp::Like, json!("a\\\\"), Ok(Test::Like("a\\\\".into())));
        check(FilterOp::Like, json!("a\\"), Err("backslash"));
        check(FilterOp::NotLike, json!("a%"), Ok(Test::NotLike("a%".into())));
        check(FilterOp::NotLike, json!("a\\"), Err("backslash"));
    }

    #[test]
    fn a_condition_is_read_from_json() {
        let condition: FilterCondition =
            serde_json::from_value(json!({"column": "total", "op": "between", "value": [1, 2]})).unwrap();
        assert_eq!(condition.op, FilterOp::Between);
        assert!(serde_json::from_value::<FilterCondition>(json!({"column": "c", "op": "= 1 OR"})).is_err());
    }

    #[test]
    fn accepts_only_numbers_as_numbers() {
        for good in [json!(1), json!(-0.5), json!("12345678901234567890.5"), json!(" 1e3 ")] {
            assert!(number(&good).is_ok(), "{good}");
        }
        for bad in [json!("1 OR 1"), json!("inf"), json!("0x10"), json!(""), json!(true), json!("1e999")] {
            assert!(number(&bad).is_err(), "{bad}");
        }
        assert_eq!(decimal("12.50"), json!(12.5));
        assert_eq!(decimal("12345678901234567.5"), json!("12345678901234567.5"));
        assert_eq!(decimal("18446744073709551615"), json!(u64::MAX));
        assert_eq!(decimal("NaN"), json!("NaN"));
    }
}
