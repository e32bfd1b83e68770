//! Conditions on the rows of a table, the same for every source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::cause::Cause;

/// How a [`FilterCondition`] compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FilterOp {
    /// Equal; with null: has no value.
    Eq,
    /// Not equal; with null: has a value. Rows without a value are not unequal to anything, as in SQL.
    Neq,
    /// Greater than.
    Gt,
    /// Greater than or equal to.
    Gte,
    /// Less than.
    Lt,
    /// Less than or equal to.
    Lte,
    /// From the first to the second of two values, both included.
    Between,
    /// One of a list of values; null among them: or has no value. An empty list meets no row.
    In,
    /// A text like a pattern, whatever its case: `%` is any text, `_` any character, `\` takes the next one as it is.
    /// SQLite folds the case of ASCII letters only.
    Like,
    /// A text that is not like a pattern. Tools do not offer it: plans say it.
    #[serde(rename = "not_like")]
    #[schemars(skip)]
    NotLike,
}

impl FilterOp {
    /// All comparisons.
    pub const ALL: [FilterOp; 10] = [
        FilterOp::Eq,
        FilterOp::Neq,
        FilterOp::Gt,
        FilterOp::Gte,
        FilterOp::Lt,
        FilterOp::Lte,
        FilterOp::Between,
        FilterOp::In,
        FilterOp::Like,
        FilterOp::NotLike,
    ];

    /// The operator of SQL, for those that take one value.
    pub(crate) fn operator(self) -> &'static str {
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

/// One condition on a column. A row meets it, or does not; unknown counts as not.
///
/// The value is a JSON text, number or boolean; a list of two for `between`, a list for `in`. Whatever is no number in
/// JSON is written as a text: dates, UUIDs, decimals of many digits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterCondition {
    /// The column, whatever its case.
    pub column: String,
    /// How it is compared.
    pub op: FilterOp,
    /// With what.
    #[serde(default)]
    pub value: Value,
}

/// A condition whose value has the form that its comparison needs. It is made by [`FilterCondition::test`].
#[derive(Debug, Clone, PartialEq)]
pub enum Test<'a> {
    /// There is no value.
    Null,
    /// There is a value.
    NotNull,
    /// The value compares in this way with another value, which is neither null nor a list. The operator is one of
    /// `eq`, `neq`, `gt`, `gte`, `lt` and `lte`.
    Compare(FilterOp, &'a Value),
    /// The value lies between two others, both included.
    Between(&'a Value, &'a Value),
    /// One of some values, which may be none at all.
    In {
        /// The values in the list, without null.
        values: Vec<&'a Value>,
        /// Whether a missing value meets the condition too.
        or_null: bool,
    },
    /// The text matches a pattern, whatever its case. See [`FilterOp::Like`].
    Like(String),
    /// There is a text, and it does not match a pattern.
    NotLike(String),
}

/// Why a condition cannot be tested on a table. The message is a clause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// The table has no column of that name.
    #[error("there is no such column")]
    UnknownColumn,
    /// The value is a list or an object.
    #[error("a value must be a text, a number or a boolean")]
    Nested,
    /// The value is null, and the comparison has no meaning for it.
    #[error("null can only be compared with eq, neq and in")]
    Null,
    /// The value of `between` is not a list of two.
    #[error("between needs a list of two values")]
    Between,
    /// The value of `in` is not a list.
    #[error("in needs a list of values")]
    In,
    /// The pattern of `like` ends in a backslash that escapes nothing.
    #[error("the pattern ends in a backslash that takes nothing")]
    Backslash,
    /// The value is not one of those that the column holds.
    #[error("the column holds {holds}, and `{value}` is none")]
    Unfit {
        /// What the column holds: `numbers`, `dates`.
        holds: &'static str,
        /// The value, cut to what is shown of one.
        value: String,
    },
    /// The column holds true and false, and the value is something else.
    #[error("the column holds true and false, and `{0}` is neither")]
    NotBoolean(String),
    /// The value begins with `\x`, and what follows are not pairs of hexadecimal digits.
    #[error("the bytes are wrong")]
    Bytes,
    /// The value is not of the type of the column.
    #[error("`{value}` is no {data_type}")]
    WrongType {
        /// The value, cut to what is shown of one.
        value: String,
        /// The type, as the source calls it.
        data_type: String,
    },
}

impl ConditionError {
    /// The value is not one of those that the column holds.
    pub(crate) fn unfit(holds: &'static str, value: &str) -> Self {
        ConditionError::Unfit { holds, value: crate::display::cut(value).to_owned() }
    }

    /// Why, as a cause of any failure.
    pub(crate) fn cause(&self) -> Cause {
        match self {
            ConditionError::UnknownColumn => Cause::UnknownColumn,
            ConditionError::Nested
            | ConditionError::Null
            | ConditionError::Between
            | ConditionError::In
            | ConditionError::Backslash
            | ConditionError::Unfit { .. }
            | ConditionError::NotBoolean(_)
            | ConditionError::Bytes
            | ConditionError::WrongType { .. } => Cause::Other,
        }
    }
}

impl FilterCondition {
    /// The column that it compares with in the place of a value, which only the compiler of queries can write:
    /// `{"column": "orders.shipped_on"}`.
    pub fn reference(&self) -> Option<&str> {
        let fields = self.value.as_object().filter(|fields| fields.len() == 1)?;
        fields.get("column")?.as_str()
    }

    /// Checks the form of the value and returns what has to be tested.
    ///
    /// # Errors
    /// What is wrong with the value.
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

/// The value as a text.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The value as a number, also where it is written as a text: `12`, `-0.5`, `1e3`.
///
/// # Errors
/// Says that it is none.
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

/// The value as yes or no, also where it is written as a text or as 1 and 0.
///
/// # Errors
/// Says that it is neither.
pub(crate) fn boolean(value: &Value) -> Result<bool, ConditionError> {
    match text(value).to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "1" => Ok(true),
        "false" | "f" | "no" | "0" => Ok(false),
        other => Err(ConditionError::NotBoolean(crate::display::cut(other).to_owned())),
    }
}

/// A decimal number as JSON: a number while it has few enough digits for one that loses none of them, else a text.
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
    fn a_value_must_have_the_form_that_its_comparison_needs() {
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
        for op in FilterOp::ALL {
            let word = serde_json::to_value(op).unwrap();
            assert_eq!(serde_json::from_value::<FilterOp>(word).unwrap(), op);
        }
        assert!(serde_json::from_value::<FilterCondition>(json!({"column": "c", "op": "= 1 OR"})).is_err());
    }

    #[test]
    fn numbers_are_numbers_and_nothing_else() {
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
