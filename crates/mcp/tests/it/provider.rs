//! An MCP server and its authorization server on one port, which may misbehave.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Form, Json, Router,
    body::{Body, Bytes},
    extract::{Query, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures::stream;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::http::{listen, reply};

pub(crate) type Parameters = HashMap<String, String>;

/// What the provider does, and what was sent to it.
#[derive(Default)]
pub(crate) struct Provider {
    pub(crate) host: String,
    /// Another server of the same network, which the policy does not allow.
    other: String,
    what: Mutex<&'static str>,
    challenge: Mutex<String>,
    /// The number of the tokens that are valid.
    pub(crate) issued: AtomicU32,
    pub(crate) lifetime: AtomicU64,
    pub(crate) registrations: AtomicU32,
    /// The forms that the token endpoint received.
    pub(crate) exchanges: Mutex<Vec<Parameters>>,
    /// The queries of the sign-in page.
    pub(crate) visits: Mutex<Vec<Parameters>>,
}

impl Provider {
    pub(crate) async fn serve(what: &'static str, other: &str) -> Arc<Provider> {
        let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = free.local_addr().unwrap().to_string();
        let provider = Provider {
            host,
            other: other.to_owned(),
            what: Mutex::new(what),
            lifetime: AtomicU64::new(3600),
            ..Provider::default()
        };
        let provider = Arc::new(provider);
        let router = Router::new()
            .route("/mcp", post(answer).get(refuse))
            .route("/.well-known/oauth-protected-resource/mcp", get(describe_resource))
            .route("/.well-known/oauth-authorization-server", get(describe_server))
            .route("/moved", get(describe_server))
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(exchange))
            .with_state(provider.clone());
        listen(free, router);
        provider
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.host)
    }

    /// Changes the behaviour.
    pub(crate) fn change(&self, what: &'static str) {
        *self.what.lock().unwrap() = what;
    }

    fn does(&self, what: &str) -> bool {
        *self.what.lock().unwrap() == what
    }

    fn is_permitted(&self, headers: &HeaderMap) -> bool {
        let number = self.issued.load(Ordering::Relaxed);
        let expected = format!("Bearer s3cret-access-{number}");
        !self.does("forget")
            && headers.get("authorization").is_some_and(|value| value.as_bytes() == expected.as_bytes())
    }

    fn challenge(&self) -> Response {
        let host = if self.does("private metadata") { &self.other } else { &self.host };
        let pointer = format!("Bearer resource_metadata=\"http://{host}/.well-known/oauth-protected-resource/mcp\"");
        (StatusCode::UNAUTHORIZED, [("www-authenticate", pointer)]).into_response()
    }
}

type Shared = State<Arc<Provider>>;

async fn answer(State(provider): Shared, headers: HeaderMap, Json(message): Json<Value>) -> Response {
    if !provider.is_permitted(&headers) {
        return provider.challenge();
    }
    let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
    match reply(&message) {
        Some(result) => Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response(),
        None => StatusCode::BAD_REQUEST.into_response(),
    }
}

async fn refuse(State(provider): Shared, headers: HeaderMap) -> Response {
    if provider.does("endless stream") {
        let events = stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(b"data: {}\n\n")));
        return ([("content-type", "text/event-stream")], Body::from_stream(events)).into_response();
    }
    if provider.is_permitted(&headers) { StatusCode::METHOD_NOT_ALLOWED.into_response() } else { provider.challenge() }
}

async fn describe_resource(State(provider): Shared) -> Response {
    let (host, other) = (&provider.host, &provider.other);
    let mut servers = vec![format!("http://{host}")];
    let mut resource = provider.url();
    let what = *provider.what.lock().unwrap();
    match what {
        "no metadata" => return StatusCode::NOT_FOUND.into_response(),
        "redirected resource" => {
            return (StatusCode::FOUND, [("location", format!("http://{other}/metadata"))]).into_response();
        }
        "wrong resource" => resource = "http://127.0.0.1:1/mcp".to_owned(),
        "private server" => servers = vec![format!("http://{other}")],
        "special server" => servers = vec!["http://169.254.169.254".to_owned()],
        "many servers" => servers = (0..1_000).map(|number| format!("http://{host}/{number}")).collect(),
        _ => {}
    }
    Json(json!({"resource": resource, "authorization_servers": servers, "scopes_supported": ["read"]})).into_response()
}

async fn describe_server(State(provider): Shared) -> Response {
    let (host, other) = (&provider.host, &provider.other);
    let mut metadata = json!({
        "issuer": format!("http://{host}"),
        "authorization_endpoint": format!("http://{host}/authorize"),
        "token_endpoint": format!("http://{host}/token"),
        "registration_endpoint": format!("http://{host}/register"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
    });
    let what = *provider.what.lock().unwrap();
    match what {
        "no metadata" | "many servers" => return StatusCode::NOT_FOUND.into_response(),
        "wrong issuer" => metadata["issuer"] = json!("http://127.0.0.1:1"),
        "no issuer" => metadata["issuer"] = Value::Null,
        "no registration" => metadata["registration_endpoint"] = Value::Null,
        "plain challenges" => metadata["code_challenge_methods_supported"] = json!(["plain"]),
        "private token endpoint" => metadata["token_endpoint"] = json!(format!("http://{other}/token")),
        "private sign-in page" => metadata["authorization_endpoint"] = json!(format!("http://{other}/authorize")),
        "file as sign-in page" => metadata["authorization_endpoint"] = json!("file:///etc/passwd"),
        "redirected metadata" => {
            return (StatusCode::FOUND, [("location", format!("http://{other}/metadata"))]).into_response();
        }
        "circular metadata" => return (StatusCode::FOUND, [("location", "/moved")]).into_response(),
        "huge metadata" => metadata["padding"] = json!("x".repeat(1 << 20)),
        "endless metadata" => {
            let spaces = stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(&[b' '; 65_536])));
            return ([("content-type", "application/json")], Body::from_stream(spaces)).into_response();
        }
        "slow metadata" => tokio::time::sleep(Duration::from_secs(600)).await,
        _ => {}
    }
    Json(metadata).into_response()
}

async fn register(State(provider): Shared, Json(wanted): Json<Value>) -> Response {
    provider.registrations.fetch_add(1, Ordering::Relaxed);
    match provider.does("redirected registration") {
        true => (StatusCode::TEMPORARY_REDIRECT, [("location", format!("http://{}/", provider.other))]).into_response(),
        false => Json(json!({"client_id": "registered", "redirect_uris": wanted["redirect_uris"]})).into_response(),
    }
}

async fn authorize(State(provider): Shared, Query(query): Query<Parameters>) -> Response {
    assert_eq!((query["response_type"].as_str(), query["code_challenge_method"].as_str()), ("code", "S256"));
    *provider.challenge.lock().unwrap() = query["code_challenge"].clone();
    let (redirect, mut state) = (query["redirect_uri"].clone(), query["state"].clone());
    provider.visits.lock().unwrap().push(query);
    let mut issuer = format!("http://{}", provider.host);
    let what = *provider.what.lock().unwrap();
    match what {
        "wrong state" => state = "forged".to_owned(),
        "wrong issuer in the redirect" => issuer = "http://127.0.0.1:1".to_owned(),
        _ => {}
    }
    let answer = if what == "refusal" { "error=access_denied&code=s3cret-code" } else { "code=s3cret-code" };
    let location = format!("{redirect}?{answer}&state={state}&iss={issuer}");
    (StatusCode::FOUND, [("location", location)]).into_response()
}

async fn exchange(State(provider): Shared, Form(form): Form<Parameters>) -> Response {
    let failure = |code: &str| {
        // Text that repeats secrets.
        let said = format!("no: {form:?} s3cret-access-1 s3cret-refresh-1");
        (StatusCode::BAD_REQUEST, Json(json!({"error": code, "error_description": said}))).into_response()
    };
    provider.exchanges.lock().unwrap().push(form.clone());
    if provider.does("redirected token endpoint") {
        let location = format!("http://{}/token", provider.other);
        return (StatusCode::TEMPORARY_REDIRECT, [("location", location)]).into_response();
    }
    if provider.does("failing token endpoint") {
        return (StatusCode::SERVICE_UNAVAILABLE, "s3cret-access-1 s3cret-refresh-1").into_response();
    }
    if provider.does("garbage of the token endpoint") {
        return ([("content-type", "application/json")], "{\"access_token\": \"s3cret-access-1").into_response();
    }
    let number = provider.issued.load(Ordering::Relaxed);
    let is_valid = match form["grant_type"].as_str() {
        "authorization_code" => {
            form["code"] == "s3cret-code" && hash(&form["code_verifier"]) == *provider.challenge.lock().unwrap()
        }
        _ => form["refresh_token"] == format!("s3cret-refresh-{number}"),
    };
    if !is_valid || provider.does("refused tokens") {
        return failure("invalid_grant");
    }
    let number = provider.issued.fetch_add(1, Ordering::Relaxed) + 1;
    Json(json!({
        "access_token": format!("s3cret-access-{number}"),
        "refresh_token": format!("s3cret-refresh-{number}"),
        "token_type": "Bearer",
        "expires_in": provider.lifetime.load(Ordering::Relaxed),
    }))
    .into_response()
}

/// The S256 challenge of a verifier: base64url of its SHA-256.
fn hash(verifier: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digest = Sha256::digest(verifier.as_bytes());
    let bits: Vec<u8> = digest.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let digit = |six: &[u8]| {
        let value = (0..6).fold(0, |value, at| value << 1 | usize::from(six.get(at).copied().unwrap_or(0)));
        char::from(DIGITS[value])
    };
    bits.chunks(6).map(digit).collect()
}
