//! What OpenAPI and Swagger documents are read into.

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

/// The details of the only operation of a document, without what every operation has.
fn check_document(yaml: &str, expected: Value) {
    let (api, problems) = load(yaml);
    assert_eq!(problems, Vec::<String>::new());
    let [operation] = api.operations.as_slice() else { panic!("{:?}", api.operations) };
    // What a write answers is shown where somebody asks for its levels.
    let request = PartRequest { depth: Some(5), ..PartRequest::default() };
    let mut json = json!(details(&api, operation, request).unwrap());
    let fields = json.as_object_mut().unwrap();
    let elsewhere = ["api", "operation", "type", "method", "path", "access", "example"];
    fields.retain(|key, _| !elsewhere.contains(&key.as_str()));
    assert_eq!(json, expected);
}

/// As [`check_document`], for one path of 3.0.
fn check(path_item: &str, components: &str, expected: Value) {
    check_document(&format!("openapi: 3.0.0\npaths:\n  /a/{{id}}: {path_item}\ncomponents: {components}"), expected);
}

#[test]
fn parameters_of_path_and_operation_are_merged() {
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
fn bodies_and_responses_are_resolved_and_the_first_success_is_shown() {
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
fn a_default_response_counts_where_no_success_is_described() {
    check(
        "{get: {responses: {default: {description: d, content: {text/csv: {}}}}}}",
        "{}",
        json!({"response_schema": {"$content": "text/csv"}}),
    );
}

#[test]
fn swagger_2_is_read_as_well() {
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
fn openapi_3_1_is_read_as_well() {
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
fn references_lead_into_other_files() {
    let files = |path: &str| {
        match path {
        "paths/orders.yaml" => Ok("get:\n  parameters: [{$ref: '../common.json#/limit'}]\n  responses:\n    '200':\n      content: {application/json: {schema: {$ref: order.yaml}}}\n".to_owned()),
        "paths/order.yaml" => Ok("properties:\n  id: {type: integer}\n  lines: {type: array, items: {$ref: '#/line'}}\nline: {properties: {order: {$ref: './order.yaml'}}}\n".to_owned()),
        "common.json" => Ok("{\"limit\": {\"name\": \"limit\", \"in\": \"query\", \"schema\": {\"type\": \"integer\"}}}".to_owned()),
        other => Err(crate::NeighbourError::new(format!("not {other}"))),
    }
    };
    let text = "openapi: 3.0.0\npaths:\n  /orders: {$ref: 'paths/orders.yaml'}\n  /gone: {$ref: 'paths/gone.yaml'}";
    let (api, problems) = ApiSource::new("f", "").read_with(text, "main.yaml", &files).unwrap();
    let json = json!(details(&api, &api.operations[0], PartRequest::default()).unwrap());
    assert_eq!(json["response_schema"], json!({"id": "integer", "lines": [{"order": {"$cycle": "order"}}]}));
    assert_eq!(json["parameters"][0]["name"], "limit");
    assert_eq!(api.files.len(), 3);
    assert_eq!(problems[0].place, "f#/paths/~1gone");
    assert!(problems[0].reason.ends_with("`paths/gone.yaml`, which cannot be read: not paths/gone.yaml"));
}

#[test]
fn security_is_said_in_a_line_each() {
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
fn what_is_broken_costs_only_itself_and_is_said() {
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
            "warning: f#/paths/relative: the path does not begin with `/`; it was read as `/relative` (write `/relative`)",
            "error: f#/paths/~1null: the path is no object",
            "error: f#/paths/~1gone: the reference `#/nowhere` leads nowhere",
            "error: f#/paths/~1bad/get: the operation cannot be read: it is no object (correct it; the other operations are loaded)",
            "warning: f#/paths/~1bad/post/parameters/0: parameter `q` is left out: it has no `in`",
            "warning: f#/paths/~1bad/post/parameters/1: the parameter is left out: it is no object",
            "warning: f#/paths/~1bad/post/parameters/2: parameter `r` is left out: `in` is `nowhere`",
            "warning: f#/paths/~1bad/post/responses/200: the response is left out: it is no object",
            "warning: f#/paths/~1good/get: the reference `#/components/schemas/No` leads nowhere",
            "warning: f#/paths/~1good/post/parameters: `parameters` is left out: it is no list",
            "warning: f#/paths/~1good/post/requestBody: the request body is left out: the reference `other.yaml#/b` leads to `other.yaml`, which cannot be read: there is no other file",
            "warning: f#/paths/~1good/post/responses: `responses` is left out: it is no object",
            "warning: f#/paths/~1good/post: there is no security scheme `no`",
        ]
    );
}

#[test]
fn the_api_is_described_by_its_title_and_its_first_server() {
    let (api, problems) = load(
        "openapi: 3.0.0\ninfo: {title: Shop, description: Sells *things*.}\nservers: [{url: 'https://{host}/v1', variables: {host: {default: shop.example}}}]",
    );
    assert_eq!(api.description, "Shop. Sells *things*.");
    assert_eq!(api.url.as_deref(), Some("https://shop.example/v1"));
    assert_eq!(problems, ["error: f: it has no `paths`"]);
    let url = |yaml: &str| load(&format!("swagger: 2.0\npaths: {{}}\n{yaml}")).0.url;
    assert_eq!(url("host: a.example\nbasePath: /v2/\nschemes: [http]").as_deref(), Some("http://a.example/v2"));
    assert_eq!(url("basePath: /"), None);
}

#[test]
fn names_and_paths_that_are_too_long_to_be_shown_are_refused() {
    let long = "x".repeat(500);
    let (api, problems) =
        load(&format!("openapi: 3.0.0\npaths: {{/{long}: {{get: {{}}}}, /a: {{get: {{operationId: {long}}}}}}}"));
    assert_eq!(api.operations[0].name, "get_a");
    assert!(problems[0].ends_with("the path is longer than 400 bytes"), "{}", problems[0]);
    assert!(problems[1].ends_with("`operationId` is left out: it is longer than 160 bytes"), "{}", problems[1]);
}

#[test]
fn references_that_repeat_operations_and_parameters_end() {
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
