//! Parsing and rendering of schemas.

use serde_json::{Map, json};

use super::*;
use crate::shape::{Side, fit};

/// Returns the rendering of a response with `schema`, where `schemas` are the components, and the number of
/// unresolved references.
fn read(schemas: Value, schema: Value, side: Side) -> (Value, usize) {
    let root = json!({ "components": { "schemas": schemas }, "start": schema });
    let (library, _) = Library::new(root, "", &|_| Err(std::io::Error::other("none")));
    let mut reader = Schemas::new(&library);
    let start = reader.shape(Node { value: &library.root().value["start"], ..library.root() });
    let (types, _) = reader.types();
    (fit(&types, &start, side, 5, 1_800).value, reader.missing.len())
}

fn check(schemas: Value, schema: Value, expected: Value) {
    assert_eq!(read(schemas, schema, Side::Response).0, expected);
}

fn to(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

#[test]
fn resolves_references_and_scalars() {
    check(
        json!({"Pet": {"type": "object", "properties": {
            "id": {"type": "integer", "format": "int64"},
            "born": {"type": "string", "format": "date", "nullable": true},
            "state": to("State"),
            "tags": {"type": "array", "items": {"type": "string"}},
            "names": {"type": "object", "additionalProperties": {"type": "string"}},
            "free": {},
            "either": {"type": ["string", "integer", "null"]}
        }}, "State": {"type": "string", "enum": ["alive", "dead"]}}),
        to("Pet"),
        json!({"id": "integer", "born": "string (date) or null", "state": "enum: alive | dead", "tags": ["string"],
               "names": {"*": "string"}, "free": "any", "either": "string or integer or null"}),
    );
}

#[test]
fn marks_cycles() {
    let schemas = json!({"Category": {"properties": {"name": {"type": "string"}, "parent": to("Category"),
                                      "children": {"type": "array", "items": to("Category")}}}});
    check(
        schemas,
        to("Category"),
        json!({"name": "string", "parent": {"$cycle": "Category"}, "children": [{"$cycle": "Category"}]}),
    );
    check(json!({"A": to("B"), "B": to("A")}), to("A"), json!({"$cycle": "A"}));
    check(json!({"A": {"allOf": [to("A"), {"type": "object"}]}}), to("A"), json!({"$cycle": "A"}));
    check(json!({"A": {"type": "array", "items": to("A")}}), to("A"), json!([{"$cycle": "A"}]));
}

#[test]
fn merges_all_of_and_lists_variants() {
    let schemas = json!({
        "Base": {"properties": {"id": {"type": "integer"}}},
        "Cat": {"allOf": [to("Base"), {"properties": {"purrs": {"type": "boolean"}}}]},
        "Kitten": {"allOf": [to("Base"), to("Cat")]},
        "Dog": {"properties": {"barks": {"type": "boolean"}}}
    });
    check(schemas.clone(), to("Cat"), json!({"id": "integer", "purrs": "boolean"}));
    // A schema that is inherited twice is not a cycle.
    check(schemas.clone(), to("Kitten"), json!({"id": "integer", "purrs": "boolean"}));
    check(
        schemas.clone(),
        json!({"oneOf": [to("Dog"), to("Base")]}),
        json!({"$one_of": [{"barks": "boolean"}, {"id": "integer"}]}),
    );
    check(schemas.clone(), json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), json!("string or integer"));
    check(schemas.clone(), json!({"oneOf": [to("Dog"), {"type": "null"}]}), json!({"barks": "boolean"}));
    check(
        schemas,
        json!({"properties": {"a": {}}, "oneOf": [to("Dog"), to("Base")], "anyOf": [{"required": ["a"]}]}),
        json!({"a": "any", "$one_of": [{"barks": "boolean"}, {"id": "integer"}]}),
    );
}

#[test]
fn request_has_required_and_omits_read_only() {
    let order = json!({"type": "object", "required": ["id", "customer"], "properties": {
        "id": {"type": "integer", "readOnly": true}, "customer": {"type": "string"}, "note": {"type": "string"}
    }});
    assert_eq!(
        read(json!({}), order.clone(), Side::Request).0,
        json!({"$required": ["customer"], "customer": "string", "note": "string"})
    );
    check(json!({}), order, json!({"id": "integer", "customer": "string", "note": "string"}));
}

#[test]
fn reports_unresolved_references() {
    let schema = json!({"properties": {"a": to("Gone"), "b": {"$ref": "other.yaml#/X"}}});
    assert_eq!(
        read(json!({}), schema, Side::Response),
        (json!({"a": {"$unresolved": "#/components/schemas/Gone"}, "b": {"$unresolved": "other.yaml#/X"}}), 2)
    );
}

#[test]
fn limits_chains_and_fan_out() {
    // A chain of references much deeper than the stack allows.
    let chain: Map<String, Value> = (0..10_000)
        .map(|n| (format!("C{n}"), json!({"allOf": [to(&format!("C{}", n + 1)), {"type": "object"}]})))
        .collect();
    check(chain.into(), to("C0"), json!({"$cut": "parts of allOf"}));

    // Each schema merges all others, so the total is quadratic.
    let fan: Vec<Value> = (0..400).map(|n| to(&format!("F{n}"))).collect();
    let fan: Map<String, Value> = (0..400)
        .map(|n| (format!("F{n}"), json!({"properties": {format!("f{n}"): to(&format!("F{n}"))}, "allOf": fan})))
        .collect();
    let shown = read(fan.into(), to("F0"), Side::Response).0;
    assert_eq!(shown["f0"], json!({"$cycle": "F0"}));
}

#[test]
fn tolerates_invalid_schemas() {
    for schema in [json!(true), json!("x"), json!(null), json!([1])] {
        check(json!({}), schema, json!("any"));
    }
    check(
        json!({}),
        json!({"type": 3, "properties": {"a": {"type": "string", "required": true}, "b": 7}, "enum": "x", "$ref": 1}),
        json!({"a": "string", "b": "any"}),
    );
}
