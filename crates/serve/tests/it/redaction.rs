//! Errors hide files, addresses, hosts and accounts from clients of a server with tokens; local users see them.

use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use prospector_agent::Models;
use prospector_llm::{ChatEvent, ChatModel, ChatRequest, LlmError, models::UNLISTED};
use prospector_serve::{Limits, Options};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{self, ANN, QUESTION, Running, Said, TOKEN, estate, two};

/// The address of the model provider.
const PROVIDER: &str = "http://models.internal:11434/api/chat";

/// A model whose provider is unreachable.
struct Unreachable;

#[async_trait]
impl ChatModel for Unreachable {
    fn name(&self) -> &str {
        "unreachable"
    }

    async fn stream(&self, _: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
        let reason = format!("error sending request for url ({PROVIDER}): connection refused");
        Err(LlmError::Transport { model: "unreachable".into(), reason })
    }
}

/// The small catalog, with queries of clients allowed.
fn broken_estate() -> TempDir {
    let folder = estate();
    let catalog = folder.path().join("catalog.yaml");
    let text = std::fs::read_to_string(&catalog).unwrap();
    std::fs::write(&catalog, format!("queries: true\n{text}")).unwrap();
    folder
}

/// A server whose file is no longer a valid table when it is queried.
async fn server(models: Models, options: Options) -> Running {
    let server = Running::over(broken_estate(), models, options).await;
    std::fs::write(server.folder.path().join("orders.csv"), "order_id,country,total\n1,PT,2,3,4\n").unwrap();
    server
}

async fn post(server: &Running, token: &str, path: &str, body: &Value) -> Said {
    let bearer = format!("Bearer {token}");
    let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
    server.request("POST", path, &headers, &body.to_string()).await
}

/// Returns the failures of every way to read the file.
async fn failures(server: &Running, token: &str) -> Vec<(String, String)> {
    let query = json!({"queries": [{"question": "How many?", "sql": "SELECT * FROM orders.orders"}]});
    let calls = [
        ("execute_sql", query),
        ("validate_query", json!({"sql": "SELECT total FROM orders.orders"})),
        ("load_scoped", json!({"alias": "big", "database": "orders", "table": "orders"})),
        ("get_table_schema", json!({"database": "orders", "table": "orders", "values": true})),
        ("describe", json!({"ids": ["orders.orders"], "values": true})),
        ("sample", json!({"column": "orders.orders.country"})),
        ("sample_values", json!({"database": "orders", "table": "orders", "column": "country"})),
    ];
    let mut said = Vec::new();
    let session = server.session(token).await;
    for (tool, arguments) in calls {
        said.push((format!("POST {tool}"), post(server, token, &format!("/v1/tools/{tool}"), &arguments).await.body));
        let called = session.call("tools/call", json!({"name": tool, "arguments": arguments})).await;
        said.push((format!("MCP {tool}"), called.to_string()));
    }
    for (path, tool) in [("/v1/ask", "ask"), ("/v1/plan", "plan")] {
        let question = json!({"question": QUESTION});
        said.push((format!("POST {path}"), post(server, token, path, &question).await.body));
        let called = session.call("tools/call", json!({"name": tool, "arguments": question})).await;
        said.push((format!("MCP {tool}"), called.to_string()));
    }
    let read = session.call("resources/read", json!({"uri": "prospector://table/orders.orders"})).await;
    said.push(("MCP resources/read".into(), read.to_string()));
    said
}

/// Whether a text contains the folder of the catalog in any form.
fn names_folder(server: &Running, text: &str) -> bool {
    let folder = server.folder.path();
    text.contains(&*folder.to_string_lossy()) || text.contains(&*folder.canonicalize().unwrap().to_string_lossy())
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_with_tokens_see_no_paths() {
    let server = server(support::offline(), two(Limits::default())).await;
    let failures = failures(&server, ANN).await;
    for (asked, said) in failures {
        assert!(!names_folder(&server, &said), "{asked}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn local_users_see_the_whole_error() {
    let server = server(support::offline(), Options::default()).await;
    let failures = failures(&server, TOKEN).await;
    assert!(failures.iter().all(|(_, said)| !said.contains("[path]")), "{failures:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_with_tokens_see_no_provider_address() {
    let models = || Models::new(Arc::new(Unreachable), UNLISTED);
    let said = async |server: &Running, token: &'static str| {
        let question = json!({"question": QUESTION});
        let asked = post(server, token, "/v1/ask", &question).await;
        let session = server.session(token).await;
        let called = session.call("tools/call", json!({"name": "ask", "arguments": question})).await;
        let bearer = format!("Bearer {token}");
        let headers =
            [("content-type", "application/json"), ("accept", "text/event-stream"), ("authorization", bearer.as_str())];
        let streamed = server.request("POST", "/v1/ask", &headers, &question.to_string()).await;
        assert!(asked.body.contains("provider_failed"), "{asked:?}");
        format!("{}{called}{}", asked.body, streamed.body)
    };
    let guarded = Running::new(models(), two(Limits::default())).await;
    let shown = said(&guarded, ANN).await;
    assert!(shown.contains("[address]") && !shown.contains("models.internal"), "{shown}");
    let open = Running::new(models(), Options::default()).await;
    let shown = said(&open, TOKEN).await;
    assert!(shown.contains(PROVIDER), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_with_tokens_do_not_see_why_the_catalog_fails() {
    for (options, is_told) in [(two(Limits::default()), false), (Options::default(), true)] {
        let server = Running::new(support::offline(), options).await;
        std::fs::write(server.folder.path().join("catalog.yaml"), "databases: [").unwrap();
        let refused = post(&server, ANN, "/v1/refresh", &json!({})).await;
        assert!(refused.status == 503 && !names_folder(&server, &refused.body), "{refused:?}");
        let about = server.until_as(ANN, "/v1/about", |said| said.json()["catalog_error"].is_string()).await;
        assert_eq!(names_folder(&server, &about.body), is_told, "{about:?}");
    }
}
