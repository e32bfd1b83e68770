//! Parsing of OpenAPI and Swagger documents.

use serde_json::json;

use super::*;
use crate::{
    ApiSource,
    details::{PartRequest, details},
};

fn load(yaml: &str) -> (crate::Api, Vec<String>) {
    let (api, problems) = ApiSource::new("f", "").read(yaml).unwrap();
    (api, problems.iter().map(|p| p.to_string()).collect())
}

/// Checks the details of the only operation of a document, without the fields that every operation has.
fn check_document(yaml: &str, expected: Value) {
    let (api, problems) = load(yaml);
    assert_eq!(problems, Vec::<String>::new());
    let [operation] = api.operations.as_slice() else { panic!("{:?}", api.operations) };
    // The response to a write is shown if a depth is requested.
    let request = PartRequest { depth: Some(5), ..PartRequest::default() };
    let mut json = json!(details(&api, operation, request).unwrap());
    let fields = json.as_object_mut().unwrap();
    let elsewhere = ["api", "operation", "type", "method", "path", "access", "example"];
    fields.retain(|key, _| !elsewhere.contains(&key.as_str()));
    assert_eq!(json, expected);
}

/// Like [`check_document`], for one path of 3.0.
fn check(path_item: &str, components: &str, expected: Value) {
    check_document(&format!("openapi: 3.0.0\npaths:\n  /a/{{id}}: {path_item}\ncomponents: {components}"), expected);
}

#[test]
fn merges_parameters_of_path_and_operation() {
    check(
        r##"{parameters: [{$ref: "#/components/parameters/id"}, {name: page, in: query, schema: {type: string}}],
            get: {tags: [Pages, 7], deprecated: true, parameters: [{name: page, in: query, description: "Which. One.",
                                schema: {type: integer, default: 1, enum: [1, 2]}}], responses: {}}}"##,
        "{parameters: {id: {name: id, in: path, schema: {type: array, items: {type: string}}}}}",
        json!({"tags": ["Pages", "7"], "deprecated": true, "parameters": [
            {"name": "id", "location": "path", "type": "array of string", "required": true},
            {"name": "page", "location": "query", "type": "integer", "description": "Which. One.",
             "enum": [1, 2], "default": 1}
        ]}),
    );
}

#[test]
fn resolves_bodies_and_shows_first_success() {
    check(
        r##"{post: {summary: Add, requestBody: {$ref: "#/components/requestBodies/B"}, responses: {
               default: {$ref: "#/components/responses/Error"}, "404": {description: no},
               "201": {$ref: "#/components/responses/R"}, "204": {description: nothing}}}}"##,
        r##"{requestBodies: {B: {content: {application/xml: {}, multipart/form-data: {schema: {$ref: "#/components/schemas/S"}}}}},
             responses: {R: {description: r, content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/S"}}}}},
                         Error: {description: e, content: {application/json: {schema: {type: integer}}}}},
             schemas: {S: {required: [x], properties: {x: {type: string, format: binary}}}}}"##,
        json!({"description": "Add",
               "request_body": {"$content": "multipart/form-data", "$required": "all", "x": "string (binary)"},
               "response_schema": [{"x": "string (binary)"}]}),
    );
}

#[test]
fn falls_back_to_default_response() {
    check(
        "{get: {responses: {default: {description: d, content: {text/csv: {}}}}}}",
        "{}",
        json!({"response_schema": {"$content": "text/csv"}}),
    );
}

#[test]
fn reads_swagger_2() {
    check_document(
        r##"
swagger: "2.0"
consumes: [application/xml]
produces: [text/plain]
paths:
  /orders/{id}:
    parameters: [{name: id, in: path, required: true, type: integer, format: int64}]
    put:
      summary: Change it
      consumes: [application/json]
      parameters:
      - {name: state, in: query, type: array, items: {type: string, enum: [open, closed]}, collectionFormat: csv}
      - {name: order, in: body, schema: {$ref: "#/definitions/Order"}}
      responses: {200: {description: ok, schema: {$ref: "#/definitions/Order"}}}
      security: [{key: []}, {basic: [], web: [write]}]
definitions:
  Order: {type: object, required: [total], properties: {total: {type: number}, parent: {$ref: "#/definitions/Order"}}}
securityDefinitions:
  key: {type: apiKey, in: query, name: k}
  basic: {type: basic}
  web: {type: oauth2, flow: implicit}
"##,
        json!({"description": "Change it", "parameters": [
                {"name": "id", "location": "path", "type": "integer", "required": true},
                {"name": "state", "location": "query", "type": "array of string", "enum": ["open", "closed"]}],
               "request_body": {"$required": ["total"], "total": "number", "parent": {"$cycle": "Order"}},
               "response_schema": {"$content": "text/plain", "total": "number", "parent": {"$cycle": "Order"}},
               "auth": ["api_key in query k", "basic (http) + oauth2: scope write"]}),
    );
    check_document(
        r##"
swagger: "2.0"
host: shop.example
paths:
  /files:
    post:
      parameters: [{name: note, in: formData, type: string}, {name: data, in: formData, type: file, required: true}]
      responses: {}
"##,
        json!({"request_body": {"$content": "multipart/form-data", "$required": ["data"], "note": "string",
                                "data": "file"}}),
    );
}

#[test]
fn reads_openapi_3_1() {
    check_document(
        r##"
openapi: 3.1.0
paths: {/pets: {$ref: "#/components/pathItems/Pets"}}
components:
  pathItems: {Pets: {get: {responses: {2XX: {content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}}}}}
  schemas:
    Pet:
      type: [object, "null"]
      properties:
        id: {type: [integer, string]}
        kind: {const: cat}
        born: {type: [string, "null"], format: date}
        at: {type: array, prefixItems: [{type: number}, {type: number}]}
        owner: {$ref: "#/components/schemas/Owner", description: The one who pays}
        more: {$ref: "#/components/schemas/Owner", properties: {since: {type: string}}}
      patternProperties: {"^x-": {type: string}}
    Owner: {$defs: {Name: {type: string}}, properties: {name: {$ref: "#/components/schemas/Owner/$defs/Name"}}}
"##,
        json!({"response_schema": {
            "id": "integer or string", "kind": "enum: cat", "born": "string (date) or null", "at": ["number"],
            "owner": {"name": "string"}, "more": {"name": "string", "since": "string"}, "*": "string"}}),
    );
}

#[test]
fn resolves_references_to_other_files() {
    let files = |path: &str| {
        match path {
        "paths/orders.yaml" => Ok("get:\n  parameters: [{$ref: '../common.json#/limit'}]\n  responses:\n    '200':\n      content: {application/json: {schema: {$ref: order.yaml}}}\n".to_owned()),
        "paths/order.yaml" => Ok("properties:\n  id: {type: integer}\n  lines: {type: array, items: {$ref: '#/line'}}\nline: {properties: {order: {$ref: './order.yaml'}}}\n".to_owned()),
        "common.json" => Ok("{\"limit\": {\"name\": \"limit\", \"in\": \"query\", \"schema\": {\"type\": \"integer\"}}}".to_owned()),
        other => Err(std::io::Error::other(format!("not {other}"))),
    }
    };
    let text = "openapi: 3.0.0\npaths:\n  /orders: {$ref: 'paths/orders.yaml'}\n  /gone: {$ref: 'paths/gone.yaml'}";
    let (api, problems) = ApiSource::new("f", "").read_with(text, "main.yaml", &files).unwrap();
    let json = json!(details(&api, &api.operations[0], PartRequest::default()).unwrap());
    assert_eq!(json["response_schema"], json!({"id": "integer", "lines": [{"order": {"$cycle": "order"}}]}));
    assert_eq!(json["parameters"][0]["name"], "limit");
    assert_eq!(api.files.len(), 3);
    assert_eq!(problems[0].place, "f#/paths/~1gone");
    assert!(problems[0].reason.ends_with("cannot read `paths/gone.yaml`: not paths/gone.yaml"));
}

#[test]
fn renders_one_line_per_security_alternative() {
    let schemes = "{securitySchemes: {k: {type: apiKey, in: header, name: X-Key}, b: {type: http, scheme: Bearer},
                     o: {type: oauth2, flows: {}}, m: {type: mutualTLS}}}";
    check(
        "{get: {security: [{k: [], b: []}, {o: [read, write]}, {m: []}, {}], responses: {}}}",
        schemes,
        json!({"auth": ["api_key in header X-Key + bearer (http)", "oauth2: scope read, write", "mutualtls", "none"]}),
    );
    let global = format!("{schemes}\nsecurity: [{{k: []}}]");
    check("{get: {responses: {}}}", &global, json!({"auth": ["api_key in header X-Key"]}));
    check("{get: {security: [], responses: {}}}", &global, json!({}));
}

#[test]
fn invalid_parts_are_reported_and_skipped() {
    let (api, problems) = load(
        r##"
openapi: 3.0.0
paths:
  x-note: fine
  relative: {get: {}}
  /null: 5
  /gone: {$ref: "#/nowhere"}
  /bad: {get: 7, post: {parameters: [{name: q}, 3, {name: r, in: nowhere}], responses: {"200": 7}}}
  /good:
    get: {summary: 12, tags: null, responses: {"200": {content: {application/json: {schema: {$ref: "#/components/schemas/No"}}}}}}
    post: {security: [{no: []}], requestBody: {$ref: "other.yaml#/b"}, parameters: {}, responses: []}
"##,
    );
    let routes: Vec<String> = api.operations.iter().map(Operation::route).collect();
    assert_eq!(routes, ["GET /relative", "POST /bad", "GET /good", "POST /good"]);
    assert_eq!(api.operations[2].description, "12");
    assert_eq!(
        problems,
        [
            "warning: f#/paths/relative: the path does not start with `/`; using `/relative` (write `/relative`)",
            "error: f#/paths/~1null: the path is not an object",
            "error: f#/paths/~1gone: unresolved reference `#/nowhere`",
            "error: f#/paths/~1bad/get: invalid operation: not an object (fix it; the other operations are loaded)",
            "warning: f#/paths/~1bad/post/parameters/0: skipped parameter `q`: `in` is missing",
            "warning: f#/paths/~1bad/post/parameters/1: skipped the parameter: not an object",
            "warning: f#/paths/~1bad/post/parameters/2: skipped parameter `r`: unsupported `in: nowhere`",
            "warning: f#/paths/~1bad/post/responses/200: skipped the response: not an object",
            "warning: f#/paths/~1good/get: unresolved reference `#/components/schemas/No`",
            "warning: f#/paths/~1good/post/parameters: skipped `parameters`: not a list",
            "warning: f#/paths/~1good/post/requestBody: skipped the request body: unresolved reference `other.yaml#/b`: cannot read `other.yaml`: there are no other files",
            "warning: f#/paths/~1good/post/responses: skipped `responses`: not an object",
            "warning: f#/paths/~1good/post: unknown security scheme `no`",
        ]
    );
}

#[test]
fn uses_title_and_first_server() {
    let (api, problems) = load(
        "openapi: 3.0.0\ninfo: {title: Shop, description: Sells *things*.}\nservers: [{url: 'https://{host}/v1', variables: {host: {default: shop.example}}}]",
    );
    assert_eq!(api.description, "Shop. Sells *things*.");
    assert_eq!(api.url.as_deref(), Some("https://shop.example/v1"));
    assert_eq!(problems, ["error: f: `paths` is missing"]);
    let url = |yaml: &str| load(&format!("swagger: 2.0\npaths: {{}}\n{yaml}")).0.url;
    assert_eq!(url("host: a.example\nbasePath: /v2/\nschemes: [http]").as_deref(), Some("http://a.example/v2"));
    assert_eq!(url("basePath: /"), None);
}

#[test]
fn rejects_long_names_and_paths() {
    let long = "x".repeat(500);
    let (api, problems) =
        load(&format!("openapi: 3.0.0\npaths: {{/{long}: {{get: {{}}}}, /a: {{get: {{operationId: {long}}}}}}}"));
    assert_eq!(api.operations[0].name, "get_a");
    assert!(problems[0].ends_with("the path is longer than 400 bytes"), "{}", problems[0]);
    assert!(problems[1].ends_with("skipped `operationId`: longer than 160 bytes"), "{}", problems[1]);
}

#[test]
fn limits_repeated_operations_and_parameters() {
    let parameters: String = (0..600).map(|n| format!("{{name: p{n}, in: query}},")).collect();
    let methods: String = METHODS.iter().map(|method| format!("{method}: {{}},")).collect();
    let paths: String = (0..100).map(|n| format!("  /p{n}: {{$ref: '#/components/pathItems/x'}}\n")).collect();
    let (api, problems) = load(&format!(
        "openapi: 3.1.0\npaths:\n{paths}components: {{pathItems: {{x: {{parameters: [{parameters}], {methods}}}}}}}"
    ));
    assert_eq!(api.operations.len(), 900);
    let parameters: usize = api.operations.iter().map(|operation| operation.parameters.len()).sum();
    assert!(parameters < MORE_PARAMETERS + 10_000, "{parameters}");
    assert!(problems[0].ends_with("only the first 500 of 600 are read"), "{}", problems[0]);
    assert!(problems.iter().any(|problem| problem.contains("too many parameters")), "{problems:?}");
}
