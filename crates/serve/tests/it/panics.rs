//! A panic affects only the request or call in which it occurs.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use futures::stream::BoxStream;
use prospector_agent::Models;
use prospector_discovery::{Catalog, CatalogOptions, Profile};
use prospector_facts::extractor::{Extractor, ExtractorError, Stated};
use prospector_llm::{ChatEvent, ChatModel, ChatRequest, LlmError, models::UNLISTED};
use prospector_serve::{Limits, Opened, Options, Server};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{self, Running, estate};

/// A model that always panics; counts its calls.
#[derive(Default)]
struct Broken(AtomicUsize);

#[async_trait]
impl ChatModel for Broken {
    fn name(&self) -> &str {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("a defect with hunter2 in it");
    }

    async fn stream(&self, _: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
        panic!("a defect with hunter2 in it");
    }
}

/// An extractor that panics.
struct BrokenReader;

#[async_trait]
impl Extractor for BrokenReader {
    async fn extract(&self, _: &str) -> Result<Vec<Stated>, ExtractorError> {
        panic!("a defect with hunter2 in it");
    }
}

async fn broken(limits: Limits) -> (Running, Arc<Broken>) {
    let folder = estate();
    let file: PathBuf = folder.path().join("catalog.yaml");
    let open = move |_: bool, _: CancellationToken| -> Opened {
        let opened = Catalog::open(&file, CatalogOptions::default());
        let (catalog, problems) = tokio::runtime::Handle::current().block_on(opened)?;
        catalog.facts.extract_with(Arc::new(BrokenReader));
        Ok((catalog, problems))
    };
    let model = Arc::new(Broken::default());
    let models = Models::new(model.clone(), UNLISTED);
    let options = Options { limits, ..Options::default() };
    let server = Server::open(open, Profile::DEFAULT, models, options).await.unwrap();
    let listener = server.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let ended = tokio::spawn(async move { server.http(listener, stopped).await.unwrap() });
    (Running { folder, address, stop, ended }, model)
}

#[tokio::test(flavor = "multi_thread")]
async fn panic_in_a_handler_fails_one_request() {
    // If each panic leaked a connection, there would soon be none left.
    let limits = Limits { connections: 4, requests: 2, ..Limits::default() };
    let (server, model) = broken(limits).await;
    for _ in 0..10 {
        let said = server.get("/v1/about").await;
        assert_eq!((said.status, &said.json()["error"]), (500, &json!("internal")), "{said:?}");
        assert!(said.json()["message"].is_string() && !said.body.contains("hunter2"), "{said:?}");
        assert_eq!(said.header("x-content-type-options"), Some("nosniff"), "as in every response");
    }
    assert_eq!(model.0.load(Ordering::SeqCst), 10);
    assert_eq!(server.get("/healthz").await.status, 200);
    let metrics = server.until("/metrics", |said| said.body.contains("prospector_connections 1\n")).await;
    assert!(metrics.body.contains("prospector_requests 1\n"), "{}", metrics.body);
    assert!(metrics.body.contains("route=\"/v1/about\",status=\"500\"} 10\n"), "{}", metrics.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn panic_in_a_tool_fails_one_call() {
    let (server, _) = broken(Limits::default()).await;
    let text = json!({"text": "Churn is the loss of customers."});
    for _ in 0..3 {
        let said = server.post("/v1/tools/resolve_fact", &text).await;
        assert_eq!((said.status, &said.json()["error"]), (500, &json!("internal")), "{said:?}");
        assert!(!said.body.contains("hunter2"), "{said:?}");
    }
    assert_eq!(server.post("/v1/tools/search", &json!({"query": "orders"})).await.status, 200);
    // Over MCP the call has an error result, and the session continues.
    let session = server.session(support::TOKEN).await;
    let failed = session.call("tools/call", json!({"name": "resolve_fact", "arguments": text})).await;
    assert_eq!(failed["result"]["isError"], true, "{failed}");
    assert!(!failed.to_string().contains("hunter2"), "{failed}");
    let found = session.call("tools/call", json!({"name": "search", "arguments": {"query": "orders"}})).await;
    assert_eq!(found["result"]["structuredContent"]["items"][0]["id"], "orders.orders", "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn panic_in_a_run_is_reported() {
    let limits = Limits { runs: 1, ..Limits::default() };
    let (server, _) = broken(limits).await;
    for _ in 0..3 {
        let said = server.post("/v1/plan", &json!({"question": support::QUESTION})).await;
        assert_eq!((said.status, &said.json()["error"]), (500, &json!("internal")), "{said:?}");
    }
    assert_eq!(server.get("/healthz").await.status, 200);
}
