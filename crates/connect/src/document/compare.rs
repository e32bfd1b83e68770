//! Evaluation of conditions on document values, for stores that do not support all of them.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Node, column_type};
use crate::filter::{FilterOp, Test, boolean, number, text};

/// Whether one of the non-null values meets the test.
pub(crate) fn meets(values: &[&Node], test: &Test<'_>) -> bool {
    let any = |ordered: &dyn Fn(&Node) -> bool| values.iter().any(|node| ordered(node));
    let against = |node: &Node, wanted: &Value| compare(node, wanted);
    match test {
        Test::Null => values.is_empty(),
        Test::NotNull => !values.is_empty(),
        Test::Compare(FilterOp::Neq, wanted) => {
            !values.is_empty() && !any(&|node| against(node, wanted) == Some(Ordering::Equal))
        }
        Test::Compare(op, wanted) => any(&|node| {
            against(node, wanted).is_some_and(|order| match op {
                FilterOp::Gt => order.is_gt(),
                FilterOp::Gte => order.is_ge(),
                FilterOp::Lt => order.is_lt(),
                FilterOp::Lte => order.is_le(),
                FilterOp::Eq
                | FilterOp::Neq
                | FilterOp::Between
                | FilterOp::In
                | FilterOp::Like
                | FilterOp::NotLike => order.is_eq(),
            })
        }),
        Test::Between(low, high) => any(&|node| {
            against(node, low).is_some_and(Ordering::is_ge) && against(node, high).is_some_and(Ordering::is_le)
        }),
        Test::In { values: wanted, or_null } => {
            (*or_null && values.is_empty())
                || any(&|node| wanted.iter().any(|wanted| against(node, wanted) == Some(Ordering::Equal)))
        }
        Test::Like(pattern) => any(&|node| matches_pattern(node, pattern)),
        Test::NotLike(pattern) => !values.is_empty() && !any(&|node| matches_pattern(node, pattern)),
    }
}

fn matches_pattern(node: &Node, pattern: &str) -> bool {
    match node {
        Node::Scalar(_, value) => is_like(&text(value), pattern),
        Node::Null | Node::Object(_) | Node::List(_) => false,
    }
}

/// Compares a value with a constant; `None` if they are not comparable.
pub(crate) fn compare(node: &Node, wanted: &Value) -> Option<Ordering> {
    let Node::Scalar(word, value) = node else { return None };
    match value {
        Value::Bool(yes) => boolean(wanted).ok().map(|wanted| yes.cmp(&wanted)),
        Value::Number(_) => numbers(&value.to_string(), &number(wanted).ok()?),
        // A number with too many digits for JSON.
        Value::String(digits) if column_type(word).is_numeric() => numbers(digits, &number(wanted).ok()?),
        // A text is never compared as a number.
        Value::String(known) => Some(known.as_str().cmp(wanted.as_str()?)),
        _ => None,
    }
}

fn numbers(left: &str, right: &str) -> Option<Ordering> {
    match (left.parse::<i128>(), right.parse::<i128>()) {
        (Ok(left), Ok(right)) => Some(left.cmp(&right)),
        _ => left.parse::<f64>().ok()?.partial_cmp(&right.parse::<f64>().ok()?),
    }
}

/// Whether a text matches a pattern of [`FilterOp::Like`], case-insensitively. Takes time proportional to the product of
/// the two lengths at most.
pub(crate) fn is_like(text: &str, pattern: &str) -> bool {
    #[derive(PartialEq)]
    enum Part {
        Any,
        One,
        Letter(char),
    }
    let mut parts = Vec::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => parts.push(Part::Any),
            '_' => parts.push(Part::One),
            '\\' => parts.extend(letters.next().into_iter().flat_map(char::to_lowercase).map(Part::Letter)),
            other => parts.extend(other.to_lowercase().map(Part::Letter)),
        }
    }
    let text: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let (mut at, mut part) = (0, 0);
    // The last `%`, and where matching after it was last tried.
    let mut back: Option<(usize, usize)> = None;
    while at < text.len() {
        match parts.get(part) {
            Some(Part::Any) => {
                back = Some((part, at));
                part += 1;
            }
            Some(Part::One) => (at, part) = (at + 1, part + 1),
            Some(Part::Letter(letter)) if *letter == text[at] => (at, part) = (at + 1, part + 1),
            Some(Part::Letter(_)) | None => match back {
                Some((any, tried)) => {
                    back = Some((any, tried + 1));
                    (at, part) = (tried + 1, any + 1);
                }
                None => return false,
            },
        }
    }
    parts[part..].iter().all(|part| *part == Part::Any)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::document::node;

    #[test]
    fn matches_like_patterns() {
        let check = |text: &str, pattern: &str, expected: bool| {
            assert_eq!(is_like(text, pattern), expected, "{text} {pattern}")
        };
        check("Ada", "a%", true);
        check("Ada", "%D_", true);
        check("Ada", "ada", true);
        check("Ada", "ad", false);
        check("", "%", true);
        check("", "_", false);
        check("50%_x", "50\\%\\_X", true);
        check("500x", "50\\%%", false);
        check("abcabd", "%ab%d", true);
        check("abcabd", "%ab%e", false);
        check(&"a".repeat(5_000), &("%a".repeat(500) + "b"), false);
    }

    #[test]
    fn compares_values_by_type() {
        let check = |value: Value, wanted: Value, expected: Option<Ordering>| {
            assert_eq!(compare(&node(value.clone()), &wanted), expected, "{value} {wanted}");
        };
        check(json!(36), json!("36"), Some(Ordering::Equal));
        check(json!(36), json!(17.5), Some(Ordering::Greater));
        check(json!(i64::MAX), json!(i64::MAX - 1), Some(Ordering::Greater));
        check(json!(36), json!("36 OR 1=1"), None);
        check(json!("36"), json!(36), None);
        check(json!("b"), json!("a"), Some(Ordering::Greater));
        check(json!(true), json!("yes"), Some(Ordering::Equal));
        check(json!({"a": 1}), json!("a"), None);
        assert_eq!(
            compare(&Node::Scalar("number", json!("123456789012345678901")), &json!(1)),
            Some(Ordering::Greater)
        );
    }
}
