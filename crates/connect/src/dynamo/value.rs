//! Conversion of attribute values to documents:
//! <https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html>.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

use crate::display;
use crate::document::{DEEPEST, Node};
use crate::filter::decimal;

/// Returns the items of a response.
pub(super) fn items(mut answer: Value) -> Vec<Node> {
    match answer.get_mut("Items").map(Value::take) {
        Some(Value::Array(items)) => items.into_iter().map(item).collect(),
        _ => Vec::new(),
    }
}

/// Converts an item.
fn item(item: Value) -> Node {
    match item {
        Value::Object(attributes) => object(attributes, 0),
        _ => Node::Null,
    }
}

fn object(attributes: Map<String, Value>, depth: usize) -> Node {
    Node::Object(attributes.into_iter().map(|(name, value)| (name, node(value, depth + 1))).collect())
}

/// Converts one attribute value, `{"S": "text"}`. Invalid values become null.
fn node(value: Value, depth: usize) -> Node {
    let Value::Object(typed) = value else { return Node::Null };
    let Some((letter, value)) = typed.into_iter().next().filter(|_| depth <= DEEPEST * 2) else { return Node::Null };
    let list = |value: Value, of: fn(Value) -> Node| match value {
        Value::Array(items) => Node::List(items.into_iter().map(of).collect()),
        _ => Node::Null,
    };
    match (letter.as_str(), value) {
        ("S", Value::String(text)) => Node::Scalar("string", text.into()),
        ("N", value) => number(value),
        ("B", value) => binary(value),
        ("BOOL", Value::Bool(yes)) => Node::Scalar("boolean", yes.into()),
        ("M", Value::Object(fields)) => object(fields, depth),
        ("L", Value::Array(items)) => Node::List(items.into_iter().map(|item| node(item, depth + 1)).collect()),
        ("SS", value) => list(value, |item| match item {
            Value::String(text) => Node::Scalar("string", text.into()),
            _ => Node::Null,
        }),
        ("NS", value) => list(value, number),
        ("BS", value) => list(value, binary),
        _ => Node::Null,
    }
}

/// Converts a number, which has up to 38 digits and is transmitted as text.
fn number(value: Value) -> Node {
    match value {
        Value::String(digits) => {
            let is_whole = !digits.contains(['.', 'e', 'E']);
            Node::Scalar(if is_whole { "integer" } else { "number" }, decimal(&digits))
        }
        _ => Node::Null,
    }
}

fn binary(value: Value) -> Node {
    match value {
        Value::String(text) => match BASE64.decode(&text) {
            Ok(bytes) => Node::Scalar("binary", display::hexadecimal(&bytes).into()),
            Err(_) => Node::Null,
        },
        _ => Node::Null,
    }
}

/// Converts bytes from the form that is displayed, `\x00ff`, to DynamoDB's encoding.
pub(super) fn bytes(text: &str) -> Option<String> {
    display::bytes_of(text.strip_prefix("\\x")?).map(|bytes| BASE64.encode(bytes))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn converts_every_attribute_type() {
        let found = item(json!({
            "s": {"S": "x"}, "n": {"N": "42"}, "f": {"N": "1.5"}, "b": {"B": "AP8="}, "t": {"BOOL": true}, "z": {"NULL": true},
            "m": {"M": {"a": {"N": "1"}}}, "l": {"L": [{"S": "y"}, {"N": "2"}]}, "ss": {"SS": ["a", "b"]},
            "big": {"N": "12345678901234567890123"}, "odd": 5, "none": {}
        }));
        assert_eq!(
            found.clone().json(),
            json!({
                "s": "x", "n": 42, "f": 1.5, "b": "\\x00ff", "t": true, "z": null, "m": {"a": 1}, "l": ["y", 2],
                "ss": ["a", "b"], "big": "12345678901234567890123", "odd": null, "none": null
            })
        );
        assert_eq!(found.at("n"), Node::Scalar("integer", json!(42)));
        assert_eq!(bytes("\\x00ff").as_deref(), Some("AP8="));
        assert_eq!(bytes("x"), None);
    }
}
