//! Servers over streamable HTTP.

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use prospector_fetch::Policy;
use prospector_mcp::{
    McpError, Record, Server,
    spec::{Headers, Reach},
};
use serde_json::{Value, json};

use super::tool;

/// A server that knows `initialize` only, and requires a header.
async fn serve() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let router = Router::new().route("/mcp", post(answer)).with_state(Arc::new(()));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    host
}

async fn answer(_: State<Arc<()>>, headers: HeaderMap, Json(message): Json<Value>) -> Response {
    if headers.get("x-key").is_none_or(|key| key != "k3y") {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"}}),
        "tools/list" => json!({"tools": [tool("echo")]}),
        "tools/call" => json!({"content": [], "structuredContent": message["params"]["arguments"]}),
        _ => return StatusCode::BAD_REQUEST.into_response(),
    };
    Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response()
}

fn server(host: &str, key: &str, allow: &[&str], folder: &std::path::Path) -> Server {
    let policy = Policy { allow: allow.iter().map(|rule| rule.parse().unwrap()).collect(), public: true };
    let headers = Headers(vec![("X-Key".to_owned(), key.to_owned())]);
    let reach = Reach::Url { url: format!("http://{host}/mcp"), headers, policy };
    Server::new("web", reach, Duration::from_secs(20), folder)
}

#[tokio::test]
async fn lists_and_calls_over_http_with_headers() {
    let (host, folder) = (serve().await, tempfile::tempdir().unwrap());
    let web = server(&host, "k3y", &[host.as_str()], folder.path());
    web.refresh().await.unwrap();
    let record = Record::read(folder.path(), "web").unwrap();
    assert_eq!(record.protocol(), "2025-06-18");
    let echo = record.tools().next().unwrap();
    let arguments = serde_json::from_value(json!({"a": 1})).unwrap();
    assert_eq!(web.call(echo, arguments).await.unwrap(), json!({"a": 1}));
    // A wrong key, and no secret in the message.
    let error = server(&host, "s3cret", &[host.as_str()], folder.path()).refresh().await.unwrap_err();
    assert!(!error.to_string().contains("s3cret"), "{error}");
}

#[tokio::test]
async fn private_addresses_are_reached_only_where_they_are_allowed() {
    let (host, folder) = (serve().await, tempfile::tempdir().unwrap());
    let port = host.rsplit(':').next().unwrap();
    // By address, and by a name that leads to it.
    for host in [host.clone(), format!("localhost:{port}")] {
        let error = server(&host, "k3y", &[], folder.path()).refresh().await.unwrap_err();
        assert!(matches!(error, McpError::Fetch(_) | McpError::Handshake { .. }), "{host}: {error}");
    }
    assert!(Record::read(folder.path(), "web").unwrap().tools().next().is_none());
}
