//! Converts YAML values to JSON as a schema of [`file_schema`](super::file_schema) describes them.
//!
//! A number is accepted as a text. Null is not accepted: a key without a value may be one that limits what is read or shown. Words are not
//! compared with the `enum` of a schema, since aliases are accepted too.

use serde_json::Value;

use super::node::Node;

/// Returns the value as JSON; `None` if the schema does not accept it. Mappings with known keys are not converted: see [`mapping_of`].
pub(super) fn convert(node: &Node, schema: &Value) -> Option<Value> {
    alternatives(schema).into_iter().find_map(|schema| convert_one(node, schema))
}

/// Returns the schema of the mapping with known keys that a schema accepts, if any.
pub(super) fn mapping_of(schema: &Value) -> Option<&Value> {
    alternatives(schema).into_iter().find(|schema| schema.get("properties").is_some())
}

/// Returns whether a schema accepts a mapping.
pub(super) fn accepts_mapping(schema: &Value) -> bool {
    alternatives(schema).into_iter().any(|schema| has_type(schema, "object"))
}

/// Describes what the schema of a key accepts, and what to write instead of a value.
pub(super) fn describe(key: &str, node: &Node, schema: &Value) -> (String, String) {
    let range = match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        _ => String::new(),
    };
    let write_text = match node {
        Node::Bool(_) => "put it in quotes: in YAML `yes`, `no`, `on` and `off` are booleans".to_owned(),
        _ => format!("write `{key}: some text`"),
    };
    let described = [
        ("boolean", "true or false".to_owned(), format!("write `{key}: false`")),
        ("string", "a text".to_owned(), write_text),
        ("array", "a list of names".to_owned(), format!("write `{key}: [first, second]`")),
        ("number", format!("a number{range}"), format!("write `{key}: 0.9`")),
        ("integer", format!("an integer{range}"), "write such a number, or remove the key".to_owned()),
        ("object", "a mapping".to_owned(), format!("write `{key}: {{name: text}}`")),
    ];
    let schemas = alternatives(schema);
    let accepted = described.iter().filter(|(kind, ..)| schemas.iter().any(|schema| has_type(schema, kind)));
    let (what, advice): (Vec<&str>, Vec<&str>) = accepted.map(|(_, what, advice)| (&**what, &**advice)).unzip();
    (what.join(" or "), advice.first().copied().unwrap_or_default().to_owned())
}

/// Returns the schemas of which a value must match one.
fn alternatives(schema: &Value) -> Vec<&Value> {
    match schema.get("anyOf").and_then(Value::as_array) {
        Some(schemas) => schemas.iter().flat_map(alternatives).collect(),
        None => vec![schema],
    }
}

/// Returns whether a schema accepts a type.
fn has_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|own| own == name),
        own => own.is_some_and(|own| own == name),
    }
}

fn convert_one(node: &Node, schema: &Value) -> Option<Value> {
    let is = |name: &str| has_type(schema, name);
    match node {
        Node::Bool(value) if is("boolean") => Some(Value::Bool(*value)),
        Node::Number(number) if is("number") && is_in_range(*number, schema) => Some(Value::from(*number)),
        Node::Number(number) if is("integer") && is_in_range(*number, schema) => {
            (number.fract() == 0.0).then(|| Value::from(*number as i64))
        }
        Node::Text(_) | Node::Number(_) if is("string") => node.to_text().map(Value::String),
        Node::List(items) if is("array") => {
            let inner = schema.get("items")?;
            items.iter().map(|item| convert(&item.node, inner)).collect()
        }
        Node::Map(map) if is("object") => {
            let inner = schema.get("additionalProperties").filter(|inner| inner.is_object())?;
            map.iter().map(|(key, placed)| Some((key.clone(), convert(&placed.node, inner)?))).collect()
        }
        _ => None,
    }
}

fn is_in_range(number: f64, schema: &Value) -> bool {
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    limit("minimum").is_none_or(|least| number >= least) && limit("maximum").is_none_or(|most| number <= most)
}
