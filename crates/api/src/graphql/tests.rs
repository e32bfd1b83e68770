//! Parsing of GraphQL schemas.

use serde_json::json;

use super::*;
use crate::{
    Api, ApiKind, ApiSource,
    details::{PartRequest, details},
};

/// The details of every operation, without the fields that every operation has.
fn show(api: &Api) -> Value {
    let one = |operation| {
        let mut json = json!(details(api, operation, PartRequest::default()).unwrap());
        let fields = json.as_object_mut().unwrap();
        let elsewhere = ["api", "type", "path", "access", "example", "next", "truncated"];
        fields.retain(|key, _| !elsewhere.contains(&key.as_str()));
        json
    };
    api.operations.iter().map(one).collect()
}

fn load(text: &str) -> (Api, Vec<String>) {
    let source = ApiSource { kind: Some(ApiKind::GraphQl), ..ApiSource::new("f", "") };
    let (api, problems) = source.read(text).unwrap();
    (api, problems.iter().map(|p| format!("{}: {}", p.place, p.reason)).collect())
}

fn check(text: &str, expected: Value, problems_expected: &[&str]) {
    let (api, problems) = load(text);
    assert_eq!(problems, problems_expected);
    assert_eq!(show(&api), expected);
}

#[test]
fn root_fields_are_operations() {
    let order = json!({"id": "ID!", "state": "enum: OPEN | CLOSED", "names": "[String!]!",
                       "note(in: Language!)": "String",
                       "lines": [{"order": {"$cycle": "Order"}, "product": {"$cut": "Product"},
                                  "kind": {"$one_of": [{"$cycle": "Order"}, {"$cut": "Product"}]}}]});
    check(
        r#"
schema { query: Root }
extend schema @link(url: "https://example.com") { mutation: Changes }
extend schema @only(directives: true)
directive @wrong on NOWHERE
enum State { OPEN CLOSED }
input Wanted { state: State = OPEN, text: [String!], by: ID! }
type Root {
  """
  One order.
  With its lines.
  """
  order(id: ID!, states: [State!] = [OPEN], first: Int! = 10, deep: Float = 1.5): Order
}
type Query { unused: Int }
type Changes { add(wanted: Wanted!): Int! }
extend type Root { old: Order @deprecated(reason: "Use order.") }
type Order { id: ID!, state: State!, names: [String!]!, note(in: Language!, form: Int! = 1): String, lines: [Line!]! }
interface Line { order: Order!, product: Product, kind: Kind }
type Product { maker: Maker }
type Maker { id: ID }
union Kind = Order | Product
"#,
        json!([
            {"operation": "order", "method": "QUERY", "description": "One order. With its lines.",
             "parameters": [
                {"name": "id", "location": "argument", "type": "ID!", "required": true},
                {"name": "states", "location": "argument", "type": "[State!]", "enum": ["OPEN", "CLOSED"],
                 "default": ["OPEN"]},
                {"name": "first", "location": "argument", "type": "Int!", "default": 10},
                {"name": "deep", "location": "argument", "type": "Float", "default": 1.5}],
             "response_schema": order},
            {"operation": "old", "method": "QUERY", "description": "Deprecated: Use order.", "deprecated": true,
             "response_schema": order},
            {"operation": "add", "method": "MUTATION",
             "parameters": [{"name": "wanted", "location": "argument", "type": "Wanted!", "required": true}],
             "request_body": {"$required": "all",
                              "wanted": {"$required": ["by"], "state": "enum: OPEN | CLOSED", "text": "[String!]",
                                         "by": "ID!"}},
             "response_schema": "Int!"}
        ]),
        &[],
    );
}

#[test]
fn introspection_result_is_equivalent() {
    let named = |kind: &str, name: &str| json!({"kind": kind, "name": name});
    let needed = |inner: Value| json!({"kind": "NON_NULL", "ofType": inner});
    let listed = |inner: Value| json!({"kind": "LIST", "ofType": inner});
    let schema = json!({"description": "A shop.", "queryType": {"name": "Root"}, "mutationType": null, "types": [
        {"kind": "OBJECT", "name": "Root", "fields": [
            {"name": "order", "description": "One order.", "isDeprecated": true, "deprecationReason": "Use orders.",
             "args": [{"name": "id", "type": needed(named("SCALAR", "ID")), "defaultValue": null},
                      {"name": "first", "type": named("SCALAR", "Int"), "defaultValue": "10"}],
             "type": listed(needed(named("OBJECT", "Order")))},
            {"name": "broken", "type": {"kind": "LIST"}}]},
        {"kind": "OBJECT", "name": "Mutation", "fields": [{"name": "none", "type": named("SCALAR", "Int")}]},
        {"kind": "OBJECT", "name": "Order", "fields": [{"name": "state", "type": named("ENUM", "State"), "args": []}]},
        {"kind": "ENUM", "name": "State", "enumValues": [{"name": "OPEN"}, {"name": "CLOSED"}]},
        {"kind": "OBJECT", "name": "__Type", "fields": []},
        {"kind": "SCALAR", "name": "ID"},
        {"kind": "RIDDLE", "name": "What"},
        7
    ]});
    let expected = json!([
        {"operation": "order", "method": "QUERY", "description": "One order. Deprecated: Use orders.",
         "deprecated": true,
         "parameters": [{"name": "id", "location": "argument", "type": "ID!", "required": true},
                        {"name": "first", "location": "argument", "type": "Int", "default": 10}],
         "response_schema": [{"state": "enum: OPEN | CLOSED"}]}
    ]);
    for (text, at) in [(json!({"data": {"__schema": schema}}), "/data"), (json!({"__schema": schema}), "")] {
        let (api, problems) = load(&text.to_string());
        assert_eq!((show(&api), api.description.as_str(), api.kind), (expected.clone(), "A shop.", ApiKind::GraphQl));
        let problem = |place: usize, reason: &str| format!("f#{at}/__schema/types/{place}: {reason}");
        assert_eq!(
            problems,
            [
                problem(0, "field 1 has no name or no type"),
                problem(6, "unknown kind of type `What`"),
                problem(7, "the type has no name")
            ]
        );
    }
    // Without a declared kind.
    let detected = ApiSource::new("f", "f.json").read(&json!({"__schema": schema}).to_string()).unwrap().0;
    assert_eq!(detected.kind, ApiKind::GraphQl);
}

#[test]
fn invalid_definition_does_not_affect_others() {
    check(
        "type Query {\n  good: Int\n}\n\ntype Broken {\n  a: \n}\ntype Mutation { do: Int }",
        json!([
            {"operation": "good", "method": "QUERY", "response_schema": "Int"},
            {"operation": "do", "method": "MUTATION", "response_schema": "Int"}
        ]),
        &["f:7: the definition is not valid GraphQL: Unexpected `}[Punctuator]`, Expected Name or ["],
    );
}

#[test]
fn reports_schema_without_operations() {
    let none = "f: no operations: the GraphQL schema has no query, mutation or subscription type";
    check("type A { a: Int }", json!([]), &[none]);
    check("", json!([]), &[none]);
}

#[test]
fn accepts_multi_byte_white_space() {
    check(
        "type Query {\n  \"\"\"\n  One\n\u{3000}two\n  \"\"\"\n  a: Int\n}",
        json!([{"operation": "a", "method": "QUERY", "description": "One two", "response_schema": "Int"}]),
        &[],
    );
}

#[test]
fn field_of_two_roots_has_two_names() {
    let (api, _) = load("type Query { user: Int }\ntype Subscription { user: Int }");
    let names: Vec<&str> = api.operations.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["query_user", "subscription_user"]);
}

#[test]
fn limits_nesting_of_types() {
    let deep = format!("type Query {{ a: {}Int{} }}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(load(&deep).1.len(), 2);
    let value = format!("type Query {{ a(b: [Int] = {}1{}): Int }}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(load(&value).1.len(), 2);
}
