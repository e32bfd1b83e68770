//! The text form of conditions and sort orders, parsed and printed: `db.t.c >= 5`, `name desc`.

use std::fmt;

use serde_json::{Value, json};

use super::Order;
use crate::filter::{FilterCondition, FilterOp};
use crate::statement::escape_pattern;

/// Why a text is rejected; the message is returned to the model.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotRead {
    #[error(
        "`{0}` is not a condition: write `db.table.column = 'value'`, with =, <>, <, <=, >, >=, in (..), not in (..), between, like, not like, is null, is not null; join several with and, or and parentheses, and quote texts that contain such a word"
    )]
    Filter(String),
    #[error(
        "`{0}` takes a list of at least one condition and allows no other keys: {{\"{0}\": [\"a = 1\", \"b = 2\"]}}"
    )]
    Joined(String),
    #[error("{0}")]
    Fields(#[from] serde_json::Error),
    #[error("the conditions are nested too deeply: split them into steps")]
    Depth,
    #[error(
        "`or` only joins values of the same column here: `a = 1 or a = 2`; use a separate call for each other alternative"
    )]
    Alternatives,
    #[error("`{0}` is not a sort order: write the name of a measure, with `desc` for descending order")]
    Order(String),
}

/// Parses the conditions of a text without `and` and `or`: one, or one per value of `not in (..)`.
pub(super) fn read_filters(text: &str) -> Result<Vec<FilterCondition>, NotRead> {
    let text = text.trim();
    let Some((column, list)) = split_not_in(text) else { return Ok(vec![plain(read_filter(text)?)]) };
    let among = plain(read_filter(&format!("{column} in {list}")).map_err(|_| NotRead::Filter(text.to_owned()))?);
    let Value::Array(values) = among.value else { return Err(NotRead::Filter(text.to_owned())) };
    let one = |value| FilterCondition { column: among.column.clone(), op: FilterOp::Neq, value };
    Ok(values.into_iter().map(one).collect())
}

/// Splits a text at `not in`.
fn split_not_in(text: &str) -> Option<(&str, &str)> {
    let (column, rest) = text.split_at(find_end(text)?);
    let rest = strip_word(strip_word(rest.trim_start(), "not")?.trim_start(), "in")?;
    rest.starts_with(|c: char| c.is_whitespace() || c == '(').then_some((column, rest))
}

/// Strips a leading word, case-insensitively.
fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.get(..word.len()).filter(|begin| begin.eq_ignore_ascii_case(word)).map(|_| &text[word.len()..])
}

/// Rewrites a condition on a function of a column as an equivalent one on the column: `date(c) >= '..'`, `year(c) =
/// 2005`, `lower(c) = 'x'`. Others are returned unchanged.
pub(super) fn plain(filter: FilterCondition) -> FilterCondition {
    let Some((function, inner)) = read_call(&filter.column) else { return filter };
    let column = clean(inner);
    let make = |op, value| FilterCondition { column: column.clone(), op, value };
    match function.to_ascii_lowercase().as_str() {
        "date" => make(filter.op, filter.value),
        "lower" | "upper" => match (filter.op, &filter.value) {
            (FilterOp::Eq, Value::String(text)) => make(FilterOp::Like, json!(escape_pattern(text))),
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

/// Parses `db.t.c = 'x'` and the other comparisons.
fn read_filter(text: &str) -> Result<FilterCondition, NotRead> {
    let text = text.trim();
    let wrong = || NotRead::Filter(text.to_owned());
    let end = find_end(text).ok_or_else(wrong)?;
    let (compared, rest) = (text[..end].trim(), text[end..].trim());
    let column = clean(compared);
    let is_open = compared.matches('(').count() != compared.matches(')').count();
    if column.is_empty() || column.starts_with('(') || is_open {
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
        let [low, high] = split_at_word(&rest[8..], "and")[..] else { return Err(wrong()) };
        let (low, high) = (read_value(low).ok_or_else(wrong)?, read_value(high).ok_or_else(wrong)?);
        return make(FilterOp::Between, json!([low, high]));
    }
    if lower.starts_with("in ") || lower.starts_with("in(") {
        let list = rest[2..].trim();
        let inner = list.strip_prefix('(').and_then(|list| list.strip_suffix(')')).ok_or_else(wrong)?;
        let values: Option<Vec<Value>> = split_list(inner).into_iter().map(read_value).collect();
        return make(FilterOp::In, Value::Array(values.ok_or_else(wrong)?));
    }
    Err(wrong())
}

/// Parses `name` or `name desc`.
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

/// Finds the end of the left-hand side: a blank or an operator outside quotes and parentheses.
fn find_end(text: &str) -> Option<usize> {
    list_outside(text).find(|(_, c)| "=<>!".contains(*c) || c.is_whitespace()).map(|(at, _)| at)
}

/// Lists the characters outside quotes, with their offsets and parenthesis depth; parentheses themselves count as
/// outside. An apostrophe inside a word is not a quote.
fn list_unquoted(text: &str) -> Vec<(usize, char, usize)> {
    let (mut found, mut depth, mut quote, mut before) = (Vec::new(), 0_usize, None, ' ');
    for (at, c) in text.char_indices() {
        let opens = matches!(c, '\'' | '"' | '`') && !before.is_alphanumeric() && before != '_';
        match quote {
            Some(open) if open == c => quote = None,
            Some(_) => {}
            None if opens => quote = Some(c),
            None => {
                if c == ')' {
                    depth = depth.saturating_sub(1);
                }
                found.push((at, c, depth));
                if c == '(' {
                    depth += 1;
                }
            }
        }
        before = c;
    }
    found
}

/// Iterates over the characters outside quotes and parentheses, with their offsets.
fn list_outside(text: &str) -> impl Iterator<Item = (usize, char)> {
    let outside = list_unquoted(text).into_iter().filter(|(_, c, depth)| *depth == 0 && !matches!(c, '(' | ')'));
    outside.map(|(at, c, _)| (at, c))
}

/// Lists the words outside quotes and parentheses, with their offsets.
fn list_words(text: &str) -> Vec<(usize, &str)> {
    let mut words: Vec<(usize, usize)> = Vec::new();
    for (at, c) in list_outside(text).filter(|(_, c)| !c.is_whitespace() && !"=<>!,".contains(*c)) {
        let end = at + c.len_utf8();
        match words.last_mut() {
            Some((_, last)) if *last == at => *last = end,
            _ => words.push((at, end)),
        }
    }
    words.into_iter().map(|(start, end)| (start, &text[start..end])).collect()
}

/// Splits a text at a conjunction. The `and` of `between .. and ..` is not one.
pub(super) fn split_at_word<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let (mut parts, mut start, mut is_range) = (Vec::new(), 0, false);
    for (at, found) in list_words(text) {
        if found.eq_ignore_ascii_case("between") {
            is_range = true;
        } else if is_range && found.eq_ignore_ascii_case("and") {
            is_range = false;
        } else if found.eq_ignore_ascii_case(word) {
            parts.push(&text[start..at]);
            start = at + found.len();
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Returns the content of the parentheses that enclose a whole text.
pub(super) fn strip_brackets(text: &str) -> Option<&str> {
    let text = text.trim();
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let brackets = list_unquoted(text).into_iter().filter(|(_, c, depth)| *depth == 0 && matches!(c, '(' | ')'));
    let places: Vec<usize> = brackets.map(|(at, ..)| at).collect();
    (places == [0, text.len() - 1]).then_some(inner)
}

/// Parses `name(inner)` with nothing after it.
pub(super) fn read_call(text: &str) -> Option<(&str, &str)> {
    let (function, rest) = text.trim().split_once('(')?;
    let inner = rest.strip_suffix(')')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!inner.contains('(') && !inner.contains(')') && function.trim().chars().all(is_word))
        .then_some((function.trim(), inner))
}

/// Parses a quoted text, a number, true, false or null; a bare word is a text. `None` for computed expressions and column
/// names, which a condition cannot compare with.
fn read_value(text: &str) -> Option<Value> {
    let text = text.trim();
    for quote in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(quote) {
            let inner = inner.strip_suffix(quote).filter(|inner| is_one_text(inner, quote));
            return inner.map(|inner| json!(inner.replace("''", "'")));
        }
    }
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::Null)) => Some(value),
        _ if text.is_empty() || text.len() > 200 || is_computed(text) || is_reference(text) => None,
        _ => Some(json!(text)),
    }
}

/// Whether the content of quotes is one text: quotes in it are doubled, or apostrophes.
fn is_one_text(inner: &str, quote: char) -> bool {
    let plain = inner.replace([quote, quote].iter().collect::<String>().as_str(), "");
    plain.match_indices(quote).all(|(at, _)| {
        let is_letter = |c: char| c.is_alphanumeric();
        plain[..at].ends_with(is_letter) && plain[at + quote.len_utf8()..].starts_with(is_letter)
    })
}

/// Whether an unquoted value is arithmetic, a function or more than a value: `current_date - 30`, `avg(x)`, `1 || b = 2`.
fn is_computed(text: &str) -> bool {
    let is_sign = |c: char| "()+*=<>".contains(c);
    text.contains(is_sign) || [" - ", " / ", "||", "&&"].iter().any(|sign| text.contains(sign))
}

/// Whether an unquoted value is a column name qualified by its table.
fn is_reference(text: &str) -> bool {
    let mut parts = text.split('.');
    let is_word = |part: &str| {
        let part = part.trim_matches(['"', '`']);
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    text.contains('.') && parts.all(is_word)
}

/// Splits at commas outside quotes.
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

fn clean(name: &str) -> String {
    name.trim().chars().filter(|c| !matches!(c, '"' | '`')).collect()
}

/// `name desc`.
impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.by)?;
        if self.descending { f.write_str(" desc") } else { Ok(()) }
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
            (FilterOp::In, value) => write!(f, "{column} in {}", spell(value)),
            (op, value) => write!(f, "{column} {} {}", op.operator().to_lowercase(), spell(value)),
        }
    }
}

/// Formats a value or a list.
fn spell(value: &Value) -> String {
    match value {
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Array(values) => format!("({})", values.iter().map(spell).collect::<Vec<_>>().join(", ")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        check("a.b.c between '2025-01-01' and '2025-12-31'", "between", json!(["2025-01-01", "2025-12-31"]));
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
        for text in ["a.b.c > a.b.d", "a.b.c in a.b.d", "sum(a.b.c) / count(*) > 5"] {
            assert!(read_filter(text).is_err(), "{text}");
        }
    }

    #[test]
    fn expands_not_in_to_inequalities() {
        let read = read_filters("a.b.c NOT IN ('x, y', 5)").unwrap();
        let neq = |value: Value| json!({"column": "a.b.c", "op": "neq", "value": value});
        assert_eq!(json!(read), json!([neq(json!("x, y")), neq(json!(5))]));
        assert_eq!(read_filters("a.b.c = 'x not in y'").unwrap().len(), 1);
    }

    #[test]
    fn rewrites_function_conditions_to_column_conditions() {
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
    fn printed_conditions_are_parsed_back() {
        for text in [
            "a.b.c = 'O''Brien'",
            "a.b.c <> 5",
            "a.b.c is null",
            "a.b.c is not null",
            "a.b.c between '2025-01-01' and '2025-03-31'",
            "a.b.c in ('x', 'y')",
            "a.b.c like '%x%'",
            "a.b.c not like 'x_'",
            "month(a.b.d) = 12",
        ] {
            assert_eq!(read_filter(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn orders_are_read() {
        let order = read_order("total DESC").unwrap();
        assert_eq!(
            (json!(order), order.to_string().as_str()),
            (json!({"by": "total", "descending": true}), "total desc")
        );
        assert!(read_order("total up").is_err());
    }
}
