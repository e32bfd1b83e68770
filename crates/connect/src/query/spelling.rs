//! Text form of conditions and sort orders, which is parsed back to the same value.

use std::fmt;

use serde_json::Value;

use super::{Condition, Order};
use crate::filter::{FilterCondition, FilterOp};

/// `name desc`.
impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.by)?;
        if self.descending { f.write_str(" desc") } else { Ok(()) }
    }
}

/// `a = 1 and (b = 2 or c = 3)`.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (several, word) = match self {
            Condition::One(one) => return write!(f, "{one}"),
            Condition::All(several) => (several, " and "),
            Condition::Any(several) => (several, " or "),
        };
        for (at, condition) in several.iter().enumerate() {
            if at > 0 {
                f.write_str(word)?;
            }
            match condition {
                Condition::One(one) => write!(f, "{one}")?,
                joined => write!(f, "({joined})")?,
            }
        }
        Ok(())
    }
}

/// `db.t.c >= 5`.
impl fmt::Display for FilterCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = &self.column;
        match (self.op, &self.value) {
            (FilterOp::Eq, Value::Null) => write!(f, "{column} is null"),
            (FilterOp::Neq, Value::Null) => write!(f, "{column} is not null"),
            (FilterOp::Between, Value::Array(ends)) => {
                let ends: Vec<String> = ends.iter().map(spell).collect();
                write!(f, "{column} between {}", ends.join(" and "))
            }
            // The column of an earlier result, with whose values it is compared.
            (FilterOp::In, Value::String(output)) => write!(f, "{column} in {output}"),
            (FilterOp::In, value) => write!(f, "{column} in {}", spell(value)),
            (FilterOp::Neq, Value::Array(values)) => match values.as_slice() {
                [Value::String(output)] => write!(f, "{column} not in {output}"),
                _ => write!(f, "{column} not in {}", spell(&self.value)),
            },
            (op, value) => write!(f, "{column} {} {}", op.operator().to_lowercase(), spell(value)),
        }
    }
}

/// Formats a value, a list, or a column reference.
fn spell(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Array(values) => format!("({})", values.iter().map(spell).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => fields.get("column").and_then(Value::as_str).unwrap_or_default().to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use super::*;
    use crate::query::read_conditions;

    fn check<T: DeserializeOwned + fmt::Display>(written: Value, expected: &str) {
        assert_eq!(serde_json::from_value::<T>(written).unwrap().to_string(), expected);
    }

    #[test]
    fn prints_orders_in_short() {
        check::<Order>(json!({"by": "total", "descending": true}), "total desc");
    }

    #[test]
    fn printed_conditions_are_parsed_back() {
        for text in [
            "a.b.c = 'O''Brien'",
            "a.b.c <> 5",
            "a.b.c is null",
            "a.b.c is not null",
            "a.b.c between '2025-01-01' and '2025-03-31'",
            "a.b.c in ('x', 'y')",
            "a.b.c in step_1_results.c",
            "a.b.c not in step_1_results.c",
            "a.b.c like '%x%'",
            "a.b.c not like 'x_'",
            "month(a.b.d) = 12",
            "a.b.c > a.b.d",
            "a.b.c = 1 or (a.b.d = 2 and a.b.e = 3)",
        ] {
            let conditions = read_conditions(json!([text])).unwrap();
            let printed: Vec<String> = conditions.iter().map(Condition::to_string).collect();
            assert_eq!(printed, [text]);
        }
    }
}
