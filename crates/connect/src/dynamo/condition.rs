//! Conversion of conditions to DynamoDB expressions. Names and values are bound; expressions contain only placeholders.
//! Returned items are tested again, so an expression may match more items than the condition, but never fewer.

use serde_json::{Map, Value, json};

use super::{Names, find_placeholders};
use crate::filter::{FilterOp, Test, number};
use crate::statement::TypedColumn;

/// Maximum number of values in a list of DynamoDB.
const MAX_LIST: usize = 100;

/// The bound values, in order.
#[derive(Debug, Default)]
pub(super) struct Expression(Vec<Value>);

impl Expression {
    /// Binds a value and returns its placeholder.
    pub(super) fn bind(&mut self, value: Value) -> String {
        self.0.push(value);
        format!(":v{}", self.0.len() - 1)
    }

    /// Returns the values used in the request; DynamoDB rejects unused ones.
    pub(super) fn json(&self, request: &Map<String, Value>) -> Option<Value> {
        let written = find_placeholders(request);
        let bound = self.0.iter().enumerate().map(|(at, value)| (format!(":v{at}"), value.clone()));
        let bound: Map<String, Value> = bound.filter(|(name, _)| written.contains(name)).collect();
        (!bound.is_empty()).then(|| bound.into())
    }

    /// Returns an expression for the test, if there is one.
    pub(super) fn filter(&mut self, field: &TypedColumn, test: &Test<'_>, names: &mut Names) -> Option<String> {
        // Paths do not lead into list items.
        if field.data_type.contains("[]") || field.data_type.contains("array") {
            return None;
        }
        let name = &field.name;
        match test {
            Test::Null => {
                let (path, null) = (names.path(name), self.bind(json!({"S": "NULL"})));
                Some(format!("(attribute_not_exists({path}) OR attribute_type({path}, {null}))"))
            }
            Test::NotNull | Test::Like(_) | Test::NotLike(_) | Test::Compare(FilterOp::Neq, _) => {
                Some(format!("attribute_exists({})", names.path(name)))
            }
            Test::Compare(op, value) => {
                let path = names.path(name);
                let operator = operator(*op);
                let readings = readings(value).into_iter().filter(|value| *op == FilterOp::Eq || is_ordered(value));
                let any: Vec<String> =
                    readings.map(|value| format!("{path} {operator} {}", self.bind(value))).collect();
                one_of(any)
            }
            Test::Between(low, high) => {
                let (lows, highs) = (readings(low), readings(high));
                let path = names.path(name);
                let mut any = Vec::new();
                for low in lows.iter().filter(|low| is_ordered(low)) {
                    let letter = low.as_object().and_then(|value| value.keys().next().cloned())?;
                    if let Some(high) = highs.iter().find(|high| high.get(&letter).is_some()) {
                        let (low, high) = (self.bind(low.clone()), self.bind(high.clone()));
                        any.push(format!("({path} >= {low} AND {path} <= {high})"));
                    }
                }
                one_of(any)
            }
            Test::In { values, or_null } => {
                let list: Vec<Value> = values.iter().flat_map(|value| readings(value)).collect();
                if list.is_empty() || list.len() > MAX_LIST {
                    return None;
                }
                let path = names.path(name);
                let bound: Vec<String> = list.into_iter().map(|value| self.bind(value)).collect();
                let among = format!("{path} IN ({})", bound.join(", "));
                Some(match or_null {
                    true => {
                        let null = self.bind(json!({"S": "NULL"}));
                        format!("({among} OR attribute_not_exists({path}) OR attribute_type({path}, {null}))")
                    }
                    false => among,
                })
            }
        }
    }
}

fn operator(op: FilterOp) -> &'static str {
    match op {
        FilterOp::Gt => ">",
        FilterOp::Gte => ">=",
        FilterOp::Lt => "<",
        FilterOp::Lte => "<=",
        FilterOp::Eq | FilterOp::Neq | FilterOp::Between | FilterOp::In | FilterOp::Like | FilterOp::NotLike => "=",
    }
}

/// Joins conditions with OR; DynamoDB rejects redundant parentheses.
fn one_of(mut conditions: Vec<String>) -> Option<String> {
    match conditions.len() {
        0 | 1 => conditions.pop(),
        _ => Some(format!("({})", conditions.join(" OR "))),
    }
}

/// Whether values of the type have an order; booleans do not.
fn is_ordered(value: &Value) -> bool {
    value.get("BOOL").is_none()
}

/// Returns all attribute values that the value may denote.
fn readings(value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Value::Bool(yes) => return vec![json!({"BOOL": yes})],
        Value::String(text) => {
            found.push(json!({"S": text}));
            // `true`, `t`, `yes` and `1` are booleans too.
            found.extend(crate::filter::boolean(value).ok().map(|yes| json!({"BOOL": yes})));
        }
        // A number may be stored as a boolean.
        Value::Number(_) => found.extend(crate::filter::boolean(value).ok().map(|yes| json!({"BOOL": yes}))),
        _ => {}
    }
    found.extend(number(value).ok().map(|number| json!({"N": number})));
    found
}

/// Returns the value as a partition key of that type; `None` if no such key can exist.
pub(super) fn key_value(letter: &str, value: &Value) -> Option<Value> {
    match (letter, value) {
        ("S", Value::String(text)) if !text.is_empty() => Some(json!({"S": text})),
        ("N", value) => number(value).ok().map(|number| json!({"N": number})),
        ("B", Value::String(text)) => super::value::bytes(text).map(|bytes| json!({"B": bytes})),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::FilterCondition;

    #[track_caller]
    fn check(data_type: &str, op: FilterOp, value: Value, expected: Option<&str>, values: Value) {
        let condition = FilterCondition { column: "a.size".into(), op, value };
        let field = TypedColumn { name: "a.size".into(), data_type: data_type.into() };
        let (mut expression, mut names) = (Expression::default(), Names::default());
        let filter = expression.filter(&field, &condition.test().unwrap(), &mut names);
        assert_eq!(filter.as_deref(), expected);
        let request = Map::from_iter([("FilterExpression".to_owned(), json!(filter))]);
        assert_eq!(expression.json(&request).unwrap_or_default(), values);
        let bound = if filter.is_some() { json!({"#n0": "a", "#n1": "size"}) } else { json!({}) };
        assert_eq!(names.json(&request), bound);
    }

    #[test]
    fn expressions_contain_only_placeholders() {
        let smuggled = "1 OR attribute_exists(secret)";
        let bound = json!({":v0": {"S": smuggled}});
        check("string", FilterOp::Eq, json!(smuggled), Some("#n0.#n1 = :v0"), bound);
        check("string", FilterOp::Gte, json!(1), Some("#n0.#n1 >= :v0"), json!({":v0": {"N": "1"}}));
        let two = json!({":v0": {"S": "5"}, ":v1": {"N": "5"}});
        check("string", FilterOp::Gt, json!("5"), Some("(#n0.#n1 > :v0 OR #n0.#n1 > :v1)"), two);
        check(
            "string",
            FilterOp::Between,
            json!(["a", "5"]),
            Some("(#n0.#n1 >= :v0 AND #n0.#n1 <= :v1)"),
            json!({":v0": {"S": "a"}, ":v1": {"S": "5"}}),
        );
        check("string", FilterOp::Like, json!("a%"), Some("attribute_exists(#n0.#n1)"), json!(null));
        check("string[]", FilterOp::Eq, json!("a"), None, json!(null));
        check("string", FilterOp::In, json!([]), None, json!(null));
        check("string", FilterOp::In, json!((0..200).collect::<Vec<_>>()), None, json!(null));
    }
}
