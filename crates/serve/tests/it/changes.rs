//! MCP clients are notified when a list has changed, over a pipe and over HTTP, as their revision of the protocol specifies.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use prospector_discovery::Profile;
use prospector_serve::{Limits, Options, Server};
use rmcp::{
    ClientHandler, RoleClient,
    model::{CallToolRequestParams, ProtocolVersion, SubscriptionFilter},
    service::{
        ClientLifecycleMode, ClientServiceExt, NotificationContext, RunningService, Subscription, SubscriptionEnd,
    },
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{net::TcpStream, sync::watch};
use tokio_util::sync::CancellationToken;

use crate::support::{self, Running, TIMEOUT, estate, read_until};

const RESOURCES: &str = "notifications/resources/list_changed";
const TOOLS: &str = "notifications/tools/list_changed";
const OLD: &str = "2025-06-18";
const NEW: &str = "2026-07-28";

/// A client that counts notifications: of resources, of tools, of prompts.
#[derive(Clone)]
struct Client(watch::Sender<[usize; 3]>);

impl Client {
    async fn until(&self, holds: impl FnMut(&[usize; 3]) -> bool) {
        tokio::time::timeout(TIMEOUT, self.0.subscribe().wait_for(holds)).await.expect("no notification").unwrap();
    }
}

impl ClientHandler for Client {
    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send_modify(|counts| counts[0] += 1);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send_modify(|counts| counts[1] += 1);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.send_modify(|counts| counts[2] += 1);
    }
}

/// A client at one end of a pipe, and at the other a server that follows refreshes of other processes through `stamp`.
struct Piped {
    client: RunningService<RoleClient, Client>,
    folder: TempDir,
    stamp: Arc<AtomicUsize>,
    stop: CancellationToken,
}

impl Piped {
    async fn new(lifecycle: ClientLifecycleMode) -> Self {
        let folder = estate();
        let server = support::server(&folder, Profile::Full, support::offline(), Options::default()).await;
        let stamp = Arc::new(AtomicUsize::new(0));
        let seen = stamp.clone();
        server.follow(move || Some((seen.load(Ordering::SeqCst).to_string(), String::new())));
        let (here, there) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(there);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        tokio::spawn(async move { Server::pipe(&server, input, output, stopped).await.unwrap() });
        let client = Client(watch::Sender::default()).serve_with_lifecycle(here, lifecycle).await.unwrap();
        Piped { client, folder, stamp, stop }
    }

    /// Simulates a refresh by another process.
    fn refreshed(&self) {
        self.stamp.fetch_add(1, Ordering::SeqCst);
    }
}

/// Adds a table.
fn add_table(folder: &TempDir) {
    std::fs::write(folder.path().join("returns.csv"), "return_id,order_id\n1,1\n").unwrap();
    append(folder, "databases:\n", "databases:\n- path: returns.csv\n");
}

/// Adds the first API, which adds tools.
fn add_api(folder: &TempDir) {
    let paths =
        json!({"/orders": {"get": {"operationId": "listOrders", "responses": {"200": {"description": "them"}}}}});
    let api = json!({"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "paths": paths});
    std::fs::write(folder.path().join("shop.json"), api.to_string()).unwrap();
    append(folder, "databases:\n", "apis:\n- path: shop.json\ndatabases:\n");
}

fn append(folder: &TempDir, after: &str, with: &str) {
    let file = folder.path().join("catalog.yaml");
    let catalog = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, catalog.replace(after, with)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn older_clients_are_notified_in_their_session() {
    let piped = Piped::new(ClientLifecycleMode::Initialize).await;
    let client = piped.client.service();
    let offered = piped.client.peer_info().unwrap().capabilities.clone();
    let said = serde_json::to_value(&offered).unwrap();
    assert_eq!(said["tools"], json!({"listChanged": true}), "{said}");
    assert_eq!(said["resources"], json!({"listChanged": true}), "{said}");
    assert_eq!(said["prompts"], json!({}), "the prompt never changes: {said}");
    // Learned facts are listed.
    let Value::Object(arguments) = json!({"term": "small order", "definition": "an order of less than 10"}) else {
        panic!("no object")
    };
    let added = CallToolRequestParams::new("add_fact").with_arguments(arguments);
    assert_eq!(piped.client.call_tool(added).await.unwrap().is_error, Some(false));
    client.until(|counts| counts[0] == 1).await;
    let uris = |resources: Vec<rmcp::model::Resource>| resources.into_iter().map(|one| one.uri).collect::<Vec<_>>();
    let listed = uris(piped.client.list_all_resources().await.unwrap());
    assert!(listed.contains(&"prospector://fact/small%20order".to_owned()), "{listed:?}");
    // After the refresh of another process there is a new table, but no new tool.
    add_table(&piped.folder);
    piped.refreshed();
    client.until(|counts| counts[0] == 2).await;
    let listed = uris(piped.client.list_all_resources().await.unwrap());
    assert!(listed.contains(&"prospector://table/returns.returns".to_owned()), "{listed:?}");
    // An API adds tools.
    let before = piped.client.list_all_tools().await.unwrap().len();
    add_api(&piped.folder);
    piped.refreshed();
    client.until(|counts| counts[0] == 3 && counts[1] > 0).await;
    assert!(piped.client.list_all_tools().await.unwrap().len() > before);
    assert_eq!(*client.0.borrow(), [3, 1, 0]);
}

/// Returns the method of the next notification; empty at the end.
async fn next(subscription: &mut Subscription) -> String {
    let next = tokio::time::timeout(TIMEOUT, subscription.next()).await.expect("no notification").unwrap();
    serde_json::to_value(next).unwrap()["method"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_clients_are_notified_of_their_subscriptions() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let piped = Piped::new(ClientLifecycleMode::Discover { preferred_versions }).await;
    let filter = SubscriptionFilter::builder()
        .tools_list_changed()
        .prompts_list_changed()
        .resources_list_changed()
        .resource_subscription("prospector://document/rules")
        .build();
    let mut all = piped.client.listen(filter).await.unwrap();
    let offered = SubscriptionFilter::builder().tools_list_changed().resources_list_changed().build();
    assert_eq!(all.acknowledged(), &offered, "only what is offered");
    let only = SubscriptionFilter::builder().tools_list_changed().build();
    let mut only_tools = piped.client.listen(only).await.unwrap();
    add_table(&piped.folder);
    piped.refreshed();
    assert_eq!(next(&mut all).await, RESOURCES);
    add_api(&piped.folder);
    piped.refreshed();
    assert_eq!([next(&mut all).await, next(&mut all).await], [TOOLS, RESOURCES]);
    assert_eq!(next(&mut only_tools).await, TOOLS);
    assert_eq!(*piped.client.service().0.borrow(), [0, 0, 0], "nothing outside the streams");
    only_tools.cancel().await.unwrap();
    piped.stop.cancel();
    assert_eq!(next(&mut all).await, "");
    assert!(matches!(all.end(), Some(SubscriptionEnd::Graceful(_))), "{:?}", all.end());
}

const JSON: (&str, &str) = ("content-type", "application/json");
const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");
const EVENTS: (&str, &str) = ("accept", "text/event-stream");

/// Opens a session of an older client.
async fn session(server: &Running) -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let opened = server.request("POST", "/mcp", &[JSON, BOTH], &hello.to_string()).await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    assert_eq!(say(server, &session, &json!({"method": "notifications/initialized"})).await, 202);
    session
}

/// Sends a message, and returns the status of the response.
async fn say(server: &Running, session: &str, message: &Value) -> u16 {
    let mut message = message.clone();
    message["jsonrpc"] = "2.0".into();
    let headers = [JSON, BOTH, ("mcp-session-id", session), ("mcp-protocol-version", OLD)];
    server.request("POST", "/mcp", &headers, &message.to_string()).await.status
}

/// Opens the stream of a session.
async fn stream(server: &Running, session: &str) -> TcpStream {
    let headers = [EVENTS, ("mcp-session-id", session), ("mcp-protocol-version", OLD)];
    server.send("GET", "/mcp", &headers, "").await
}

async fn refresh(server: &Running) {
    let said = server.post("/v1/refresh", &json!({})).await;
    assert_eq!(said.status, 200, "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn older_http_clients_are_notified_on_their_stream() {
    let server = Running::usual().await;
    let session = session(&server).await;
    let mut events = stream(&server, &session).await;
    let head = read_until(&mut events, "\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    // First nothing has changed, then something.
    refresh(&server).await;
    add_table(&server.folder);
    refresh(&server).await;
    let text = read_until(&mut events, RESOURCES).await;
    assert_eq!((text.matches(RESOURCES).count(), text.matches(TOOLS).count()), (1, 0), "{text}");
    // Notifications missed between two streams are sent on the next one.
    drop(events);
    std::fs::write(server.folder.path().join("catalog.yaml"), "documents:\n- path: rules.md\n").unwrap();
    refresh(&server).await;
    let mut events = stream(&server, &session).await;
    read_until(&mut events, TOOLS).await;
    // The current revision has neither the stream nor the session.
    let said = server.request("GET", "/mcp", &[EVENTS, ("mcp-protocol-version", NEW)], "").await;
    assert_eq!(said.status, 405, "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_stay_alive_while_clients_listen() {
    let idle = Duration::from_millis(500);
    let limits = Limits { session_idle: idle, ..Limits::default() };
    let server = Running::new(support::offline(), Options { limits, ..Options::default() }).await;
    let (silent, listening) = (session(&server).await, session(&server).await);
    let mut events = stream(&server, &listening).await;
    read_until(&mut events, "\r\n\r\n").await;
    server.until("/metrics", |said| said.body.contains("prospector_mcp_sessions 1\n")).await;
    tokio::time::sleep(2 * idle).await;
    assert_eq!(say(&server, &silent, &json!({"id": 2, "method": "ping"})).await, 404);
    assert_eq!(say(&server, &listening, &json!({"id": 2, "method": "ping"})).await, 200);
    drop(events);
    server.until("/metrics", |said| said.body.contains("prospector_mcp_sessions 0\n")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_http_clients_are_notified_on_their_request_stream() {
    let server = Running::usual().await;
    let listen = json!({"jsonrpc": "2.0", "id": "mine", "method": "subscriptions/listen", "params": {
        "notifications": {"resourcesListChanged": true},
        "_meta": {"io.modelcontextprotocol/protocolVersion": NEW,
                  "io.modelcontextprotocol/clientCapabilities": {},
                  "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}}}});
    let headers = [JSON, BOTH, ("mcp-protocol-version", NEW), ("mcp-method", "subscriptions/listen")];
    let mut events = server.send("POST", "/mcp", &headers, &listen.to_string()).await;
    read_until(&mut events, "notifications/subscriptions/acknowledged").await;
    refresh(&server).await;
    add_table(&server.folder);
    refresh(&server).await;
    let text = read_until(&mut events, RESOURCES).await;
    assert_eq!(text.matches(RESOURCES).count(), 1, "{text}");
    assert!(text.contains("\"io.modelcontextprotocol/subscriptionId\":\"mine\""), "{text}");
    // The server announces its shutdown.
    server.stop.cancel();
    let end = read_until(&mut events, "\"result\"").await;
    assert!(end.contains("\"id\":\"mine\""), "{end}");
    tokio::time::timeout(TIMEOUT, server.ended).await.unwrap().unwrap();
}
