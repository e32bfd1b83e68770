//! What a step says as the short text that stands for it: what is printed is read as the same.

use std::fmt;

use serde_json::Value;

use super::{Aggregation, Condition, Group, Measure, Order};
use crate::filter::{FilterCondition, FilterOp};

/// `sum(db.t.c) as name`.
impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.column.as_deref();
        match (&self.expression, self.aggregation) {
            (Some(expression), _) => f.write_str(expression)?,
            (None, Some(Aggregation::CountDistinct)) => write!(f, "count(distinct {})", column.unwrap_or_default())?,
            (None, Some(aggregation)) => write!(f, "{}({})", aggregation.as_str(), column.unwrap_or("*"))?,
            (None, None) => f.write_str(column.unwrap_or_default())?,
        }
        write_name(f, self.name.as_deref())
    }
}

/// `quarter(db.t.day) as name`.
impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Some(part) => write!(f, "{}({})", part.as_str(), self.column)?,
            None => f.write_str(&self.column)?,
        }
        write_name(f, self.name.as_deref())
    }
}

fn write_name(f: &mut fmt::Formatter<'_>, name: Option<&str>) -> fmt::Result {
    name.map_or(Ok(()), |name| write!(f, " as {name}"))
}

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
            // The column of an earlier output, whose values it is compared with.
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

/// A value, a list of them, or the column that stands in the place of one.
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
    fn measures_groups_and_orders_are_told_in_short() {
        check::<Measure>(json!({"aggregation": "sum", "column": "a.b.c", "name": "total"}), "sum(a.b.c) as total");
        check::<Measure>(json!({"aggregation": "count"}), "count(*)");
        check::<Measure>(json!({"aggregation": "count_distinct", "column": "a.b.c"}), "count(distinct a.b.c)");
        check::<Measure>(
            json!({"expression": "sum(a.b.c) / count(*)", "name": "mean"}),
            "sum(a.b.c) / count(*) as mean",
        );
        check::<Group>(json!({"column": "a.b.d", "part": "year_month", "name": "month"}), "year_month(a.b.d) as month");
        check::<Group>(json!({"column": "a.b.c"}), "a.b.c");
        check::<Order>(json!({"by": "total", "descending": true}), "total desc");
    }

    #[test]
    fn a_condition_is_printed_as_it_is_read() {
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
