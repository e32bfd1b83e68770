//! The short texts for what a step computes: `sum(db.t.c) as name`, `db.t.c >= 5`, `quarter(db.t.day)`, `name desc`.

use serde_json::{Value, json};

use super::{Aggregation, DatePart, Group, Measure, Order};
use crate::filter::{FilterCondition, FilterOp};

/// Why a text is not taken; the message is what a model is told.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotRead {
    #[error(
        "`{0}` is no measure: write `sum(db.table.column) as name`, with sum, avg, min, max, count or count_distinct"
    )]
    Measure(String),
    #[error(
        "`{0}` is no condition: write `db.table.column = 'value'`, with =, <>, <, <=, >, >=, in (..), not in (..), between, like, not like, is null, is not null"
    )]
    Filter(String),
    #[error("`{0}` is no group: write `db.table.column`, or `quarter(db.table.column)` for a part of a date")]
    Group(String),
    #[error("`{0}` is no order: write the name of a measure, and `desc` for the highest first")]
    Order(String),
}

/// `sum(db.t.c) as name`, `count()`, `a / b as name`.
pub(super) fn read_measure(text: &str) -> Result<Measure, NotRead> {
    let text = text.trim();
    let wrong = || NotRead::Measure(text.to_owned());
    let (body, name) = split_name(text);
    if let Some((function, inner)) = read_call(body)
        && let Some(aggregation) = read_aggregation(function, inner)
    {
        let column = inner.trim();
        let column =
            column.strip_prefix("distinct ").or_else(|| column.strip_prefix("DISTINCT ")).unwrap_or(column).trim();
        let is_all = column.is_empty() || column == "*";
        if !is_all && !is_name(column) {
            return Ok(Measure { expression: Some(body.to_owned()), name, ..Measure::default() });
        }
        let column = (!is_all).then(|| clean(column));
        return Ok(Measure { aggregation: Some(aggregation), column, expression: None, name });
    }
    if body.is_empty() || !body.contains(['+', '-', '*', '/', '(']) {
        return Err(wrong());
    }
    Ok(Measure { expression: Some(body.to_owned()), name, ..Measure::default() })
}

/// The conditions of a text: one, or of `not in (..)` one for each value. `not in step_1_results.id` is one.
pub(super) fn read_filters(text: &str) -> Result<Vec<FilterCondition>, NotRead> {
    const NOT_IN: &str = " not in";
    let lower = text.to_ascii_lowercase();
    let Some(at) = lower.find(NOT_IN).filter(|at| !text[..*at].trim().contains(char::is_whitespace)) else {
        return Ok(vec![plain(read_filter(text)?)]);
    };
    let among = plain(read_filter(&format!("{} in{}", &text[..at], &text[at + NOT_IN.len()..]))?);
    let one = |value| FilterCondition { column: among.column.clone(), op: FilterOp::Neq, value };
    Ok(match among.value {
        Value::Array(values) => values.into_iter().map(one).collect(),
        // The column of an earlier output: a list of it, since it is no value by itself.
        name => vec![one(json!([name]))],
    })
}

/// A condition on what a function makes of a column, as one on the column itself where they are the same: `date(c) >= '..'`,
/// `year(c) = 2005`, `lower(c) = 'x'`. Any other stays.
pub(super) fn plain(filter: FilterCondition) -> FilterCondition {
    let Some((function, inner)) = read_call(&filter.column) else { return filter };
    let column = clean(inner);
    let make = |op, value| FilterCondition { column: column.clone(), op, value };
    match function.to_ascii_lowercase().as_str() {
        "date" => make(filter.op, filter.value),
        "lower" | "upper" => match (filter.op, &filter.value) {
            (FilterOp::Eq, Value::String(text)) => make(FilterOp::Like, json!(escape(text))),
            (FilterOp::Like | FilterOp::NotLike, _) => make(filter.op, filter.value),
            _ => filter,
        },
        "year" => {
            let number = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
            let is_year = |year: &i64| (1..9999).contains(year);
            let Some(year) = number(&filter.value).filter(is_year) else { return filter };
            let (begin, end) = (json!(format!("{year:04}-01-01")), json!(format!("{year:04}-12-31")));
            let next = json!(format!("{:04}-01-01", year + 1));
            match filter.op {
                FilterOp::Eq => make(FilterOp::Between, json!([begin, end])),
                FilterOp::Gte => make(FilterOp::Gte, begin),
                FilterOp::Gt => make(FilterOp::Gte, next),
                FilterOp::Lt => make(FilterOp::Lt, begin),
                FilterOp::Lte => make(FilterOp::Lt, next),
                FilterOp::Neq | FilterOp::In | FilterOp::Between | FilterOp::Like | FilterOp::NotLike => filter,
            }
        }
        _ => filter,
    }
}

/// A text as a pattern that only it is like.
fn escape(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// `db.t.c = 'x'` and the other comparisons.
fn read_filter(text: &str) -> Result<FilterCondition, NotRead> {
    let text = text.trim();
    let wrong = || NotRead::Filter(text.to_owned());
    // Within the brackets of a function there may be blanks.
    let call =
        text.find('(').filter(|at| text[..*at].chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && *at > 0);
    let from = call.and_then(|at| text[at..].find(')').map(|end| at + end)).unwrap_or(0);
    let end = text[from..].find(|c: char| c.is_whitespace() || "=<>!".contains(c)).ok_or_else(wrong)? + from;
    let (column, rest) = (clean(&text[..end]), text[end..].trim());
    if column.is_empty() {
        return Err(wrong());
    }
    let lower = rest.to_ascii_lowercase();
    let make = |op, value| Ok(FilterCondition { column: column.clone(), op, value });
    match lower.as_str() {
        "is null" => return make(FilterOp::Eq, Value::Null),
        "is not null" => return make(FilterOp::Neq, Value::Null),
        _ => {}
    }
    const SIGNS: [(&str, FilterOp); 8] = [
        ("<>", FilterOp::Neq),
        ("!=", FilterOp::Neq),
        (">=", FilterOp::Gte),
        ("<=", FilterOp::Lte),
        ("==", FilterOp::Eq),
        ("=", FilterOp::Eq),
        (">", FilterOp::Gt),
        ("<", FilterOp::Lt),
    ];
    if let Some((sign, op)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        return make(*op, read_value(&rest[sign.len()..]).ok_or_else(wrong)?);
    }
    if lower.starts_with("like ") {
        return make(FilterOp::Like, read_value(&rest[5..]).ok_or_else(wrong)?);
    }
    if let Some(pattern) = lower.strip_prefix("not").filter(|rest| rest.trim_start().starts_with("like ")) {
        let at = rest.len() - pattern.trim_start().len() + "like ".len();
        return make(FilterOp::NotLike, read_value(&rest[at..]).ok_or_else(wrong)?);
    }
    if lower.starts_with("between ") {
        let (low, high) = split_word(&rest[8..], "and").ok_or_else(wrong)?;
        let (low, high) = (read_value(low).ok_or_else(wrong)?, read_value(high).ok_or_else(wrong)?);
        return make(FilterOp::Between, json!([low, high]));
    }
    if lower.starts_with("in ") || lower.starts_with("in(") {
        let list = rest[2..].trim();
        // The column of an earlier output.
        let Some(inner) = list.strip_prefix('(').and_then(|list| list.strip_suffix(')')) else {
            return if is_name(list) { make(FilterOp::In, json!(list)) } else { Err(wrong()) };
        };
        if !inner.contains(['\'', '"', ',']) && is_name(inner.trim()) && inner.contains('.') {
            return make(FilterOp::In, json!(inner.trim()));
        }
        let values: Option<Vec<Value>> = split_list(inner).into_iter().map(read_value).collect();
        return make(FilterOp::In, Value::Array(values.ok_or_else(wrong)?));
    }
    Err(wrong())
}

/// `db.t.c`, or a part of a date, and what it is called.
pub(super) fn read_group(text: &str) -> Result<Group, NotRead> {
    let wrong = || NotRead::Group(text.trim().to_owned());
    let (text, name) = split_name(text.trim());
    if let Some((part, column)) = DatePart::read(text) {
        return Ok(Group { column: clean(column), part: Some(part), name });
    }
    if !is_name(text) {
        return Err(wrong());
    }
    Ok(Group { column: clean(text), part: None, name })
}

/// `name`, `name desc`.
pub(super) fn read_order(text: &str) -> Result<Order, NotRead> {
    let mut words = text.split_whitespace();
    let (by, direction, more) = (words.next(), words.next().map(str::to_lowercase), words.next());
    let wrong = || NotRead::Order(text.trim().to_owned());
    let descending = match direction.as_deref() {
        None | Some("asc" | "ascending") => false,
        Some("desc" | "descending") => true,
        Some(_) => return Err(wrong()),
    };
    match (by, more) {
        (Some(by), None) => Ok(Order { by: clean(by), descending }),
        _ => Err(wrong()),
    }
}

/// A text, and what stands behind the last `as`.
fn split_name(text: &str) -> (&str, Option<String>) {
    match split_word(text, "as") {
        Some((body, name)) => (body, Some(name.trim_matches(['"', '`']).to_owned())),
        None => (text, None),
    }
}

/// `name(inner)` and nothing after it.
pub(super) fn read_call(text: &str) -> Option<(&str, &str)> {
    let (function, rest) = text.trim().split_once('(')?;
    let inner = rest.strip_suffix(')')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!inner.contains('(') && !inner.contains(')') && function.trim().chars().all(is_word))
        .then_some((function.trim(), inner))
}

fn read_aggregation(function: &str, inner: &str) -> Option<Aggregation> {
    let distinct = inner.trim().to_lowercase().starts_with("distinct ");
    match Aggregation::find(function)? {
        Aggregation::Count if distinct => Some(Aggregation::CountDistinct),
        found => Some(found),
    }
}

/// The texts on both sides of the last such word that stands alone.
fn split_word<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let lower = text.to_ascii_lowercase();
    let wanted = format!(" {word} ");
    let at = lower.rfind(&wanted)?;
    Some((text[..at].trim(), text[at + wanted.len()..].trim()))
}

/// A text in quotes, a number, true, false, null; a bare word is a text, and one with a dot the name of a column. What is
/// computed is none.
fn read_value(text: &str) -> Option<Value> {
    let text = text.trim();
    for quote in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(quote) {
            return inner.strip_suffix(quote).map(|inner| json!(inner.replace("''", "'")));
        }
    }
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::Null)) => Some(value),
        _ if text.is_empty() || text.len() > 200 || is_computed(text) => None,
        _ if is_reference(text) => Some(json!({"column": clean(text)})),
        _ => Some(json!(text)),
    }
}

/// Whether a value outside quotes is arithmetic or a function: `current_date - 30`, `avg(x)`.
fn is_computed(text: &str) -> bool {
    text.contains(['(', ')', '+', '*']) || [" - ", " / "].iter().any(|sign| text.contains(sign))
}

/// Whether a value outside quotes is the name of a column with that of its table.
fn is_reference(text: &str) -> bool {
    let mut parts = text.split('.');
    let is_word = |part: &str| {
        let part = part.trim_matches(['"', '`']);
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    text.contains('.') && parts.all(is_word)
}

/// The parts between commas outside quotes.
fn split_list(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quote) = (Vec::new(), 0, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (None, ',') => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || "._-$\"` ".contains(c))
        && !text.starts_with(['-', ' '])
        // A subtraction: names have no blanks around a hyphen.
        && !text.contains(" - ")
}

fn clean(name: &str) -> String {
    name.trim().chars().filter(|c| !matches!(c, '"' | '`')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_read() {
        let check = |text: &str, expected: Value| assert_eq!(json!(read_measure(text).unwrap()), expected, "{text}");
        check("sum(a.b.c) as total", json!({"aggregation": "sum", "column": "a.b.c", "name": "total"}));
        check("COUNT(*)", json!({"aggregation": "count"}));
        check("count(distinct a.b.c)", json!({"aggregation": "count_distinct", "column": "a.b.c"}));
        check("revenue / orders AS aov", json!({"expression": "revenue / orders", "name": "aov"}));
        check("sum(a.b.c * a.b.d)", json!({"expression": "sum(a.b.c * a.b.d)"}));
        assert!(read_measure("everything").is_err());
        assert!(read_measure("").is_err());
    }

    #[test]
    fn conditions_are_read() {
        let check = |text: &str, op: &str, value: Value| {
            let read = read_filter(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(json!(read), json!({"column": "a.b.c", "op": op, "value": value}), "{text}");
        };
        check("a.b.c = 'P'", "eq", json!("P"));
        check("a.b.c<>5", "neq", json!(5));
        check("a.b.c is not null", "neq", Value::Null);
        check("a.b.c in ('x, y', 'z')", "in", json!(["x, y", "z"]));
        check("a.b.c in step_1_results.id", "in", json!("step_1_results.id"));
        check("a.b.c between '2025-01-01' and '2025-12-31'", "between", json!(["2025-01-01", "2025-12-31"]));
        check("a.b.c > a.b.d", "gt", json!({"column": "a.b.d"}));
        check("a.b.c <> step_1_results.id", "neq", json!({"column": "step_1_results.id"}));
        check("a.b.c = In Progress", "eq", json!("In Progress"));
        check("a.b.c = 10.0.0.1", "eq", json!("10.0.0.1"));
        check("a.b.c >= 2025-01-31", "gte", json!("2025-01-31"));
        check("a.b.c like 'A%'", "like", json!("A%"));
        check("a.b.c not like '%A'", "not_like", json!("%A"));
        check("a.b.c NOT  LIKE 'é%'", "not_like", json!("é%"));
        for text in
            ["", "a.b.c", "= 5", "a.b.c in (", "a.b.c between 5", "a.b.c >= current_date - 30", "a.b.c > avg(a.b.d)"]
        {
            assert!(read_filter(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_not_among_values_is_unequal_to_each() {
        let read = read_filters("a.b.c NOT IN ('x, y', 5)").unwrap();
        let neq = |value: Value| json!({"column": "a.b.c", "op": "neq", "value": value});
        assert_eq!(json!(read), json!([neq(json!("x, y")), neq(json!(5))]));
        let of_step = read_filters("a.b.c not in step_1_results.id").unwrap();
        assert_eq!((of_step[0].op, &of_step[0].value), (FilterOp::Neq, &json!(["step_1_results.id"])));
        assert_eq!(read_filters("a.b.c = 'x not in y'").unwrap().len(), 1);
    }

    #[test]
    fn a_function_of_a_column_is_a_condition_on_it_where_both_are_the_same() {
        let check = |text: &str, column: &str, op: &str, value: Value| {
            let read = read_filters(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(json!(read), json!([{"column": column, "op": op, "value": value}]), "{text}");
        };
        check("date( a.b.c ) >= '2024-05-01'", "a.b.c", "gte", json!("2024-05-01"));
        check("year(a.b.c) = 2024", "a.b.c", "between", json!(["2024-01-01", "2024-12-31"]));
        check("Year(a.b.c) > 2024", "a.b.c", "gte", json!("2025-01-01"));
        check("lower(a.b.c) = '5_%'", "a.b.c", "like", json!("5\\_\\%"));
        check("month(a.b.c) = 6", "month(a.b.c)", "eq", json!(6));
    }

    #[test]
    fn groups_and_orders_are_read() {
        assert_eq!(json!(read_group("quarter(a.b.c)").unwrap()), json!({"column": "a.b.c", "part": "quarter"}));
        assert_eq!(json!(read_group("a.b.c").unwrap()), json!({"column": "a.b.c"}));
        let named = json!({"column": "a.b.c", "part": "year_month", "name": "month"});
        assert_eq!(json!(read_group("year_month(a.b.c) AS month").unwrap()), named);
        assert!(read_group("era(a.b.c)").is_err());
        assert_eq!(json!(read_order("total DESC").unwrap()), json!({"by": "total", "descending": true}));
        assert!(read_order("total up").is_err());
    }
}
