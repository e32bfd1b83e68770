//! Everything that must be refused: each as its protocol specifies, without secrets in the response.

use prospector_discovery::Profile;
use prospector_serve::{Limits, Options, ServeError, Tokens};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::support::{self, QUESTION, Running, Said, TIMEOUT, TOKEN, short, waiting};

const JSON: (&str, &str) = ("content-type", "application/json");
const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");

fn guarded() -> Options {
    Options {
        tokens: Tokens::none().with(TOKEN).unwrap(),
        hosts: vec!["desk.example".into()],
        origins: vec!["https://friend.example".into()],
        limits: short(),
        ..Options::default()
    }
}

fn initialize() -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
    .to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn data_routes_require_a_token() {
    let server = Running::new(support::offline(), guarded()).await;
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
async fn rejects_unknown_hosts_and_origins() {
    let server = Running::new(support::offline(), guarded()).await;
    let bearer = format!("Bearer {TOKEN}");
    let own = server.address.to_string();
    let check = async |host: &str, origin: Option<&str>, status: u16| {
        for path in ["/v1/about", "/mcp"] {
            let mut headers = vec![("authorization", bearer.as_str()), ("host", host)];
            headers.extend(origin.map(|origin| ("origin", origin)));
            let said = server.request("GET", path, &headers, "").await;
            // Headers that MCP requires as well are missing here.
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
    for host in [
        "[localhost]evil.example",
        "[localhost]",
        "[::1]evil.example",
        "[::1]evil.example:9",
        "[::1",
        "::1",
        "127.0.0.1.evil.example",
        "127.0.0.1.",
        "localhost@evil.example",
        "evil.example@localhost",
        "localhost:evil.example",
        "localhost:99999",
        "localhost:",
        "localhost/evil.example",
        "desk.example.evil.example",
        "evil.example#localhost",
    ] {
        check(host, None, 403).await;
    }
    check(&own, Some(&format!("http://{own}")), 200).await;
    check(&own, Some("https://friend.example"), 200).await;
    check(&own, Some("https://evil.example"), 403).await;
    check(&own, Some("http://localhost:1"), 403).await;
    check(&own, Some("null"), 403).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_large_bodies_are_not_read() {
    let server = Running::new(support::offline(), Options { limits: short(), ..Options::default() }).await;
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
async fn slow_requests_time_out() {
    let server = Running::new(support::offline(), Options { limits: short(), ..Options::default() }).await;
    // A head that never ends.
    let mut slow = tokio::net::TcpStream::connect(server.address).await.unwrap();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: ").await.unwrap();
    let said = Said::of(&mut slow).await;
    assert!(said.status == 0 || said.status == 408, "{said:?}");
    // No data at all.
    let mut silent = tokio::net::TcpStream::connect(server.address).await.unwrap();
    Said::of(&mut silent).await;
    // A body that never ends.
    for path in ["/v1/plan", "/mcp"] {
        let said = server.request("POST", path, &[JSON, BOTH, ("content-length", "100")], "{").await;
        assert_eq!((said.status, &said.json()["error"]), (408, &json!("request_timeout")), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn overload_is_refused_with_retry_advice() {
    // A hanging request keeps its place until the test releases it.
    let limits = Limits { runs: 1, requests: 2, linger: TIMEOUT, head_time: TIMEOUT, body_time: TIMEOUT, ..short() };
    let server = Running::new(waiting(), Options { limits, ..Options::default() }).await;
    let asked = json!({"question": QUESTION}).to_string();
    let first = server.send("POST", "/v1/plan", &[JSON], &asked).await;
    server.until("/metrics", |said| said.body.contains("prospector_runs 1\n")).await;
    let said = server.request("POST", "/v1/plan", &[JSON], &asked).await;
    assert_eq!((said.status, said.header("retry-after")), (429, Some("1")), "{said:?}");
    assert_eq!(said.json()["error"], "too_many_requests");
    // A second hanging request takes the last place.
    let second = server.send("POST", "/v1/tools/search", &[JSON, ("content-length", "100")], "{").await;
    let said = server.until("/v1/about", |said| said.status == 503).await;
    assert_eq!((said.header("retry-after"), &said.json()["error"]), (Some("1"), &json!("overloaded")));
    // Health checks still respond.
    assert_eq!(server.get("/healthz").await.status, 200);
    drop((first, second));
    server.until("/v1/about", |said| said.status == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_over_http_rejects_invalid_messages() {
    let server = Running::new(support::offline(), Options::default()).await;
    let check = async |body: &str| {
        let said = server.request("POST", "/mcp", &[JSON, BOTH], body).await;
        assert_eq!(said.status, 400, "{body}: {said:?}");
        said.json()
    };
    // Malformed JSON-RPC: invalid JSON, and an invalid message.
    let malformed = [
        ("", -32_700, json!(null)),
        ("{", -32_700, json!(null)),
        ("{\"jsonrpc\": \"2.0\", \"method\": \"ping\", \"params\": \"\\ud800\"}", -32_700, json!(null)),
        ("[]", -32_600, json!(null)),
        ("[{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}]", -32_600, json!(null)),
        ("1", -32_600, json!(null)),
        ("{\"id\": 1}", -32_600, json!(1)),
        ("{\"jsonrpc\": \"1.0\", \"id\": \"a\", \"method\": \"ping\"}", -32_600, json!("a")),
    ];
    for (body, code, id) in malformed {
        let said = check(body).await;
        assert_eq!(
            (&said["jsonrpc"], &said["error"]["code"], &said["id"]),
            (&json!("2.0"), &json!(code), &id),
            "{body}"
        );
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(check(&deep).await["error"]["code"], -32_700);
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_over_http_returns_protocol_errors() {
    let server = Running::new(
        support::offline(),
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
    let plain = server.request("POST", "/mcp", &[("content-type", "text/plain"), BOTH], &initialize()).await;
    assert_eq!(plain.status, 415, "{plain:?}");
    check(&[("accept", "application/json")], &initialize(), 406).await;
    // An unknown session, and a missing one where it is required.
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    check(&[BOTH, ("mcp-session-id", "0123")], &ping, 404).await;
    for (method, accept) in [("GET", "text/event-stream"), ("DELETE", "*/*")] {
        let said = server.request(method, "/mcp", &[("accept", accept), ("mcp-session-id", "0123")], "").await;
        assert_eq!(said.status, 404, "{method}: {said:?}");
    }
    let said = check(&[BOTH], &ping, 400).await;
    assert!(said.body.to_lowercase().contains("session"), "{said:?}");
    // An unknown version.
    check(&[BOTH, ("mcp-session-id", "0123"), ("mcp-protocol-version", "1999-01-01")], &ping, 400).await;
    let opened = check(&[BOTH], &initialize(), 200).await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let said = check(&[BOTH], &initialize(), 503).await;
    assert_eq!(said.header("retry-after"), Some("1"));
    // Unknown objects of a valid session: an error of JSON-RPC.
    let own = [BOTH, ("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-06-18")];
    let call = |name: &str| json!({"name": name, "arguments": {}});
    let wrong = [
        ("no/such", json!({}), -32_601),
        ("subscriptions/listen", json!({"notifications": {}}), -32_601),
        ("resources/subscribe", json!({"uri": "prospector://document/rules"}), -32_601),
        ("tools/call", call("serach"), -32_602),
        ("resources/read", json!({"uri": "file:///etc/passwd"}), -32_002),
        ("prompts/get", json!({"name": "plna"}), -32_602),
    ];
    for (method, params, code) in wrong {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string();
        let said = check(&own, &body, 200).await;
        assert!(said.body.contains(&format!("\"code\":{code}")), "{method}: {said:?}");
        assert!(said.body.contains("\"id\":7"), "{method}: {said:?}");
    }
    assert_eq!(server.request("DELETE", "/mcp", &own, "").await.status, 204);
    check(&own, &ping, 404).await;
    // Another revision has other errors: a header that contradicts its body, and an unknown revision.
    let meta = |version: &str| {
        json!({"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {},
               "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}})
    };
    let listing = |version: &str| {
        json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list", "params": {"_meta": meta(version)}}).to_string()
    };
    let new = ("mcp-protocol-version", "2026-07-28");
    check(&[BOTH, new, ("mcp-method", "tools/list")], &listing("2026-07-28"), 200).await;
    for (headers, version) in [
        (vec![BOTH, new, ("mcp-method", "tools/call")], "2026-07-28"),
        (vec![BOTH, new], "2026-07-28"),
        (vec![BOTH, ("mcp-protocol-version", "2999-01-01"), ("mcp-method", "tools/list")], "2999-01-01"),
    ] {
        let said = check(&headers, &listing(version), 400).await.json();
        assert!(said["error"]["code"].is_i64() && said["id"] == 8, "{headers:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_duplicate_headers_and_long_values() {
    let server = Running::new(support::offline(), guarded()).await;
    let (bearer, own) = (format!("Bearer {TOKEN}"), server.address.to_string());
    let check = async |headers: &[(&str, &str)], status: u16| {
        let said = server.request("GET", "/v1/about", headers, "").await;
        assert_eq!(said.status, status, "{headers:?}: {said:?}");
    };
    let (token, host) = (("authorization", bearer.as_str()), ("host", own.as_str()));
    check(&[token, host], 200).await;
    check(&[token, host, ("host", "evil.example")], 400).await;
    check(&[token, ("authorization", "Bearer other-sesame-0123456789"), host], 401).await;
    let friend = ("origin", "https://friend.example");
    check(&[token, host, friend, ("origin", "https://evil.example")], 403).await;
    check(&[token, host, ("x-long", &"x".repeat(1 << 20))], 431).await;
    // CORS preflight: only allowed origins get a response.
    for (origin, status) in [("https://friend.example", 204), ("https://evil.example", 403)] {
        let asks = [("origin", origin), host, ("access-control-request-method", "POST")];
        let said = server.request("OPTIONS", "/mcp", &asks, "").await;
        let allowed = said.header("access-control-allow-origin");
        assert_eq!((said.status, allowed), (status, (status == 204).then_some(origin)), "{said:?}");
        for method in ["POST", "DELETE"] {
            let said = server.request(method, "/mcp", &[token, host, ("origin", origin), JSON, BOTH], "{}").await;
            assert_eq!(said.status == 403, status == 403, "{method} {origin}: {said:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_contain_no_secrets() {
    const SECRET: &str = "hunter2-of-the-catalog";
    let folder = support::estate();
    let file = folder.path().join("catalog.yaml");
    let catalog = std::fs::read_to_string(&file).unwrap();
    std::fs::write(folder.path().join("shop.json"), "{\"openapi\": \"3.0.3\", \"info\": {\"title\": \"S\", \"version\": \"1\"}, \"paths\": {\"/a\": {\"get\": {\"operationId\": \"a\"}}}}").unwrap();
    let sources = format!("databases:\n- {{name: crm, url: \"postgres://reader:{SECRET}@127.0.0.1:1/crm\"}}\n");
    let apis = format!("apis:\n- path: shop.json\n  headers: ['X-Key: {SECRET}']\n");
    std::fs::write(&file, apis + &catalog.replace("databases:\n", &sources)).unwrap();
    let server = Running::over(folder, support::offline(), guarded()).await;
    let bearer = format!("Bearer {TOKEN}");
    let check = |said: &Said, what: &str| {
        for secret in [SECRET, TOKEN, "wrong-sesame-0123456789"] {
            assert!(!said.body.contains(secret) && !said.head.contains(secret), "{what}: {said:?}");
        }
    };
    for token in [bearer.as_str(), "Bearer wrong-sesame-0123456789", &format!("Basic {TOKEN}"), TOKEN] {
        let headers = [("authorization", token), JSON, BOTH];
        let paths = [
            "/v1/about",
            "/v1/tools",
            "/v1/catalog",
            "/v1/catalog/database/crm",
            "/v1/catalog/table/crm.users",
            "/metrics",
            "/v1/catalog/api/shop",
            "/v1/search?q=crm",
            "/v1/runs/nothing",
            "/openapi.json",
            "/v1/nothing",
            "/mcp",
        ];
        for path in paths {
            check(&server.request("GET", path, &headers, "").await, path);
        }
        let bodies = [
            ("/v1/tools/list_tables", json!({"database": "crm"})),
            ("/v1/tools/list", json!({"of": "crm"})),
            ("/v1/tools/describe", json!({"ids": ["shop", "shop.a", "crm"]})),
            ("/v1/plan", json!({"question": "users of crm by key of shop"})),
            ("/v1/refresh", json!({})),
            ("/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})),
            ("/mcp", json!({"not": "a message"})),
        ];
        for (path, body) in bodies {
            check(&server.request("POST", path, &headers, &body.to_string()).await, path);
        }
    }
    // A token in the wrong place grants no access, and is not quoted.
    let said = server.request("GET", &format!("/v1/about?token={TOKEN}"), &[], "").await;
    assert_eq!(said.status, 401);
    check(&said, "in the query");
    check(&server.request("GET", &format!("/{TOKEN}"), &[("authorization", &bearer)], "").await, "in the path");
    let session = [("authorization", bearer.as_str()), JSON, BOTH, ("mcp-session-id", TOKEN)];
    check(
        &server.request("POST", "/mcp", &session, "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\"}").await,
        "as a session",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_tokens_only_loopback_is_allowed() {
    let folder = support::estate();
    let server = support::server(&folder, Profile::DEFAULT, support::offline(), Options::default()).await;
    let everywhere = ([0, 0, 0, 0], 0).into();
    assert!(matches!(server.bind(everywhere).await, Err(ServeError::Unguarded { .. })));
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let refused = server.http(listener, Default::default()).await;
    assert!(matches!(refused, Err(ServeError::Unguarded { .. })));
    let server = support::server(&folder, Profile::DEFAULT, support::offline(), guarded()).await;
    assert!(server.bind(everywhere).await.is_ok());
}
