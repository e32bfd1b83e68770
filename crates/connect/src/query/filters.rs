//! Filters in JSON and text, combined with AND: `a = 1 and (b = 2 or b = 3)`, `{"or": [..]}`.

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Map, Value};

use super::text::{self, NotRead};
use crate::filter::{FilterCondition, FilterOp};

/// Maximum nesting depth; each parenthesis, `and` and `or` counts as one level.
const MAX_DEPTH: usize = 32;

/// The JSON keys that join a list of conditions, and whether they mean OR.
const JOINS: [(&str, bool); 4] = [("or", true), ("any", true), ("and", false), ("all", false)];

/// Deserializes conditions that are combined with AND. Each is an object, a text such as `country = 'DE' or country =
/// 'FR'`, or `{"or": [..]}` of those. Alternatives must be values of one column. A text may expand to several conditions:
/// `not in ('a', 'b')`.
///
/// # Errors
/// If an entry cannot be parsed; the message shows the syntax.
pub fn read_filters<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<FilterCondition>, D::Error> {
    let written: Option<Vec<Value>> = Option::deserialize(from)?;
    let all = written.unwrap_or_default().iter().map(|one| read(one, 0)).collect::<Result<Vec<_>, _>>();
    Ok(all.map_err(D::Error::custom)?.concat())
}

/// Parses an object, a text, or an object with a list under `or` or `and`.
fn read(written: &Value, depth: usize) -> Result<Vec<FilterCondition>, NotRead> {
    if depth > MAX_DEPTH {
        return Err(NotRead::Depth);
    }
    match written {
        Value::String(text) => read_text(text, depth),
        Value::Object(fields) => match JOINS.iter().find(|(word, _)| fields.contains_key(*word)) {
            Some((word, true)) => merge(read_joined(fields, word, depth)?),
            Some((word, false)) => Ok(read_joined(fields, word, depth)?.concat()),
            None => Ok(vec![text::plain(FilterCondition::deserialize(written)?)]),
        },
        other => Err(NotRead::Filter(other.to_string())),
    }
}

fn read_joined(fields: &Map<String, Value>, word: &str, depth: usize) -> Result<Vec<Vec<FilterCondition>>, NotRead> {
    let wrong = || NotRead::Joined(word.to_owned());
    let several = fields.get(word).and_then(Value::as_array).ok_or_else(wrong)?;
    if fields.len() > 1 || several.is_empty() {
        return Err(wrong());
    }
    several.iter().map(|one| read(one, depth + 1)).collect()
}

/// Parses a text; `and` takes precedence over `or`.
fn read_text(text: &str, depth: usize) -> Result<Vec<FilterCondition>, NotRead> {
    if depth > MAX_DEPTH {
        return Err(NotRead::Depth);
    }
    let read_each = |parts: Vec<&str>| -> Result<Vec<Vec<FilterCondition>>, NotRead> {
        parts.into_iter().map(|part| read_text(part, depth + 1)).collect()
    };
    let parts = text::split_at_word(text, "or");
    if parts.len() > 1 {
        return merge(read_each(parts)?);
    }
    let parts = text::split_at_word(text, "and");
    if parts.len() > 1 {
        return Ok(read_each(parts)?.concat());
    }
    match text::strip_brackets(text) {
        Some(inner) => read_text(inner, depth + 1),
        None => text::read_filters(text),
    }
}

/// Merges alternatives into a list of the values of their column.
fn merge(mut alternatives: Vec<Vec<FilterCondition>>) -> Result<Vec<FilterCondition>, NotRead> {
    if alternatives.len() == 1 {
        return Ok(alternatives.remove(0));
    }
    let (mut column, mut values) = (None, Vec::new());
    for alternative in alternatives {
        let [single] = <[FilterCondition; 1]>::try_from(alternative).map_err(|_| NotRead::Alternatives)?;
        if !single.column.eq_ignore_ascii_case(column.get_or_insert_with(|| single.column.clone())) {
            return Err(NotRead::Alternatives);
        }
        match (single.op, single.value) {
            (FilterOp::In, Value::Array(more)) => values.extend(more),
            (FilterOp::Eq, value) if !value.is_array() && !value.is_object() => values.push(value),
            _ => return Err(NotRead::Alternatives),
        }
    }
    let column = column.unwrap_or_default();
    Ok(vec![FilterCondition { column, op: FilterOp::In, value: Value::Array(values) }])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(written: Value) -> Result<Value, String> {
        read_filters(json!([written])).map(|filters| json!(filters)).map_err(|error| error.to_string())
    }

    fn eq(column: &str, value: Value) -> Value {
        json!({"column": column, "op": "eq", "value": value})
    }

    fn among(column: &str, values: Value) -> Value {
        json!({"column": column, "op": "in", "value": values})
    }

    fn check(written: Value, expected: Value) {
        assert_eq!(read(written.clone()), Ok(expected), "{written}");
    }

    fn refuse(written: Value, part: &str) {
        let error = read(written.clone()).expect_err(&written.to_string());
        assert!(error.contains(part), "{written}: {error}");
    }

    #[test]
    fn alternatives_on_one_column_are_a_list() {
        for written in [
            json!("t.a = 1 or t.a = 2"),
            json!("(t.a=1)OR(T.A=2)"),
            json!("((t.a = 1\nor\nt.a = 2))"),
            json!({"or": ["t.a = 1", {"column": "t.a", "op": "eq", "value": 2}]}),
            json!({"any": [{"all": ["t.a = 1"]}, "t.a = 2"]}),
        ] {
            check(written, json!([among("t.a", json!([1, 2]))]));
        }
        check(json!({"or": ["t.a = 1"]}), json!([eq("t.a", json!(1))]));
        let list = json!([among("country", json!(["DE", "FR", null]))]);
        check(json!("country = 'DE' or country in ('FR') or country is null"), list);
        for text in ["country = 'DE' or town = 'Bonn'", "total > 5 or total = 1", "a = 1 or a not in (2, 3)"] {
            refuse(json!(text), "same column");
        }
    }

    #[test]
    fn and_binds_tighter_than_or() {
        let (a, c) = (among("t.a", json!([1, 2, 4])), eq("t.c", json!(3)));
        check(json!("t.c = 3 and (t.a = 1 or (t.a = 2 or t.a = 4))"), json!([c, a]));
        check(json!({"and": ["t.a in (1, 2) or t.a = 4", "t.c = 3"]}), json!([a, c]));
        refuse(json!("t.c = 3 and t.a = 1 or t.a = 2"), "same column");
    }

    #[test]
    fn ignores_conjunctions_in_quotes_ranges_and_lists() {
        check(json!("t.a = 'this or that'"), json!([eq("t.a", json!("this or that"))]));
        check(
            json!("t.a = 'O''Brien or so' or t.a = \"x and (y\""),
            json!([among("t.a", json!(["O'Brien or so", "x and (y"]))]),
        );
        check(json!("t.a = O'Brien or t.a = 'x'"), json!([among("t.a", json!(["O'Brien", "x"]))]));
        check(
            json!("t.a between 1 and 5 and t.b between '2 and 3' and 'x or y' and t.or = 1"),
            json!([
                {"column": "t.a", "op": "between", "value": [1, 5]},
                {"column": "t.b", "op": "between", "value": ["2 and 3", "x or y"]},
                eq("t.or", json!(1))
            ]),
        );
        check(json!("t.b in ('and', 'or') or t.b = 1"), json!([among("t.b", json!(["and", "or", 1]))]));
        check(json!("t.\"this or that\" = 1"), json!([eq("t.this or that", json!(1))]));
    }

    #[test]
    fn rejects_invalid_conditions() {
        for written in [
            "t.a = 1 or",
            "or t.a = 1",
            "t.a = 1 or or t.a = 2",
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
}
