//! HTTP middleware around the SDK: invalid messages, closed sessions, and sessions that live as long as their client listens.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Json,
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures::StreamExt;
use prospector_core::Owner;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{requester::is_json, shared::Shared};

/// JSON-RPC 2.0, section 5.1: invalid JSON.
const PARSE_ERROR: i64 = -32_700;

/// JSON-RPC 2.0, section 5.1: not a valid request.
const INVALID_REQUEST: i64 = -32_600;

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// A session id that never exists: the SDK generates its own.
const NO_SESSION: HeaderValue = HeaderValue::from_static("none");

tokio::task_local! {
    /// The owner of the request that is passed to the SDK, which creates session handlers without arguments.
    static CURRENT_OWNER: Owner;
}

/// Returns the owner of the request that is being passed to the SDK.
pub(super) fn current_owner() -> Option<Owner> {
    CURRENT_OWNER.try_with(Owner::clone).ok()
}

/// Middleware before the SDK service; another owner's session returns 404.
pub(crate) async fn before(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    mut request: Request,
    next: Next,
) -> Response {
    let session = request.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let session = session.map(|session| match shared.owners.is_of(&session, &owner) {
        true => session,
        false => {
            request.headers_mut().insert(SESSION, NO_SESSION);
            "none".to_owned()
        }
    });
    let response = CURRENT_OWNER.scope(owner.clone(), pass_on(&shared, session, request, next)).await;
    if let Some(begun) = response.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
        let open = shared.sessions.sessions.read().await;
        shared.owners.begin(begun, owner, |session| open.contains_key(session));
    }
    response
}

async fn pass_on(shared: &Shared, session: Option<String>, request: Request, next: Next) -> Response {
    match (request.method(), session) {
        (&Method::POST, _) => post(request, next).await,
        (&Method::GET, Some(session)) => {
            let response = next.run(request).await;
            if response.status() == StatusCode::OK { keep_while_listening(shared, session, response) } else { response }
        }
        (&Method::DELETE, Some(session)) => {
            if !shared.sessions.sessions.read().await.contains_key(session.as_str()) {
                return (StatusCode::NOT_FOUND, "Not Found: Session not found").into_response();
            }
            let response = next.run(request).await;
            // Some clients treat `accepted` as a failure, although the session is closed.
            if response.status() == StatusCode::ACCEPTED { StatusCode::NO_CONTENT.into_response() } else { response }
        }
        _ => next.run(request).await,
    }
}

/// Handles a message. The SDK would report an invalid one as a wrong media type.
async fn post(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    // The body was read within its limit before.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else { return StatusCode::BAD_REQUEST.into_response() };
    let is_json = is_json(&parts.headers);
    let response = next.run(Request::from_parts(parts, Body::from(bytes.clone()))).await;
    if is_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE { parse_failure(&bytes) } else { response }
}

fn parse_failure(bytes: &Bytes) -> Response {
    let (code, message, id) = match serde_json::from_slice::<Value>(bytes) {
        Err(error) => (PARSE_ERROR, format!("Parse error: {error}"), Value::Null),
        Ok(message) => {
            let id = message.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
            let reason = if message.is_array() { "send one message per request" } else { "not a JSON-RPC 2.0 message" };
            (INVALID_REQUEST, format!("Invalid Request: {reason}"), id.unwrap_or_default())
        }
    };
    let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}

/// Keeps a session alive while its client listens; otherwise it expires when idle. The stream ends when the server closes.
fn keep_while_listening(shared: &Shared, session: String, response: Response) -> Response {
    let over = CancellationToken::new();
    let server = &shared.server;
    let every = server.options.limits.session_idle / 3;
    tokio::spawn(keep(shared.sessions.clone(), session, every, over.clone(), server.closed.clone()));
    let over = over.drop_guard();
    let closing = server.closing.clone().cancelled_owned();
    response.map(|body| {
        let stream = body.into_data_stream().take_until(closing);
        Body::from_stream(stream.inspect(move |_| {
            // Dropped with the stream.
            let _ = &over;
        }))
    })
}

/// Sends a periodic message to a session.
async fn keep(
    sessions: Arc<LocalSessionManager>,
    session: String,
    every: Duration,
    over: CancellationToken,
    closed: CancellationToken,
) {
    loop {
        tokio::select! {
            () = over.cancelled() => return,
            () = closed.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
        let handle = sessions.sessions.read().await.get(session.as_str()).cloned();
        // No request has that id, so nothing is cancelled, but the session counts as active.
        let heard = match handle {
            Some(handle) => handle.close_request_wise_channel(u64::MAX).await,
            None => return,
        };
        if heard.is_err() {
            return;
        }
    }
}
