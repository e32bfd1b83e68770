//! Everything that must be refused: each as its protocol says, and without a secret in the answer.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use prospector_discovery::Profile;
use prospector_serve::{Limits, Options, Planner, ServeError, Tokens};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use support::{PATIENCE, QUESTION, Running, Said, TOKEN, short, waiting};

const JSON: (&str, &str) = ("content-type", "application/json");
const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");

fn guarded() -> Options {
    Options {
        tokens: Tokens::none().with(TOKEN).unwrap(),
        hosts: vec!["desk.example".into()],
        origins: vec!["https://friend.example".into()],
        state: None,
        limits: short(),
    }
}

fn initialize() -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
    .to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_opens_what_holds_data_and_nothing_else_is_guarded() {
    let server = Running::new(Planner::offline(), guarded()).await;
    let check = async |path: &str, authorization: Option<&str>, status: u16| {
        let headers: Vec<(&str, &str)> = authorization.into_iter().map(|value| ("authorization", value)).collect();
        let said = server.request("GET", path, &headers, "").await;
        assert_eq!(said.status, status, "{path} {authorization:?}");
        assert!(!said.body.contains(TOKEN) && !said.head.contains(TOKEN), "{said:?}");
        if status == 401 {
            assert_eq!(said.header("www-authenticate"), Some("bearer realm=\"prospector\""));
        }
    };
    for path in ["/", "/healthz", "/readyz", "/openapi.json", "/assets/main.js"] {
        check(path, None, 200).await;
    }
    for path in ["/metrics", "/v1/about", "/v1/tools", "/v1/catalog", "/mcp", "/v1/nothing"] {
        check(path, None, 401).await;
        check(path, Some("Bearer wrong-sesame-0123456789"), 401).await;
        check(path, Some("Bearer "), 401).await;
        check(path, Some(&format!("Basic {TOKEN}")), 401).await;
    }
    check("/v1/tools", Some(&format!("Bearer {TOKEN}")), 200).await;
    check("/v1/tools", Some(&format!("bearer  {TOKEN}")), 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_known_names_and_pages_may_ask() {
    let server = Running::new(Planner::offline(), guarded()).await;
    let bearer = format!("Bearer {TOKEN}");
    let own = server.address.to_string();
    let check = async |host: &str, origin: Option<&str>, status: u16| {
        for path in ["/v1/about", "/mcp"] {
            let mut headers = vec![("authorization", bearer.as_str()), ("host", host)];
            headers.extend(origin.map(|origin| ("origin", origin)));
            let said = server.request("GET", path, &headers, "").await;
            // What MCP wants beside is missing here.
            let expected = if path == "/mcp" && status == 200 { 406 } else { status };
            assert_eq!(said.status, expected, "{path} {host} {origin:?}");
        }
    };
    check(&own, None, 200).await;
    check("localhost:9", None, 200).await;
    check("[::1]:9", None, 200).await;
    check("desk.example", None, 200).await;
    check("evil.example", None, 403).await;
    check("localhost.evil.example", None, 403).await;
    check("", None, 403).await;
    check(&own, Some(&format!("http://{own}")), 200).await;
    check(&own, Some("https://friend.example"), 200).await;
    check(&own, Some("https://evil.example"), 403).await;
    check(&own, Some("http://localhost:1"), 403).await;
    check(&own, Some("null"), 403).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_large_is_not_read() {
    let server = Running::new(Planner::offline(), Options { limits: short(), ..Options::default() }).await;
    let large = json!({"question": "x".repeat(10_000)}).to_string();
    for path in ["/v1/plan", "/v1/tools/search", "/mcp"] {
        let said = server.request("POST", path, &[JSON, BOTH], &large).await;
        assert_eq!((said.status, &said.json()["error"]), (413, &json!("too_large")), "{path}");
        let chunk = format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
        let said = server.request("POST", path, &[JSON, BOTH, ("transfer-encoding", "chunked")], &chunk).await;
        assert_eq!(said.status, 413, "{path}, in chunks");
        let said = server.request("POST", path, &[JSON, BOTH, ("content-length", "99999999999")], "{").await;
        assert_eq!(said.status, 413, "{path}, only announced");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_slowly_is_not_waited_for() {
    let server = Running::new(Planner::offline(), Options { limits: short(), ..Options::default() }).await;
    // The head never ends.
    let mut slow = tokio::net::TcpStream::connect(server.address).await.unwrap();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: ").await.unwrap();
    let said = Said::of(&mut slow).await;
    assert!(said.status == 0 || said.status == 408, "{said:?}");
    // Nothing comes at all.
    let mut silent = tokio::net::TcpStream::connect(server.address).await.unwrap();
    Said::of(&mut silent).await;
    // The body never ends.
    for path in ["/v1/plan", "/mcp"] {
        let said = server.request("POST", path, &[JSON, BOTH, ("content-length", "100")], "{").await;
        assert_eq!((said.status, &said.json()["error"]), (408, &json!("request_timeout")), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_can_be_done_at_once_is_to_be_asked_again() {
    let limits = Limits { runs: 1, requests: 2, linger: PATIENCE, ..short() };
    let server = Running::new(waiting(), Options { limits, ..Options::default() }).await;
    let asked = json!({"question": QUESTION}).to_string();
    let first = server.send("POST", "/v1/plan", &[JSON], &asked).await;
    server.until("/metrics", |said| said.body.contains("prospector_runs 1\n")).await;
    let said = server.request("POST", "/v1/plan", &[JSON], &asked).await;
    assert_eq!((said.status, said.header("retry-after")), (429, Some("1")), "{said:?}");
    assert_eq!(said.json()["error"], "too_many_requests");
    // A second one that hangs takes the last place.
    let second = server.send("POST", "/v1/tools/search", &[JSON, ("content-length", "100")], "{").await;
    let said = server.until("/healthz", |said| said.status == 503).await;
    assert_eq!((said.header("retry-after"), &said.json()["error"]), (Some("1"), &json!("overloaded")));
    drop((first, second));
    server.until("/healthz", |said| said.status == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_over_http_refuses_as_it_says() {
    let server = Running::new(
        Planner::offline(),
        Options { limits: Limits { sessions: 1, ..Limits::default() }, ..Options::default() },
    )
    .await;
    let check = async |headers: &[(&str, &str)], body: &str, status: u16| {
        let mut all = vec![JSON];
        all.extend(headers);
        let said = server.request("POST", "/mcp", &all, body).await;
        assert_eq!(said.status, status, "{body}: {said:?}");
        said
    };
    // Malformed JSON-RPC.
    for body in ["{", "[]", "{\"id\": 1}", "{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"ping\"}"] {
        let said = server.request("POST", "/mcp", &[JSON, BOTH], body).await;
        assert!((400..500).contains(&said.status), "{body}: {said:?}");
    }
    check(&[("accept", "application/json")], &initialize(), 406).await;
    // A session that is not there, and none where one is needed.
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    check(&[BOTH, ("mcp-session-id", "0123")], &ping, 404).await;
    let said = check(&[BOTH], &ping, 400).await;
    assert!(said.body.to_lowercase().contains("session"), "{said:?}");
    // A version that does not exist.
    check(&[BOTH, ("mcp-session-id", "0123"), ("mcp-protocol-version", "1999-01-01")], &ping, 400).await;
    let opened = server.send("POST", "/mcp", &[JSON, BOTH], &initialize()).await;
    server.until("/metrics", |said| said.body.contains("prospector_mcp_sessions 1\n")).await;
    let said = check(&[BOTH], &initialize(), 503).await;
    assert_eq!(said.header("retry-after"), Some("1"));
    drop(opened);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_nobody_else_is_listened_to() {
    let folder = support::estate();
    let server = support::server(&folder, Profile::DEFAULT, Planner::offline(), Options::default()).await;
    let everywhere = ([0, 0, 0, 0], 0).into();
    assert!(matches!(server.bind(everywhere).await, Err(ServeError::Unguarded { .. })));
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let refused = server.http(listener, Default::default()).await;
    assert!(matches!(refused, Err(ServeError::Unguarded { .. })));
    let server = support::server(&folder, Profile::DEFAULT, Planner::offline(), guarded()).await;
    assert!(server.bind(everywhere).await.is_ok());
}
