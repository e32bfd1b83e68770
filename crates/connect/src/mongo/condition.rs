//! Conversion of conditions to MongoDB filters. Values are typed per document, so a text is compared as every type that
//! it may denote: `5` as a text and a number, `2024-01-31` as a text and a date. Values never appear where operators are
//! evaluated.

use mongodb::bson::oid::ObjectId;
use mongodb::bson::spec::ElementType;
use mongodb::bson::{Binary, Bson, DateTime, Decimal128, Document, Uuid, doc};
use serde_json::Value;

use crate::filter::{FilterOp, Test, number, text};

/// Returns a filter for the test at the path.
pub(super) fn filter(path: &str, test: &Test<'_>) -> Document {
    let at = |condition: Document| {
        let mut filter = Document::new();
        filter.insert(path, condition);
        filter
    };
    let any = |list: Vec<Document>| {
        if list.is_empty() {
            nothing()
        } else {
            doc! { "$or": list }
        }
    };
    match test {
        Test::Null => at(doc! { "$eq": Bson::Null }),
        Test::NotNull => at(doc! { "$ne": Bson::Null }),
        Test::Compare(FilterOp::Neq, value) => {
            doc! { "$and": [at(doc! { "$nin": readings(value) }), at(doc! { "$ne": Bson::Null })] }
        }
        Test::Compare(op, value) => match operator(*op) {
            Some(operator) => any(readings(value).into_iter().map(|value| at(doc! { operator: value })).collect()),
            None => at(doc! { "$in": readings(value) }),
        },
        Test::Between(low, high) => {
            let highs = readings(high);
            let mut pairs = Vec::new();
            for low in readings(low) {
                let comparable = highs.iter().filter(|high| class(high) == class(&low));
                pairs.extend(comparable.map(|high| at(doc! { "$gte": low.clone(), "$lte": high.clone() })));
            }
            any(pairs)
        }
        Test::In { values, or_null } => {
            let mut list: Vec<Bson> = values.iter().flat_map(|value| readings(value)).collect();
            if *or_null {
                list.push(Bson::Null);
            }
            if list.is_empty() { nothing() } else { at(doc! { "$in": list }) }
        }
        Test::Like(pattern) => at(doc! { "$regex": like(pattern), "$options": "is" }),
        Test::NotLike(pattern) => {
            let unlike = at(doc! { "$not": { "$regex": like(pattern), "$options": "is" } });
            doc! { "$and": [unlike, at(doc! { "$ne": Bson::Null })] }
        }
    }
}

/// Returns a filter that matches no document.
fn nothing() -> Document {
    doc! { "_id": { "$in": Vec::<Bson>::new() } }
}

fn operator(op: FilterOp) -> Option<&'static str> {
    match op {
        FilterOp::Gt => Some("$gt"),
        FilterOp::Gte => Some("$gte"),
        FilterOp::Lt => Some("$lt"),
        FilterOp::Lte => Some("$lte"),
        FilterOp::Eq | FilterOp::Neq | FilterOp::Between | FilterOp::In | FilterOp::Like | FilterOp::NotLike => None,
    }
}

/// Returns all values that the value may denote.
fn readings(value: &Value) -> Vec<Bson> {
    let mut found = Vec::new();
    match value {
        Value::Bool(yes) => return vec![Bson::Boolean(*yes)],
        Value::String(written) => {
            found.push(Bson::String(written.clone()));
            found.extend(ObjectId::parse_str(written).ok().map(Bson::ObjectId));
            found.extend(date(written).map(Bson::DateTime));
            if written.len() == 36 {
                found.extend(Uuid::parse_str(written).ok().map(|uuid| Bson::Binary(Binary::from_uuid(uuid))));
            }
            match written.to_ascii_lowercase().as_str() {
                "true" => found.push(Bson::Boolean(true)),
                "false" => found.push(Bson::Boolean(false)),
                _ => {}
            }
        }
        _ => {}
    }
    if let Ok(written) = number(value) {
        match written.parse::<i64>() {
            Ok(whole) => found.push(Bson::Int64(whole)),
            Err(_) => {
                found.extend(written.parse::<f64>().ok().map(Bson::Double));
                // 0.1 differs between double and decimal.
                found.extend(written.parse::<Decimal128>().ok().map(Bson::Decimal128));
            }
        }
    }
    if found.is_empty() {
        found.push(Bson::String(text(value)));
    }
    found
}

/// Parses `2024-01-31`, `2024-01-31 10:00:00` and `2024-01-31T10:00:00.5+02:00`; UTC without a zone.
fn date(written: &str) -> Option<DateTime> {
    let written = written.trim();
    if !written.is_ascii() || written.len() < 10 || !written.as_bytes()[..4].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let (day, time) = written.split_at(10);
    let time = time.strip_prefix([' ', 'T']).unwrap_or(time);
    let whole = match time {
        "" => format!("{day}T00:00:00Z"),
        time if time.ends_with(['Z', 'z']) || time.contains(['+', '-']) => format!("{day}T{time}"),
        time if time.len() == 5 => format!("{day}T{time}:00Z"),
        time => format!("{day}T{time}Z"),
    };
    DateTime::parse_rfc3339_str(whole).ok()
}

/// Returns the comparison class of a value, within which values are ordered.
fn class(value: &Bson) -> ElementType {
    match value.element_type() {
        ElementType::Int64 | ElementType::Int32 | ElementType::Decimal128 => ElementType::Double,
        other => other,
    }
}

/// Matches the end of the text.
const END: &str = "(?![\\s\\S])";

/// Converts a pattern of [`FilterOp::Like`] to a regular expression.
fn like(pattern: &str) -> String {
    let mut expression = String::from("^");
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => expression.push_str(".*"),
            '_' => expression.push('.'),
            '\\' => letters.next().into_iter().for_each(|letter| push(&mut expression, letter)),
            other => push(&mut expression, other),
        }
    }
    // `$` would also match before a trailing line feed.
    expression.push_str(END);
    expression
}

/// Escapes a text as a regular expression.
pub(super) fn pattern_of(text: &str) -> String {
    let mut expression = String::with_capacity(text.len());
    text.chars().for_each(|letter| push(&mut expression, letter));
    expression
}

fn push(expression: &mut String, letter: char) {
    match letter {
        // NUL would terminate the C string.
        '\0' => expression.push_str("\\x00"),
        letter if "\\^$.|?*+()[]{}#-/".contains(letter) => expression.extend(['\\', letter]),
        letter => expression.push(letter),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::filter::FilterCondition;

    fn check(op: FilterOp, value: Value, expected: Document) {
        let condition = FilterCondition { column: "c".into(), op, value };
        assert_eq!(filter("c", &condition.test().unwrap()), expected);
    }

    #[test]
    fn compares_a_value_as_every_type_it_may_denote() {
        check(FilterOp::Eq, json!(5), doc! { "c": { "$in": [5_i64] } });
        check(FilterOp::Eq, json!("5"), doc! { "c": { "$in": ["5", 5_i64] } });
        check(FilterOp::Eq, json!("true"), doc! { "c": { "$in": ["true", true] } });
        let id = ObjectId::parse_str("65a000000000000000000001").unwrap();
        check(
            FilterOp::In,
            json!(["65a000000000000000000001", null]),
            doc! { "c": { "$in": [id.to_hex(), id, Bson::Null] } },
        );
        let day = DateTime::parse_rfc3339_str("2024-01-31T00:00:00Z").unwrap();
        check(
            FilterOp::Gte,
            json!("2024-01-31"),
            doc! { "$or": [{ "c": { "$gte": "2024-01-31" } }, { "c": { "$gte": day } }] },
        );
        check(FilterOp::Between, json!([1, 2]), doc! { "$or": [{ "c": { "$gte": 1_i64, "$lte": 2_i64 } }] });
        check(FilterOp::In, json!([]), nothing());
        check(FilterOp::Neq, json!(1), doc! { "$and": [{ "c": { "$nin": [1_i64] } }, { "c": { "$ne": Bson::Null } }] });
    }

    #[test]
    fn values_never_become_operators() {
        check(FilterOp::Eq, json!("{\"$gt\": \"\"}"), doc! { "c": { "$in": ["{\"$gt\": \"\"}"] } });
        check(
            FilterOp::Like,
            json!("50\\%_(x%"),
            doc! { "c": { "$regex": format!("^50%.\\(x.*{END}"), "$options": "is" } },
        );
        let condition = FilterCondition { column: "c".into(), op: FilterOp::Eq, value: json!({"$ne": 1}) };
        assert!(condition.test().is_err());
    }

    #[test]
    fn dates_are_read_as_people_write_them() {
        let check = |written: &str, millis: Option<i64>| {
            assert_eq!(date(written).map(DateTime::timestamp_millis), millis, "{written}");
        };
        check("1970-01-02", Some(86_400_000));
        check("1970-01-01 00:00:01", Some(1_000));
        check("1970-01-01T01:00", Some(3_600_000));
        check("1970-01-01T01:00:00+01:00", Some(0));
        check("1970-13-01", None);
        check("19700101", None);
        check("not a date", None);
    }
}
