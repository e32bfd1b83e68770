//! Requests of calls, and rejected calls.

use std::sync::Mutex;

use prospector_core::tokens;
use serde_json::json;

use super::*;
use crate::{ApiSource, model::LiveServer};

const SHOP: &str = r#"
openapi: 3.0.0
info: {title: Shop}
servers: [{url: "https://shop.example/v1"}]
paths:
  /orders/{id}:
    get:
      operationId: getOrder
      parameters:
      - {name: id, in: path, required: true, schema: {type: string}}
      - {name: with, in: query, schema: {type: array, items: {type: string}}}
      - {name: X-Trace, in: header, schema: {type: string}}
    delete: {operationId: dropOrder, parameters: [{name: id, in: path, required: true, schema: {type: string}}]}
  /keys: {get: {operationId: keys, parameters: [{name: X-Key, in: header, required: true, schema: {type: string}}]}}
"#;
const PEOPLE: &str = "type Query { user(id: ID!, old: Boolean): User, all(first: Int = 9): [User!]!, count: Int } \
    type Mutation { drop(id: ID!): Int } type User { id: ID! name: String friends: [User!] }";

const CLOCK: &str = r#"{"tools": [{"name": "now", "inputSchema": {"properties": {"zone": {"type": "string"}}}}]}"#;

/// Returns the requests that it was asked to send.
#[derive(Debug, Default)]
struct Echo(Mutex<Vec<Call>>);

#[async_trait]
impl Caller for Echo {
    async fn call(&self, call: &Call) -> Result<Reply, NotCalled> {
        self.0.lock().unwrap().push(call.clone());
        let text = match &call.message {
            Message::Query(query) => query.to_string(),
            Message::Get(path) => format!("got {path}"),
            Message::Tool { name, arguments } => format!("called {name} with {}", Value::Object(arguments.clone())),
        };
        Ok(Reply::of_text(text, "https://shop.example/v1/…".into()))
    }
}

fn tools(callable: &[&str]) -> Toolset {
    let read = |name: &str, text: &str| -> Api { ApiSource::new(name, "").read(text).unwrap().0 };
    let mut clock = read("clock", CLOCK);
    clock.server = Some(LiveServer::default());
    let apis = vec![read("shop", SHOP), read("people", PEOPLE), read("dark", PEOPLE), clock, read("list", CLOCK)];
    let discovery = Arc::new(ApiDiscovery::new(apis));
    let callable: Vec<String> = callable.iter().map(|name| (*name).to_owned()).collect();
    discovery.calling(&callable, Arc::new(Echo::default()))
}

/// Checks the request of a call, or the code and message of its error.
async fn check(args: Value, expected: &str) {
    let tools = tools(&["shop", "people", "clock", "list"]);
    let said = match tools.call("invoke_operation", args.clone()).await {
        Ok(answer) => match &answer.json()["answer"] {
            Value::String(text) => text.clone(),
            sent => format!("{} {}", sent["query"].as_str().unwrap(), sent["variables"]),
        },
        Err(error) => format!("{}: {}", error.to_json()["error"].as_str().unwrap(), error.to_json()["message"]),
    };
    assert!(said.contains(expected), "{args}: `{said}` does not contain `{expected}`");
}

#[tokio::test]
async fn get_has_arguments_in_path_and_query() {
    let order =
        |id: &str| json!({"api": "shop", "operation": "getOrder", "arguments": {"id": id, "with": ["a b", "c&d"]}});
    check(order("7"), "got /orders/7?with=a%20b&with=c%26d").await;
    check(order("../admin?x=1#y"), "got /orders/..%2Fadmin%3Fx%3D1%23y?").await;
    for id in ["..", ".", ""] {
        check(order(id), "cannot be").await;
    }
    check(json!({"api": "shop", "operation": "GET /orders/{id}", "arguments": {"id": 7}}), "got /orders/7").await;
}

#[tokio::test]
async fn rejects_undeclared_arguments_and_other_methods() {
    let call =
        |operation: &str, arguments: Value| json!({"api": "shop", "operation": operation, "arguments": arguments});
    check(call("dropOrder", json!({"id": "7"})), "not_called: \"`dropOrder` is a DELETE; only GET").await;
    check(call("getOrder", json!({})), "requires the argument `id`").await;
    check(call("getOrder", json!({"id": 7, "admin": true})), "has no argument `admin`").await;
    check(call("getOrder", json!({"id": 7, "X-Trace": "a"})), "has no argument `X-Trace`").await;
    check(call("getOrder", json!({"id": {"a": 1}})), "is not a string").await;
    check(call("keys", json!({})), "requires `X-Key`, which is not part of the URL").await;
    check(json!({"api": "dark", "operation": "count"}), "does not allow calls of `dark`").await;
}

#[tokio::test]
async fn query_is_one_field_with_variables() {
    let call = |operation: &str, arguments: Value, fields: Option<&str>| json!({"api": "people", "operation": operation, "arguments": arguments, "fields": fields});
    check(call("count", json!({}), None), "query { count } {}").await;
    check(call("user", json!({"id": "7"}), None), "query($id: ID!) { user(id: $id) { id name } } {\"id\":\"7\"}").await;
    check(call("all", json!({}), Some("{ id friends { name } }")), "query { all { id friends { name } } }").await;
    check(call("drop", json!({"id": 1}), None), "is a mutation; only queries").await;
    for escape in [
        "id } drop(id: 1) { id",
        "id } } mutation { drop(id: 1)",
        "id } count @skip(if: true)",
        "",
        "{".repeat(9).as_str(),
    ] {
        check(call("user", json!({"id": "7"}), Some(escape)), "`fields` of `user`").await;
    }
}

#[tokio::test]
async fn calls_tools_of_servers_but_not_of_lists() {
    let call = |api: &str| json!({"api": api, "operation": "now", "arguments": {"zone": "Europe/Oslo"}});
    check(call("clock"), "called now with {\"zone\":\"Europe/Oslo\"}").await;
    check(call("list"), "does not allow calls of `list`").await;
    check(json!({"api": "clock", "operation": "now", "fields": "id"}), "`fields` is for GraphQL").await;
}

#[tokio::test]
async fn tool_exists_only_with_callable_apis() {
    assert_eq!(tools(&[]).names().count(), 0);
    assert_eq!(tools(&["unknown"]).names().count(), 0);
    let spec = &tools(&["shop"]).specs()[0];
    let size = tokens::estimate(&serde_json::to_string(spec).unwrap());
    assert!(size < 220, "{size}");
    let answer =
        tools(&["people"]).call("invoke_operation", json!({"api": "people", "operation": "count"})).await.unwrap();
    let revealed: Vec<String> = answer.reveals().into_iter().map(|resource| resource.id).collect();
    assert_eq!(revealed, ["people", "people.count"]);
}
