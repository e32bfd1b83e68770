//! Boolean combinations of conditions: `a = 1 and (b = 2 or c = 3)` in text, `{"or": [..]}` in JSON.

use std::iter;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::{Map, Value};

use super::text::{self, NotRead};
use crate::filter::{FilterCondition, FilterOp};

/// Maximum nesting depth; each parenthesis, `and` and `or` counts as one level.
const MAX_DEPTH: usize = 32;

/// The JSON keys that join a list of conditions, and whether they mean OR.
const JOINS: [(&str, bool); 4] = [("or", true), ("any", true), ("and", false), ("all", false)];

/// A single condition or a combination; `T` is the type of a single condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition<T = FilterCondition> {
    /// A single condition.
    One(T),
    /// All of them are met; true if empty.
    All(Vec<Condition<T>>),
    /// At least one of them is met; false if empty.
    Any(Vec<Condition<T>>),
}

impl<T> Condition<T> {
    /// Iterates over the single conditions, in order.
    pub fn singles(&self) -> Box<dyn Iterator<Item = &T> + '_> {
        match self {
            Condition::One(one) => Box::new(iter::once(one)),
            Condition::All(several) | Condition::Any(several) => {
                Box::new(several.iter().flat_map(|condition| condition.singles()))
            }
        }
    }

    /// Modifies each of the single conditions.
    pub fn change_singles(&mut self, change: &mut impl FnMut(&mut T)) {
        match self {
            Condition::One(one) => change(one),
            Condition::All(several) | Condition::Any(several) => {
                several.iter_mut().for_each(|condition| condition.change_singles(&mut *change));
            }
        }
    }

    /// Replaces each single condition.
    pub fn map<U>(&self, change: &mut impl FnMut(&T) -> Condition<U>) -> Condition<U> {
        match self {
            Condition::One(one) => change(one),
            Condition::All(several) => {
                Condition::All(several.iter().map(|condition| condition.map(&mut *change)).collect())
            }
            Condition::Any(several) => {
                Condition::Any(several.iter().map(|condition| condition.map(&mut *change)).collect())
            }
        }
    }

    /// Joins conditions with AND; a single one is returned as is.
    fn join_all(several: Vec<Condition<T>>) -> Condition<T> {
        let mut all = Vec::new();
        for condition in several {
            match condition {
                Condition::All(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        if all.len() == 1 { all.remove(0) } else { Condition::All(all) }
    }

    /// Joins conditions with OR.
    fn join_any(several: Vec<Condition<T>>) -> Condition<T> {
        let mut any = Vec::new();
        for condition in several {
            match condition {
                Condition::Any(inner) => any.extend(inner),
                other => any.push(other),
            }
        }
        if any.len() == 1 { any.remove(0) } else { Condition::Any(any) }
    }
}

impl Condition {
    /// Returns an equivalent single condition, if there is one: alternatives on one column are a list of its values.
    pub fn as_single(&self) -> Option<FilterCondition> {
        let several = match self {
            Condition::One(one) => return Some(one.clone()),
            Condition::All(several) => return if let [only] = several.as_slice() { only.as_single() } else { None },
            Condition::Any(several) => several,
        };
        let singles: Vec<FilterCondition> = several.iter().map(Condition::as_single).collect::<Option<_>>()?;
        let column = singles.first()?.column.clone();
        let mut values: Vec<Value> = Vec::new();
        for single in singles {
            if !single.column.eq_ignore_ascii_case(&column) {
                return None;
            }
            match (single.op, single.value) {
                (FilterOp::In, Value::Array(more)) => values.extend(more),
                (FilterOp::Eq, value) if !value.is_array() && !value.is_object() => values.push(value),
                _ => return None,
            }
        }
        Some(FilterCondition { column, op: FilterOp::In, value: Value::Array(values) })
    }

    /// Parses the JSON form of a condition: an object, a text, or an object with a list under `or` or `and`.
    fn read(written: &Value, depth: usize) -> Result<Condition, NotRead> {
        if depth > MAX_DEPTH {
            return Err(NotRead::Depth);
        }
        match written {
            Value::String(text) => read_text(text, depth),
            Value::Object(fields) => match JOINS.iter().find(|(word, _)| fields.contains_key(*word)) {
                Some((word, is_enough)) => {
                    let several = read_joined(fields, word, depth)?;
                    Ok(if *is_enough { Condition::join_any(several) } else { Condition::join_all(several) })
                }
                None => Ok(Condition::One(text::plain(FilterCondition::deserialize(written)?))),
            },
            other => Err(NotRead::Filter(other.to_string())),
        }
    }
}

fn read_joined(fields: &Map<String, Value>, word: &str, depth: usize) -> Result<Vec<Condition>, NotRead> {
    let wrong = || NotRead::Joined(word.to_owned());
    let several = fields.get(word).and_then(Value::as_array).ok_or_else(wrong)?;
    if fields.len() > 1 || several.is_empty() {
        return Err(wrong());
    }
    several.iter().map(|one| Condition::read(one, depth + 1)).collect()
}

/// Parses a text; `and` takes precedence over `or`.
fn read_text(text: &str, depth: usize) -> Result<Condition, NotRead> {
    if depth > MAX_DEPTH {
        return Err(NotRead::Depth);
    }
    let read_each = |parts: Vec<&str>| -> Result<Vec<Condition>, NotRead> {
        parts.into_iter().map(|part| read_text(part, depth + 1)).collect()
    };
    let parts = text::split_at_word(text, "or");
    if parts.len() > 1 {
        return Ok(Condition::join_any(read_each(parts)?));
    }
    let parts = text::split_at_word(text, "and");
    if parts.len() > 1 {
        return Ok(Condition::join_all(read_each(parts)?));
    }
    match text::strip_brackets(text) {
        Some(inner) => read_text(inner, depth + 1),
        None => Ok(Condition::join_all(text::read_filters(text)?.into_iter().map(Condition::One).collect())),
    }
}

impl From<FilterCondition> for Condition {
    fn from(one: FilterCondition) -> Self {
        Condition::One(one)
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Condition::One(one) => one.serialize(to),
            Condition::All(several) => to.collect_map([("and", several)]),
            Condition::Any(several) => to.collect_map([("or", several)]),
        }
    }
}

/// Deserializes conditions that are combined with AND. Each is an object, a text such as `db.table.column >= 5` or `a = 1
/// or b = 2`, or `{"or": [..]}` of those; a text may expand to several conditions: `not in ('a', 'b')`.
///
/// # Errors
/// If an entry cannot be parsed; the message shows the syntax.
pub fn read_conditions<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Condition>, D::Error> {
    let written: Option<Vec<Value>> = Option::deserialize(from)?;
    let mut conditions = Vec::new();
    for one in written.unwrap_or_default() {
        match Condition::read(&one, 0).map_err(D::Error::custom)? {
            Condition::All(several) => conditions.extend(several),
            condition => conditions.push(condition),
        }
    }
    Ok(conditions)
}

/// Deserializes conditions that are combined with AND, each on one column: alternatives must be values of the same
/// column.
///
/// # Errors
/// If an entry cannot be parsed; the message shows the syntax.
pub fn read_filters<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<FilterCondition>, D::Error> {
    let single = |condition: Condition| condition.as_single().ok_or(NotRead::Alternatives).map_err(D::Error::custom);
    read_conditions(from)?.into_iter().map(single).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(written: Value) -> Result<Value, String> {
        read_conditions(json!([written])).map(|conditions| json!(conditions)).map_err(|error| error.to_string())
    }

    fn eq(column: &str, value: Value) -> Value {
        json!({"column": column, "op": "eq", "value": value})
    }

    fn check(written: Value, expected: Value) {
        assert_eq!(read(written.clone()), Ok(expected.clone()), "{written}");
        // The printed form is parsed to the same condition.
        let again: Vec<Value> = expected.as_array().into_iter().flatten().cloned().collect();
        assert_eq!(read_conditions(json!(again)).map(|conditions| json!(conditions)).ok(), Some(expected), "{written}");
    }

    fn refuse(written: Value, part: &str) {
        let error = read(written.clone()).expect_err(&written.to_string());
        assert!(error.contains(part), "{written}: {error}");
    }

    #[test]
    fn parses_alternatives_from_text_and_json() {
        let either = json!([{"or": [eq("t.a", json!(1)), eq("t.b", json!(2))]}]);
        for written in [
            json!("t.a = 1 or t.b = 2"),
            json!("(t.a=1)OR(t.b=2)"),
            json!("((t.a = 1\nor\nt.b = 2))"),
            json!({"or": ["t.a = 1", {"column": "t.b", "op": "eq", "value": 2}]}),
            json!({"any": [{"all": ["t.a = 1"]}, "t.b = 2"]}),
        ] {
            check(written, either.clone());
        }
        check(json!({"or": ["t.a = 1"]}), json!([eq("t.a", json!(1))]));
        check(json!("t.a = 1 and t.b = 2"), json!([eq("t.a", json!(1)), eq("t.b", json!(2))]));
        check(json!({"and": ["t.a = 1", "t.b = 2"]}), json!([eq("t.a", json!(1)), eq("t.b", json!(2))]));
    }

    #[test]
    fn and_binds_tighter_than_or() {
        let (a, b, c) = (eq("t.a", json!(1)), eq("t.b", json!(2)), eq("t.c", json!(3)));
        check(json!("t.a = 1 or t.b = 2 and t.c = 3"), json!([{"or": [a, {"and": [b, c]}]}]));
        check(json!("t.a = 1 and t.b = 2 or t.c = 3"), json!([{"or": [{"and": [a, b]}, c]}]));
        check(json!("(t.a = 1 or t.b = 2) and t.c = 3"), json!([{"or": [a, b]}, c]));
        check(json!("t.a = 1 or (t.b = 2 or t.c = 3)"), json!([{"or": [a, b, c]}]));
    }

    #[test]
    fn ignores_conjunctions_in_quotes_ranges_and_lists() {
        check(json!("t.a = 'this or that'"), json!([eq("t.a", json!("this or that"))]));
        check(
            json!("t.a = 'O''Brien or so' or t.b = \"x and (y\""),
            json!([{"or": [eq("t.a", json!("O'Brien or so")), eq("t.b", json!("x and (y"))]}]),
        );
        check(
            json!("t.a = O'Brien or t.b = 'x'"),
            json!([{"or": [eq("t.a", json!("O'Brien")), eq("t.b", json!("x"))]}]),
        );
        check(
            json!("t.a between 1 and 5 and t.b between '2 and 3' and 'x or y' or t.or = 1"),
            json!([{"or": [{"and": [
                {"column": "t.a", "op": "between", "value": [1, 5]},
                {"column": "t.b", "op": "between", "value": ["2 and 3", "x or y"]}]}, eq("t.or", json!(1))]}]),
        );
        let neq = |value: &str| json!({"column": "t.a", "op": "neq", "value": value});
        check(
            json!("t.a not in ('x or y', 'z') or t.b in ('and', 'or')"),
            json!([{"or": [{"and": [neq("x or y"), neq("z")]},
                {"column": "t.b", "op": "in", "value": ["and", "or"]}]}]),
        );
        check(json!("t.\"this or that\" = 1"), json!([eq("t.this or that", json!(1))]));
    }

    #[test]
    fn compares_aggregates() {
        let over = |column: &str| json!([{"column": column, "op": "gt", "value": 5}]);
        for column in ["sum(t.a)", "count(*)", "count(distinct t.a)", "sum(t.a * t.b) / count(*)", "avg( t.a )"] {
            check(json!(format!("{column} > 5")), over(column));
        }
        check(json!("sum(t.a) between 1 and 5"), json!([{"column": "sum(t.a)", "op": "between", "value": [1, 5]}]));
    }

    #[test]
    fn rejects_invalid_conditions() {
        for written in [
            "t.a = 1 or",
            "or t.a = 1",
            "t.a = 1 or or t.b = 2",
            "t.a = this or that",
            "t.a = 1 || t.b = 2",
            "t.a = 1) or (t.b = 2",
            "(t.a = 1) (t.b = 2)",
            "(t.a = 1 or t.b = 2",
            "t.a = 'x or t.b = 2",
            "t.a = 'x' 'y'",
            "not (t.a = 1 or t.b = 2)",
            "t.a = 1 xor t.b = 2",
            "()",
        ] {
            refuse(json!(written), "is not a condition");
        }
        for written in [json!({"or": []}), json!({"and": "t.a = 1"}), json!({"or": ["t.a = 1"], "and": ["t.b = 2"]})] {
            refuse(written, "at least one");
        }
        refuse(json!({"or": [{"column": "t.a", "op": "resembles"}]}), "resembles");
        refuse(json!(5), "is not a condition");
        refuse(json!(format!("{}t.a = 1{}", "(".repeat(5_000), ")".repeat(5_000))), "deep");
        let nested = (0..60).fold(json!("t.a = 1"), |inner, _| json!({"or": [inner]}));
        refuse(nested, "deep");
    }

    #[test]
    fn alternatives_on_one_column_are_a_list() {
        let filters = |text: &str| read_filters(json!([text])).map(|filters| json!(filters)).map_err(|e| e.to_string());
        let list = json!([{"column": "country", "op": "in", "value": ["DE", "FR", null]}]);
        assert_eq!(filters("country = 'DE' or country in ('FR') or country is null"), Ok(list));
        for text in ["country = 'DE' or town = 'Bonn'", "total > 5 or total = 1", "a = t.b or a = 1"] {
            assert!(filters(text).unwrap_err().contains("same column"), "{text}");
        }
    }
}
