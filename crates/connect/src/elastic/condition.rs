//! Conversion of conditions to the Elasticsearch query DSL. Values are JSON values only. If the index cannot decide a
//! condition, the clause matches a superset and is marked as such.

use serde_json::{Value, json};

use super::mapping::{Field, Shape};
use crate::filter::{ConditionError, FilterOp, Test, boolean, number, text};

/// A query clause, and whether its hits must be tested again.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Clause {
    pub(super) query: Value,
    pub(super) is_wider: bool,
}

/// Returns the clause of a test on a field.
///
/// # Errors
/// If the value does not fit the field.
pub(super) fn clause(field: &Field, test: &Test<'_>) -> Result<Clause, ConditionError> {
    let plain = |query: Value| Clause { query, is_wider: false };
    match (field.shape, test) {
        (Shape::Id, test) => return Ok(of_id(test)),
        (Shape::Opaque, _) => return Ok(Clause { query: json!({"match_all": {}}), is_wider: true }),
        (_, Test::Null) => return Ok(plain(json!({"bool": {"must_not": [exists(field)]}}))),
        (_, Test::NotNull) => return Ok(plain(exists(field))),
        (_, Test::Compare(..) | Test::Between(..) | Test::In { .. } | Test::Like(_) | Test::NotLike(_)) => {}
    }
    if let Test::In { values, or_null } = test {
        let mut any = Vec::new();
        let mut is_wider = false;
        if !values.is_empty() {
            let found = among(field, values)?;
            is_wider = found.is_wider;
            any.push(found.query);
        }
        if *or_null {
            any.push(json!({"bool": {"must_not": [exists(field)]}}));
        }
        return Ok(match any.is_empty() {
            true => plain(json!({"match_none": {}})),
            false => Clause { query: either(any), is_wider },
        });
    }
    if let Test::Compare(FilterOp::Neq, value) = test {
        let equal = among(field, &[value])?;
        // A hit that only matches by words may still be unequal.
        let query = match equal.is_wider && field.exact.is_none() {
            true => exists(field),
            false => json!({"bool": {"filter": [exists(field)], "must_not": [precise(field, value)?]}}),
        };
        return Ok(Clause { query, is_wider: equal.is_wider });
    }
    match field.shape {
        Shape::Integer | Shape::Float | Shape::Date => match test {
            Test::Compare(FilterOp::Eq, value) => among(field, &[value]),
            Test::Compare(op, value) => Ok(plain(range(field, &field.name, &[(word(*op), value)])?)),
            Test::Between(low, high) => Ok(plain(range(field, &field.name, &[("gte", low), ("lte", high)])?)),
            Test::Null | Test::NotNull | Test::In { .. } | Test::Like(_) | Test::NotLike(_) => {
                Ok(Clause { query: exists(field), is_wider: true })
            }
        },
        Shape::Boolean => match test {
            Test::Compare(FilterOp::Eq, value) => among(field, &[value]),
            _ => Ok(Clause { query: exists(field), is_wider: true }),
        },
        Shape::Id | Shape::Exact | Shape::Address | Shape::Words | Shape::Opaque => texts(field, test),
    }
}

/// Converts tests of text fields.
fn texts(field: &Field, test: &Test<'_>) -> Result<Clause, ConditionError> {
    let Some((target, _)) = &field.exact else {
        return match test {
            Test::Compare(FilterOp::Eq, value) => among(field, &[value]),
            _ => Ok(Clause { query: exists(field), is_wider: true }),
        };
    };
    let query = match test {
        Test::Compare(FilterOp::Eq, value) => return among(field, &[value]),
        // Addresses and versions are ordered differently.
        _ if field.shape == Shape::Address => exists(field),
        Test::Compare(op, value) => within(field, json!({"range": {target: {word(*op): text(value)}}})),
        Test::Between(low, high) => within(field, json!({"range": {target: {"gte": text(low), "lte": text(high)}}})),
        Test::Like(pattern) => {
            let wildcard = json!({"wildcard": {target: {"value": wildcard(pattern), "case_insensitive": true}}});
            within(field, wildcard)
        }
        Test::Null | Test::NotNull | Test::In { .. } | Test::NotLike(_) => exists(field),
    };
    Ok(Clause { query, is_wider: true })
}

/// Matches one of the values.
fn among(field: &Field, values: &[&Value]) -> Result<Clause, ConditionError> {
    let made = |query: Value, is_wider: bool| Clause { query: nest(field, query), is_wider };
    Ok(match field.shape {
        Shape::Integer | Shape::Float => {
            let numbers = values.iter().map(|value| numeric(value)).collect::<Result<Vec<_>, _>>()?;
            made(json!({"terms": {&field.name: numbers}}), false)
        }
        Shape::Boolean => {
            let flags = values.iter().map(|value| boolean(value)).collect::<Result<Vec<_>, _>>()?;
            made(json!({"terms": {&field.name: flags}}), false)
        }
        Shape::Date => {
            let days = values.iter().map(|value| range(field, &field.name, &[("gte", value), ("lte", value)]));
            Clause { query: either(days.collect::<Result<Vec<_>, _>>()?), is_wider: false }
        }
        Shape::Id | Shape::Exact | Shape::Address | Shape::Words | Shape::Opaque => {
            let texts: Vec<String> = values.iter().map(|value| text(value)).collect();
            match &field.exact {
                Some((target, _)) => Clause { query: within(field, json!({"terms": {target: texts}})), is_wider: true },
                None => {
                    let phrase = |text: &String| json!({"match_phrase": {&field.name: {"query": text, "zero_terms_query": "all"}}});
                    made(either(texts.iter().map(phrase).collect()), true)
                }
            }
        }
    })
}

/// Returns a query whose hits certainly have the value.
fn precise(field: &Field, value: &Value) -> Result<Value, ConditionError> {
    match (field.shape, &field.exact) {
        (Shape::Exact | Shape::Address | Shape::Words, Some((target, _))) => {
            Ok(nest(field, json!({"term": {target: text(value)}})))
        }
        _ => among(field, &[value]).map(|clause| clause.query),
    }
}

fn of_id(test: &Test<'_>) -> Clause {
    let ids = |values: Vec<String>| Clause { query: json!({"ids": {"values": values}}), is_wider: false };
    match test {
        Test::Compare(FilterOp::Eq, value) => ids(vec![text(value)]),
        Test::In { values, .. } => ids(values.iter().map(|value| text(value)).collect()),
        Test::Null => Clause { query: json!({"match_none": {}}), is_wider: false },
        Test::NotNull | Test::Compare(..) | Test::Between(..) | Test::Like(_) | Test::NotLike(_) => {
            Clause { query: json!({"match_all": {}}), is_wider: true }
        }
    }
}

fn range(field: &Field, target: &str, ends: &[(&str, &Value)]) -> Result<Value, ConditionError> {
    let mut bounds = serde_json::Map::new();
    for (word, value) in ends {
        let value = if field.shape == Shape::Date { Value::String(moment(value)) } else { numeric(value)? };
        bounds.insert((*word).to_owned(), value);
    }
    if field.shape == Shape::Date {
        bounds.insert("format".to_owned(), "strict_date_optional_time_nanos||epoch_millis".into());
    }
    Ok(nest(field, json!({"range": {target: bounds}})))
}

/// Expands a day to its first moment, as other sources do; Elasticsearch would match the whole day.
fn moment(value: &Value) -> String {
    let text = text(value).trim().to_owned();
    let is_day = text.len() == 10 && text.bytes().filter(|byte| *byte == b'-').count() == 2;
    match text.split_once(' ') {
        _ if is_day => format!("{text}T00:00:00.000Z"),
        Some((day, time)) if day.len() == 10 => format!("{day}T{time}"),
        _ => text,
    }
}

fn numeric(value: &Value) -> Result<Value, ConditionError> {
    let written = number(value)?;
    let whole = || written.parse::<i64>().map(Value::from).or_else(|_| written.parse::<u64>().map(Value::from));
    Ok(whole().unwrap_or_else(|_| written.parse::<f64>().map_or(Value::Null, Value::from)))
}

fn word(op: FilterOp) -> &'static str {
    match op {
        FilterOp::Gt => "gt",
        FilterOp::Lt => "lt",
        FilterOp::Lte => "lte",
        _ => "gte",
    }
}

/// Matches documents with a value, including values too long for the index.
pub(super) fn exists(field: &Field) -> Value {
    let exists = json!({"exists": {"field": field.name}});
    let is_own = field.exact.as_ref().is_some_and(|(target, _)| *target == field.name);
    if is_own { within(field, exists) } else { nest(field, exists) }
}

/// Matches the query, or values too long for the field that indexes them whole.
fn within(field: &Field, query: Value) -> Value {
    match &field.exact {
        Some((target, Some(_))) => either(vec![nest(field, query), json!({"term": {"_ignored": target}})]),
        _ => nest(field, query),
    }
}

/// Applies a query to the objects of the nested list that contains the field.
pub(super) fn nest(field: &Field, query: Value) -> Value {
    match &field.nested {
        Some(path) => json!({"nested": {"path": path, "query": query}}),
        None => query,
    }
}

/// Matches one of the queries.
pub(super) fn either(mut queries: Vec<Value>) -> Value {
    match queries.len() {
        1 => queries.remove(0),
        _ => json!({"bool": {"should": queries, "minimum_should_match": 1}}),
    }
}

/// Converts a `like` pattern to a wildcard pattern of Elasticsearch.
fn wildcard(pattern: &str) -> String {
    let mut out = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        let literal = match letter {
            '%' => {
                out.push('*');
                continue;
            }
            '_' => {
                out.push('?');
                continue;
            }
            '\\' => letters.next(),
            other => Some(other),
        };
        if let Some(literal) = literal {
            if matches!(literal, '*' | '?' | '\\') {
                out.push('\\');
            }
            out.push(literal);
        }
    }
    out
}

/// Returns a Lucene regular expression that finds a text anywhere, case-insensitively.
pub(super) fn containing(text: &str) -> String {
    let mut out = String::from(".*");
    for letter in text.chars() {
        let (lower, upper) = (letter.to_lowercase().next(), letter.to_uppercase().next());
        match (lower, upper) {
            (Some(lower), Some(upper)) if lower != upper => out.extend(['[', lower, upper, ']']),
            _ if letter.is_alphanumeric() => out.push(letter),
            _ => out.extend(['\\', letter]),
        }
    }
    out + ".*"
}

/// Returns a wildcard pattern that finds a text anywhere.
pub(super) fn around(text: &str) -> String {
    wildcard(&format!("%{}%", crate::statement::escape_pattern(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_patterns_and_texts() {
        assert_eq!(wildcard("a%_\\%*?\\\\"), "a*?%\\*\\?\\\\");
        assert_eq!(containing("5€ A.b"), ".*5\\€\\ [aA]\\.[bB].*");
        assert_eq!(around("50%*"), "*50%\\**");
        assert_eq!(moment(&json!("2024-01-31")), "2024-01-31T00:00:00.000Z");
        assert_eq!(moment(&json!("2024-01-31 10:00:00")), "2024-01-31T10:00:00");
        assert_eq!(moment(&json!(17)), "17");
    }
}
