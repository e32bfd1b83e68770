//! Details of operations, and truncation.

use serde_json::Map;

use super::*;
use crate::ApiSource;

/// An API whose only operation has many parameters and a large body that it returns.
fn large() -> Api {
    let fields: Map<String, Value> =
        (0..60).map(|n| (format!("field_{n}"), json!({"$ref": "#/components/schemas/Address"}))).collect();
    let parameters: Vec<Value> = (0..60)
        .map(|n| json!({"name": format!("p{n}"), "in": "query", "description": "Words ".repeat(30), "required": n == 59,
                        "schema": {"type": "string", "enum": (0..30).map(|v| format!("value {v}")).collect::<Vec<_>>()}}))
        .collect();
    let body = json!({"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}});
    let root = json!({"openapi": "3.0.0",
        "paths": {"/orders": {"post": {"description": "Places. ".repeat(100), "parameters": parameters,
                                       "requestBody": body, "responses": {"200": body}}}},
        "components": {"schemas": {
            "Order": {"properties": {"lines": {"type": "array", "items": {"properties": fields}}, "a.b": {"type": "integer"}}},
            "Address": {"required": ["street"], "properties": {"street": {"type": "string"}, "id": {"readOnly": true}}}}}});
    ApiSource::new("shop", "").read(&root.to_string()).unwrap().0
}

fn asked(part: &str) -> PartRequest<'_> {
    PartRequest { part: Some(part), depth: None, words: PartWords::Argument }
}

fn show(part: Option<&str>, depth: Option<usize>) -> Value {
    let api = large();
    json!(details(&api, &api.operations[0], PartRequest { part, depth, words: PartWords::Argument }).unwrap())
}

#[test]
fn large_operation_fits_and_reports_truncation() {
    let whole = show(None, None);
    assert!(bytes(&whole) <= USUAL, "{}", bytes(&whole));
    assert_eq!(whole["truncated"], true);
    assert_eq!(
        whole["next"],
        "parameters, request_body, response_schema truncated; more: part=parameters, or part=p59, or \
         part=request_body.lines, or part=Order"
    );
    let parameters = whole["parameters"].as_array().unwrap();
    assert_eq!(parameters[0]["name"], "p59", "required parameters come first");
    assert!(parameters.last().unwrap()["$cut"].as_str().unwrap().contains("more: p"), "{parameters:?}");
    assert_eq!(whole["request_body"]["lines"], json!([{"$cut": "object"}]));
    assert_eq!(whole["response_schema"], json!({"$cut": "Order"}), "responses of writes are shortened");

    let deep = show(None, Some(3));
    assert!(bytes(&deep) <= MORE && bytes(&deep) > 2 * USUAL, "{}", bytes(&deep));
}

#[test]
fn next_uses_the_syntax_of_the_tool() {
    let api = large();
    let next = |part: Option<&str>| {
        let shown = details(&api, &api.operations[0], PartRequest { part, depth: None, words: PartWords::Id }).unwrap();
        json!(shown)["next"].as_str().unwrap_or_default().to_owned()
    };
    let whole = next(None);
    assert!(
        whole.ends_with(r##"more: ids: ["shop.post_orders#parameters"], or #p59, or #request_body.lines, or #Order"##),
        "{whole}"
    );
    assert_eq!(next(Some("auth")), "");
}

#[test]
fn every_suggested_part_exists() {
    let api = large();
    let next = show(None, None)["next"].as_str().unwrap().to_owned();
    let named: Vec<&str> = next.split("part=").skip(1).map(|part| part.trim_end_matches(", or ")).collect();
    assert_eq!(named.len(), 4, "{next}");
    for part in named {
        let shown = json!(details(&api, &api.operations[0], asked(part)).unwrap());
        assert!(shown["value"].to_string().len() > 50, "{part}: {shown}");
    }
}

#[test]
fn parameter_part_has_all_values() {
    let shown = show(Some("p7"), None);
    assert_eq!((&shown["value"]["name"], shown["value"]["enum"].as_array().map(Vec::len)), (&json!("p7"), Some(30)));
    assert_eq!(shown.get("truncated"), None);
    assert_eq!(show(Some("P7"), None)["value"]["name"], "p7");
}

#[test]
fn reveals_providers_of_identifiers() {
    let text = "openapi: 3.0.0\npaths:\n  /orders: {get: {operationId: listOrders, responses: {'200': {content: {application/json: {schema: \
                {type: array, items: {properties: {id: {type: integer}}}}}}}}}}\n  /orders/{id}: {delete: {operationId: remove, \
                parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {'204': {description: gone}}}}";
    let (api, problems) = ApiSource::new("shop", "").read(text).unwrap();
    assert_eq!(problems, []);
    let shown = details(&api, &api.operations[1], PartRequest::default()).unwrap();
    let reveals: Vec<String> = shown.reveals().into_iter().map(|resource| resource.id).collect();
    assert_eq!(reveals, ["shop", "shop.remove", "shop.listOrders"]);
    assert_eq!(json!(shown)["parameters"][0]["given_by"], json!(["listOrders"]));
}

#[test]
fn shows_a_part_in_full() {
    let check = |part: &str, expected: Value| {
        let shown = show(Some(part), None);
        assert_eq!((&shown["value"], &shown["part"]), (&expected, &json!(part)));
    };
    let answer = json!({"street": "string", "id": "any"});
    check("response_schema.lines.field_7", answer.clone());
    check("response_schema.lines.[].field_7.street", json!("string"));
    check("response_schema.a.b", json!("integer"));
    check("request_body.lines.field_7", json!({"$required": "all", "street": "string"}));
    check("Address", json!({"$required": ["street"], "street": "string", "id": "any"}));
    check("Order.lines.field_1", json!({"$required": ["street"], "street": "string", "id": "any"}));
    assert_eq!(show(Some("response_schema"), None)["value"]["lines"][0]["field_59"], answer);
    assert_eq!(show(Some("response_schema"), Some(1))["value"]["lines"], json!([{"$cut": "object"}]));
    assert_eq!(show(Some("parameters"), None)["value"].as_array().unwrap().len(), 60);
    assert!(show(Some("description"), None)["value"].as_str().unwrap().len() > 500);
}

#[test]
fn unknown_part_suggests_closest() {
    let api = large();
    let check = |part: &str, near: &str| {
        let error = details(&api, &api.operations[0], asked(part)).unwrap_err().to_string();
        assert!(error.contains(near), "{error}");
    };
    check("response_schem", "did you mean response_schema");
    check("Adress", "Address");
    check("response_schema.lins", "lines");
    check(&"a.".repeat(100_000), "there is no part");
}

#[test]
fn follows_variants_and_ends_in_cycles() {
    let text = "openapi: 3.0.0\npaths: {/a: {get: {responses: {'200': {content: {application/json: {schema: {$ref: '#/components/schemas/A'}}}}}}}}\n\
                components: {schemas: {A: {oneOf: [{$ref: '#/components/schemas/A'}, {$ref: '#/components/schemas/B'}]},\n\
                B: {properties: {b: {$ref: '#/components/schemas/A'}, x: {type: integer}}}}}";
    let (api, problems) = ApiSource::new("a", "").read(text).unwrap();
    assert_eq!(problems, []);
    let path = format!("response_schema{}.x", ".b".repeat(300));
    let shown = json!(details(&api, &api.operations[0], asked(&path)).unwrap());
    assert_eq!(shown["value"], "integer");
}

#[test]
fn divides_space_and_redistributes_the_rest() {
    assert_eq!(shares(&[10, 500, 90], 300), [10, 200, 90]);
    assert_eq!(shares(&[500, 0, 500], 300), [150, 0, 150]);
    assert_eq!(shares(&[1, 1, 1], 300), [1, 1, 1]);
}
