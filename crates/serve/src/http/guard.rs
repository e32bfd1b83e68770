//! What stands before every route: what is counted, who may ask, and how much.

use std::{
    net::IpAddr,
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use axum::{
    body::{Body, Bytes},
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures::StreamExt;

use super::Shared;
use crate::{error::Refusal, server::Server};

/// What may be read without a token: the page, which has no data in it, and whether the server lives.
const OPEN: [&str; 4] = ["/", "/healthz", "/readyz", "/openapi.json"];

/// Nothing else than what the page brings with it.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'",
);

/// Counts, and gives every answer the headers that browsers want.
pub(crate) async fn counted(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let metrics = &shared.server.metrics;
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let origin = request.headers().get(header::ORIGIN).cloned();
    metrics.requests_now.fetch_add(1, Ordering::Relaxed);
    let counted = Leaving(&shared.server);
    let mut response = next.run(request).await;
    drop(counted);
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    metrics.requested(route, response.status().as_u16(), began.elapsed());
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Some(origin) = origin.filter(|origin| is_friend(&shared.server, origin)) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id, retry-after"));
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
    }
    response
}

/// A request that is answered, or dropped because its client went away.
struct Leaving<'a>(&'a Arc<Server>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.metrics.requests_now.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Refuses who may not ask: by the name that the server was called by, by the page that asks, and by the token.
pub(crate) async fn admitted(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let server = &shared.server;
    match admit(server, &request) {
        Ok(()) => {}
        Err(refusal) => {
            server.metrics.refused(refusal.code);
            return refusal.into_response();
        }
    }
    // A browser asks first whether another page may.
    if request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD) {
        let allowed = [
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
            (
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "authorization, content-type, last-event-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name",
            ),
        ];
        return (StatusCode::NO_CONTENT, allowed).into_response();
    }
    next.run(request).await
}

fn admit(server: &Server, request: &Request) -> Result<(), Refusal> {
    let headers = request.headers();
    let host = match request.uri().authority() {
        Some(authority) => authority.as_str(),
        None => text(headers, &header::HOST)
            .ok_or_else(|| Refusal::new("bad_request", "the request has no Host, or more than one"))?,
    };
    if !is_known(server, host) {
        return Err(Refusal::new("forbidden", "the server is not called by that name")
            .advise("name it with --host-name where it is reached by a name"));
    }
    if headers.contains_key(header::ORIGIN) {
        let origin = headers.get(header::ORIGIN).filter(|_| headers.get_all(header::ORIGIN).iter().count() == 1);
        let own = |origin: &HeaderValue| {
            let rest = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
            rest.is_some_and(|(_, name)| name.eq_ignore_ascii_case(host))
        };
        if !origin.is_some_and(|origin| own(origin) || is_friend(server, origin)) {
            return Err(Refusal::new("forbidden", "pages of that origin may not ask here")
                .advise("name it with --origin where it is meant to"));
        }
    }
    let path = request.uri().path();
    let is_open = OPEN.contains(&path) || path.starts_with("/assets/");
    let asks_first = request.method() == Method::OPTIONS;
    if server.options.tokens.is_none() || is_open || asks_first {
        return Ok(());
    }
    let token = text(headers, &header::AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    match token {
        Some(token) if server.options.tokens.admits(token) => Ok(()),
        Some(_) => Err(Refusal::new("unauthorized", "the token is not one of those that open this server")),
        None => Err(Refusal::new("unauthorized", "this server needs a token")
            .advise("send it as `Authorization: Bearer TOKEN`")),
    }
}

/// A header that is there once, as text.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Whether the server is called so. A page elsewhere can give its own name any address, but it cannot be called by a plain
/// address or `localhost`; so those are always right.
fn is_known(server: &Server, host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok()
        || server.options.hosts.iter().any(|known| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(host))
}

/// Whether pages of that origin may ask.
fn is_friend(server: &Server, origin: &HeaderValue) -> bool {
    server.options.origins.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(origin.as_bytes()))
}

/// Refuses what is too much: requests at once, and bytes or time of a body, which is read here.
pub(crate) async fn bounded(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let server = &shared.server;
    let path = request.uri().path();
    let is_asked_about_health = OPEN.contains(&path);
    if server.closing.is_cancelled() && !is_asked_about_health {
        let refusal = Refusal::new("closing", "the server is shutting down").advise("ask again in a moment");
        let mut response = refusal.into_response();
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        return response;
    }
    let Ok(_permit) = server.requests_left.clone().try_acquire_owned() else {
        server.metrics.refused("overloaded");
        let refusal = Refusal::new("overloaded", "too many requests are being answered already");
        return refusal.advise("ask again in a moment").into_response();
    };
    let is_new_session =
        path == "/mcp" && request.method() == Method::POST && !request.headers().contains_key("mcp-session-id");
    if is_new_session && shared.sessions.sessions.read().await.len() >= server.options.limits.sessions {
        server.metrics.refused("sessions");
        let refusal = Refusal::new("overloaded", "too many MCP sessions are open");
        return refusal.advise("ask again in a moment").into_response();
    }
    let (parts, body) = request.into_parts();
    let limits = &server.options.limits;
    let declared = text(&parts.headers, &header::CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    let too_large = || {
        Refusal::new("too_large", format!("the body has more than {} bytes", limits.body_bytes))
            .advise("send less at once")
    };
    let read = match declared {
        Some(length) if length > limits.body_bytes => Err(too_large()),
        _ => match tokio::time::timeout(limits.body_time, read(body, limits.body_bytes)).await {
            Ok(Ok(Some(bytes))) => Ok(bytes),
            Ok(Ok(None)) => Err(too_large()),
            Ok(Err(_)) => Err(Refusal::new("bad_request", "the body broke off")),
            Err(_) => Err(Refusal::new("request_timeout", "the body took too long")),
        },
    };
    match read {
        Ok(bytes) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(refusal) => {
            server.metrics.refused(refusal.code);
            let mut response = refusal.into_response();
            // The rest of the body is not waited for.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            response
        }
    }
}

/// A whole body; `None` where it is larger than `most`.
async fn read(body: Body, most: usize) -> Result<Option<Bytes>, axum::Error> {
    let mut stream = body.into_data_stream();
    let mut bytes: Vec<u8> = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk?;
        if bytes.len() + chunk.len() > most {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Some(bytes.into()))
}
