//! Limits per token and per address; other clients and health checks are still answered.

use std::time::Duration;

use prospector_serve::{Limits, Options};
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::support::{self, ANN, BEN, QUESTION, Running, Said, TIMEOUT, read_until, short, two, waiting};

const JSON: (&str, &str) = ("content-type", "application/json");
const EVENTS: (&str, &str) = ("accept", "text/event-stream");

/// Limits under which waiting for a slow client takes longer than any test.
fn patient() -> Limits {
    Limits { head_time: 10 * TIMEOUT, body_time: 10 * TIMEOUT, linger: TIMEOUT, ..short() }
}

/// Sends a request whose head never ends.
async fn half_open(server: &Running) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET /v1/tools HTTP/1.1\r\nhost: localhost\r\nx-slow: ").await.unwrap();
    stream
}

/// Opens an event stream that does not end.
async fn stream(server: &Running, token: &str) -> Result<TcpStream, Said> {
    let bearer = format!("Bearer {token}");
    let body = json!({"question": QUESTION}).to_string();
    let headers = [JSON, EVENTS, ("authorization", bearer.as_str())];
    let mut stream = server.send("POST", "/v1/plan", &headers, &body).await;
    let head = read_until(&mut stream, "\r\n\r\n").await;
    if head.starts_with("HTTP/1.1 200") { Ok(stream) } else { Err(Said::after(head, &mut stream).await) }
}

async fn get(server: &Running, path: &str, token: &str) -> Said {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    let asked = server.request("GET", path, &headers, "");
    tokio::time::timeout(TIMEOUT, asked).await.expect("the request is blocked by another client")
}

/// Checks a refusal: the exceeded limit, and when to retry.
#[track_caller]
fn check_refused(said: &Said, status: u16, code: &str) {
    assert_eq!((said.status, said.header("retry-after")), (status, Some("1")), "{said:?}");
    assert_eq!(said.json()["error"], code, "{said:?}");
    assert!(said.json()["message"].is_string() && said.json()["suggestion"].is_string(), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_header_requests_do_not_starve_others() {
    let limits = Limits { connections: 8, connections_per_address: Some(8), ..patient() };
    let server = Running::new(support::offline(), two(limits)).await;
    let mut open = Vec::new();
    for _ in 0..40 {
        open.push(half_open(&server).await);
    }
    for _ in 0..5 {
        assert_eq!(get(&server, "/v1/tools", BEN).await.status, 200);
        assert_eq!(server.get("/healthz").await.status, 200);
        open.push(half_open(&server).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_token_cannot_open_all_streams() {
    let limits = Limits { streams_per_owner: 3, ..patient() };
    let server = Running::new(waiting(), two(limits)).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(stream(&server, ANN).await.unwrap());
    }
    let refused = stream(&server, ANN).await.unwrap_err();
    check_refused(&refused, 429, "too_many_requests");
    // She can still send other requests, and other clients can open streams.
    assert_eq!(get(&server, "/v1/tools", ANN).await.status, 200);
    let of_ben = stream(&server, BEN).await.unwrap();
    assert_eq!(server.get("/healthz").await.status, 200);
    // A closed stream may be opened again.
    open.pop();
    let again = async {
        while stream(&server, ANN).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, again).await.expect("a closed stream still counts");
    drop(of_ben);
}

#[tokio::test(flavor = "multi_thread")]
async fn health_checks_respond_when_all_connections_are_used() {
    let limits = Limits {
        connections: 6,
        connections_per_address: Some(6),
        health_connections: 2,
        streams_per_owner: 3,
        ..patient()
    };
    let server = Running::new(waiting(), two(limits)).await;
    let mut open = Vec::new();
    for token in [ANN, BEN] {
        for _ in 0..3 {
            open.push(stream(&server, token).await.unwrap());
        }
    }
    for _ in 0..3 {
        for path in ["/healthz", "/readyz"] {
            assert_eq!(server.get(path).await.status, 200, "{path}");
        }
        check_refused(&get(&server, "/v1/tools", BEN).await, 503, "overloaded");
        // Nobody can occupy the reserved places.
        for _ in 0..5 {
            open.push(half_open(&server).await);
        }
    }
    open.remove(0);
    server.until_as(BEN, "/v1/tools", |said| said.status == 200).await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn connections_are_limited_per_address() {
    let limits = Limits { connections: 8, connections_per_address: Some(2), ..patient() };
    let server = Running::new(waiting(), two(limits)).await;
    // Every address of this network is this machine.
    let elsewhere = async || {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let mut stream = socket.connect(server.address).await.unwrap();
        let body = json!({"question": QUESTION}).to_string();
        let head = format!(
            "POST /v1/plan HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ANN}\r\naccept: text/event-stream\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    let mut open = [elsewhere().await, elsewhere().await];
    for stream in &mut open {
        read_until(stream, "event: started").await;
    }
    check_refused(&Said::of(&mut elsewhere().await).await, 429, "too_many_requests");
    assert_eq!(get(&server, "/v1/tools", ANN).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_token_cannot_take_all_runs_and_requests() {
    let limits = Limits { runs: 2, requests: 4, ..patient() };
    let server = Running::new(waiting(), two(limits)).await;
    let _first = stream(&server, ANN).await.unwrap();
    check_refused(&stream(&server, ANN).await.unwrap_err(), 429, "too_many_requests");
    let _of_ben = stream(&server, BEN).await.unwrap();
    // Bodies that never end count as requests until they time out.
    let (ann, ben) = (format!("Bearer {ANN}"), format!("Bearer {BEN}"));
    let slow = [JSON, ("authorization", ann.as_str()), ("content-length", "100")];
    let _slow = [
        server.send("POST", "/v1/tools/search", &slow, "{").await,
        server.send("POST", "/v1/tools/search", &slow, "{").await,
    ];
    let refused = server.until_as(ANN, "/v1/about", |said| said.status != 200).await;
    check_refused(&refused, 429, "too_many_requests");
    assert_eq!(server.request("GET", "/v1/about", &[("authorization", ben.as_str())], "").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_token_cannot_open_all_sessions_of_mcp() {
    let limits = Limits { sessions: 4, ..Limits::default() };
    let server = Running::new(support::offline(), two(limits)).await;
    for _ in 0..2 {
        assert_eq!(server.initialize(ANN).await.status, 200);
    }
    check_refused(&server.initialize(ANN).await, 429, "too_many_requests");
    assert_eq!(server.initialize(BEN).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn unauthenticated_bodies_are_not_awaited() {
    let limits = Limits { requests: 1, ..patient() };
    let server = Running::new(support::offline(), two(limits)).await;
    // Routes without a token need no body, and read none.
    for path in ["/healthz", "/readyz", "/", "/openapi.json", "/assets/main.js"] {
        for (name, value) in [("content-length", "100"), ("transfer-encoding", "chunked")] {
            let headers = [(name, value)];
            let asked = server.request("GET", path, &headers, "{");
            let said = tokio::time::timeout(TIMEOUT, asked).await.expect("it waits for the body");
            assert_eq!(said.status, 200, "{path}: {said:?}");
        }
    }
    let said = server.request("POST", "/v1/tools/search", &[JSON, ("content-length", "100")], "{").await;
    assert_eq!(said.status, 401, "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_token_may_use_every_limit_fully() {
    let limits = Limits { runs: 2, ..patient() };
    let tokens = prospector_serve::Tokens::none().with(ANN).unwrap();
    let server = Running::new(waiting(), Options { tokens, limits, ..Options::default() }).await;
    let _open = [stream(&server, ANN).await.unwrap(), stream(&server, ANN).await.unwrap()];
    check_refused(&stream(&server, ANN).await.unwrap_err(), 429, "too_many_requests");
}

/// Sends a request with a body of `bytes` bytes that is not complete.
async fn begin_body(server: &Running, token: &str, bytes: usize) -> TcpStream {
    let (bearer, length) = (format!("Bearer {token}"), bytes.to_string());
    let headers =
        [JSON, ("authorization", bearer.as_str()), ("content-length", length.as_str()), ("expect", "100-continue")];
    let mut stream = server.send("POST", "/v1/chart", &headers, "").await;
    read_until(&mut stream, "HTTP/1.1 100").await;
    stream
}

/// Returns rows that take `bytes` of memory while they are parsed, a little less than 600 bytes each.
fn rows_of(bytes: usize) -> String {
    let rows = vec![json!([1]); bytes / 588];
    json!({"columns": ["a"], "rows": rows}).to_string()
}

async fn send(server: &Running, token: &str, path: &str, body: &str) -> Said {
    let bearer = format!("Bearer {token}");
    let headers = [JSON, ("authorization", bearer.as_str())];
    let asked = server.request("POST", path, &headers, body);
    tokio::time::timeout(TIMEOUT, asked).await.expect("the request is blocked by another client")
}

#[tokio::test(flavor = "multi_thread")]
async fn request_memory_is_limited() {
    const MB: usize = 1 << 20;
    let limits = Limits { body_bytes: MB, request_memory: 4 * MB, request_memory_per_owner: Some(3 * MB), ..patient() };
    let server = Running::new(support::offline(), two(limits)).await;
    let small = rows_of(100_000);
    let of_ann = [begin_body(&server, ANN, MB).await, begin_body(&server, ANN, MB).await];
    check_refused(&send(&server, ANN, "/v1/chart", &rows_of(MB + MB / 2)).await, 429, "too_many_requests");
    assert_eq!(send(&server, BEN, "/v1/chart", &small).await.status, 200, "one token does not take all of it");
    let of_ben = begin_body(&server, BEN, MB).await;
    let last = begin_body(&server, BEN, MB - 64 * 1024).await;
    for path in ["/v1/chart", "/v1/parquet", "/v1/tools/search", "/v1/plan", "/v1/ask", "/v1/workflows", "/mcp"] {
        check_refused(&send(&server, BEN, path, &rows_of(MB / 2)).await, 503, "overloaded");
    }
    for path in ["/healthz", "/readyz", "/v1/tools"] {
        assert_eq!(get(&server, path, BEN).await.status, 200, "requests without a body are answered");
    }
    drop((of_ann, of_ben, last));
    let parquet = async || {
        while send(&server, ANN, "/v1/parquet", &rows_of(MB + MB / 2)).await.status != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, parquet()).await.expect("the reservation is not released");
    // A request above the limit of an owner is not to be retried.
    let said = send(&server, ANN, "/v1/chart", &rows_of(8 * MB)).await;
    assert_eq!((said.status, &said.json()["error"]), (413, &json!("too_large")), "{said:?}");
    assert_eq!(get(&server, "/metrics", ANN).await.status, 200);
}
