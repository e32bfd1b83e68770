//! The typed pieces of an OpenAPI 3.0 document. `openapiv3` reads all or nothing, and what a fault inside a schema costs
//! it doubles with every level. So each piece is read on its own, every schema in it is replaced by a reference to its
//! place, and what does not hold is left out of the operation instead of costing it.

use openapiv3::{Operation, ReferenceOr};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::document::{escaped, lookup, unresolved};

/// Parts that say nothing to a caller and are not read.
const SKIPPED: [&str; 13] = [
    "allowEmptyValue",
    "allowReserved",
    "callbacks",
    "discriminator",
    "encoding",
    "example",
    "examples",
    "explode",
    "externalDocs",
    "headers",
    "links",
    "servers",
    "style",
];

/// What was left out of an operation, and why.
pub(crate) type LeftOut = Vec<(String, String)>;

/// The piece at `pointer`.
pub(crate) fn piece<T: DeserializeOwned>(value: &Value, pointer: &str) -> Result<T, String> {
    typed(framed(value, &mut pointer.to_owned()))
}

/// The operation at `pointer`, as far as it holds.
pub(crate) fn operation(value: &Value, pointer: &str) -> Result<(Operation, LeftOut), String> {
    let Value::Object(mut parts) = framed(value, &mut pointer.to_owned()) else {
        return Err("it is no object".to_owned());
    };
    parts.entry("responses").or_insert_with(|| json!({}));
    if let Ok(operation) = typed(Value::Object(parts.clone())) {
        return Ok((operation, Vec::new()));
    }
    let mut left_out = Vec::new();
    let mut kept = Map::new();
    for (key, part) in parts {
        if let Some(part) = sound(&key, part, &mut left_out) {
            kept.insert(key, part);
        }
    }
    kept.entry("responses").or_insert_with(|| json!({}));
    Ok((typed(Value::Object(kept))?, left_out))
}

/// What a piece or a reference to one stands for in the end.
pub(crate) fn resolved<T: DeserializeOwned>(root: &Value, mut next: ReferenceOr<T>) -> Result<T, String> {
    for _ in 0..16 {
        match next {
            ReferenceOr::Item(item) => return Ok(item),
            ReferenceOr::Reference { reference } => {
                let target = lookup(root, &reference).ok_or_else(|| unresolved(&reference))?;
                next = piece(target, reference.trim_start_matches('#')).map_err(|e| format!("`{reference}`: {e}"))?;
            }
        }
    }
    Err("its references go round in a circle".to_owned())
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// What of one part of an operation holds when it is read alone.
fn sound(key: &str, part: Value, left_out: &mut LeftOut) -> Option<Value> {
    let fault = |part: &Value| {
        let mut alone = json!({ "responses": {} });
        alone[key] = part.clone();
        typed::<Operation>(alone).err()
    };
    let Some(reason) = fault(&part) else { return Some(part) };
    match part {
        Value::Array(items) => {
            let mut kept = Vec::new();
            for (number, item) in items.into_iter().enumerate() {
                match fault(&json!([item])) {
                    None => kept.push(item),
                    Some(reason) => {
                        let name = item.get("name").and_then(Value::as_str).map(str::to_owned);
                        left_out.push((format!("{key} {}", name.unwrap_or_else(|| number.to_string())), reason));
                    }
                }
            }
            Some(Value::Array(kept))
        }
        Value::Object(entries) => {
            let mut kept = Map::new();
            for (name, entry) in entries {
                match fault(&json!({ name.as_str(): entry })) {
                    None => _ = kept.insert(name, entry),
                    Some(reason) => left_out.push((format!("{key} {name}"), reason)),
                }
            }
            Some(Value::Object(kept)).filter(|kept| fault(kept).is_none())
        }
        _ => {
            left_out.push((key.to_owned(), reason));
            None
        }
    }
}

/// A copy with references in the place of schemas and without what is not read. Faults that do not matter are mended:
/// a text that YAML took for a number, a response without a description, a parameter that has its type as in 2.0.
fn framed(value: &Value, pointer: &mut String) -> Value {
    let length = pointer.len();
    match value {
        Value::Object(parts) => {
            let mut out = Map::new();
            for (key, part) in parts {
                if part.is_null() || SKIPPED.contains(&key.as_str()) || key.starts_with("x-") {
                    continue;
                }
                pointer.push('/');
                pointer.push_str(&escaped(key));
                let copy = match (key.as_str(), part) {
                    ("schema", _) => reference_to(pointer),
                    ("security" | "tags" | "flows", _) => part.clone(),
                    ("description" | "summary" | "operationId" | "name", Value::Number(_) | Value::Bool(_)) => {
                        Value::String(part.to_string())
                    }
                    _ => framed(part, pointer),
                };
                pointer.truncate(length);
                out.insert(key.clone(), copy);
            }
            let untyped = !out.contains_key("schema") && !out.contains_key("content");
            if untyped && out.contains_key("in") && out.contains_key("name") {
                out.insert("schema".into(), reference_to(pointer));
            }
            describe(&mut out, |parts| parts.contains_key("content"));
            let responses = out.get_mut("responses").and_then(Value::as_object_mut);
            for response in responses.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
                describe(response, |parts| !parts.contains_key("$ref"));
            }
            Value::Object(out)
        }
        Value::Array(items) => {
            let mut out = Vec::with_capacity(items.len());
            for (number, item) in items.iter().enumerate() {
                pointer.push_str(&format!("/{number}"));
                out.push(framed(item, pointer));
                pointer.truncate(length);
            }
            Value::Array(out)
        }
        other => other.clone(),
    }
}

fn reference_to(pointer: &str) -> Value {
    json!({ "$ref": format!("#{pointer}") })
}

fn describe(parts: &mut Map<String, Value>, wanted: impl Fn(&Map<String, Value>) -> bool) {
    if wanted(parts) {
        parts.entry("description").or_insert_with(|| json!(""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left out of an operation, as `part: reason`.
    fn check(operation_value: Value, expected: &[&str]) -> Operation {
        let (operation, left_out) = operation(&operation_value, "/paths/~1a/get").unwrap();
        let left_out: Vec<String> = left_out.into_iter().map(|(part, reason)| format!("{part}: {reason}")).collect();
        assert_eq!(left_out, expected);
        operation
    }

    #[test]
    fn small_faults_are_mended() {
        let operation = check(
            json!({"summary": 12, "tags": null, "parameters": [{"name": "q", "in": "query", "type": "string"}],
                   "responses": {"200": {"content": {"application/json": {"schema": {"type": ["string", "null"]}}}},
                                 "204": {}}}),
            &[],
        );
        assert_eq!(operation.summary.as_deref(), Some("12"));
        assert_eq!(operation.parameters.len(), 1);
        assert_eq!(operation.responses.responses.len(), 2);
    }

    #[test]
    fn a_broken_part_costs_only_itself() {
        let operation = check(
            json!({"deprecated": "perhaps", "parameters": [{"name": "q", "in": "nowhere"}, {"name": "r", "in": "query"}],
                   "responses": {"200": 7, "404": {"description": "gone"}}}),
            &[
                "deprecated: invalid type: string \"perhaps\", expected a boolean",
                "parameters q: unknown variant `nowhere`, expected one of `query`, `header`, `path`, `cookie`",
                "responses 200: invalid type: integer `7`, expected struct Response",
            ],
        );
        assert_eq!(operation.parameters.len(), 1);
        assert_eq!(operation.responses.responses.len(), 1);
    }

    #[test]
    fn a_fault_deep_in_a_schema_costs_no_time() {
        let mut schema = json!({"type": "string", "maxLength": "many"});
        for _ in 0..60 {
            schema = json!({"type": "object", "properties": {"inner": schema}});
        }
        check(json!({"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}), &[]);
    }

    #[test]
    fn references_in_a_circle_end() {
        let root = json!({"components": {"responses": {"A": {"$ref": "#/components/responses/B"},
                                                       "B": {"$ref": "#/components/responses/A"}}}});
        let start = ReferenceOr::<openapiv3::Response>::ref_("#/components/responses/A");
        assert_eq!(resolved(&root, start).unwrap_err(), "its references go round in a circle");
    }
}
