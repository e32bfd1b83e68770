//! Middleware before every route: metrics, authorization and limits.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    panic::AssertUnwindSafe,
    time::Instant,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures::{FutureExt, StreamExt};
use prospector_core::tool::ToolErrorCode;
use prospector_core::{Owner, work::compute};

use super::{HEALTH, events, held::Held};
use crate::{
    error::{Refusal, RefusalCode},
    memory::{Reserved, estimate_json},
    metrics::Counted,
    options::Limited,
    server::Server,
    shared::Shared,
};

/// Paths that need no token: the page, which contains no data, and health checks.
const PUBLIC_PATHS: [&str; 4] = ["/", "/healthz", "/readyz", "/openapi.json"];

/// Whether a path needs no token.
fn is_public(path: &str) -> bool {
    PUBLIC_PATHS.contains(&path) || path.starts_with("/assets/")
}

/// Content security policy: only scripts, styles and requests of the page itself.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'",
);

/// Counts the request, and adds security headers to the response.
pub(crate) async fn count(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let metrics = &shared.server.metrics;
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let counted = Counted::new(&metrics.requests_now);
    // A panic in a handler fails only its own request.
    let mut response = match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(_) => {
            tracing::error!(route = route.as_ref().map_or("none", MatchedPath::as_str), "a handler panicked");
            Refusal::new(RefusalCode::Internal, "the request failed").into_response()
        }
    };
    drop(counted);
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    metrics.count_request(route, response.status().as_u16(), began.elapsed());
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Some(origin) = origin.filter(|origin| is_allowed_origin(&shared.server, origin)) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id, retry-after"));
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
    }
    response
}

/// Refuses unauthorized requests: by host name, by origin, and by token.
pub(crate) async fn authorize(State(shared): State<Shared>, mut request: Request, next: Next) -> Response {
    let server = &shared.server;
    match admit(server, &request) {
        Ok(owner) => {
            request.extensions_mut().insert(owner);
        }
        Err(refusal) => {
            server.metrics.count_refusal(refusal.code.as_str());
            return refusal.into_response();
        }
    }
    // A CORS preflight request.
    if request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD) {
        let allowed = [
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
            (
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "authorization, content-type, last-event-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, \
             prospector-session",
            ),
        ];
        return (StatusCode::NO_CONTENT, allowed).into_response();
    }
    next.run(request).await
}

/// Returns the owner of the request; the local user if no tokens are required.
fn admit(server: &Server, request: &Request) -> Result<Owner, Refusal> {
    let headers = request.headers();
    let host = match request.uri().authority() {
        Some(authority) => authority.as_str(),
        None => text(headers, &header::HOST)
            .ok_or_else(|| Refusal::new(RefusalCode::BadRequest, "the request needs exactly one Host header"))?,
    };
    if !is_known(server, host) {
        return Err(Refusal::new(RefusalCode::Forbidden, "unknown host name").advise("allow it with --host-name"));
    }
    if headers.contains_key(header::ORIGIN) {
        let origin = headers.get(header::ORIGIN).filter(|_| headers.get_all(header::ORIGIN).iter().count() == 1);
        let own = |origin: &HeaderValue| {
            let rest = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
            rest.is_some_and(|(_, name)| name.eq_ignore_ascii_case(host))
        };
        if !origin.is_some_and(|origin| own(origin) || is_allowed_origin(server, origin)) {
            return Err(Refusal::new(RefusalCode::Forbidden, "pages of that origin may not call this server")
                .advise("allow it with --origin"));
        }
    }
    let path = request.uri().path();
    let asks_first = request.method() == Method::OPTIONS;
    if server.options.tokens.is_none() || is_public(path) || asks_first {
        return Ok(Owner::local());
    }
    let token = text(headers, &header::AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    match token.map(|token| server.options.tokens.owner_of(token)) {
        Some(Some(owner)) => Ok(owner.clone()),
        Some(None) => Err(Refusal::new(RefusalCode::Unauthorized, "the token is invalid")),
        None => Err(Refusal::new(RefusalCode::Unauthorized, "this server needs a token")
            .advise("send it as `Authorization: Bearer TOKEN`")),
    }
}

/// Returns a header that occurs exactly once, as text.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Whether the server may be called by this host, with or without a port. Plain addresses and `localhost` are always allowed: DNS rebinding
/// can point a foreign name at any address, but cannot use those.
fn is_known(server: &Server, host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host();
    // Nothing may precede the name, or separate it from the port.
    let is_whole = match authority.port_u16() {
        Some(port) => authority.as_str() == format!("{name}:{port}"),
        None => authority.as_str() == name,
    };
    if !is_whole {
        return false;
    }
    let address = match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => inner.parse::<Ipv6Addr>().map(IpAddr::V6),
        None => name.parse::<Ipv4Addr>().map(IpAddr::V4),
    };
    name.eq_ignore_ascii_case("localhost")
        || address.is_ok()
        || server.options.hosts.iter().any(|known| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(host))
}

/// Whether pages of that origin may call the server.
fn is_allowed_origin(server: &Server, origin: &HeaderValue) -> bool {
    server.options.origins.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(origin.as_bytes()))
}

/// Enforces the limits of the server and of the owner: concurrent requests and streams, and the size and time of the body, which is read
/// here.
pub(crate) async fn limit(State(shared): State<Shared>, mut request: Request, next: Next) -> Response {
    let server = &shared.server;
    let path = request.uri().path();
    if is_public(path) {
        let is_about_health = HEALTH.contains(&path);
        // The client is not identified, and no body is needed: it is neither read nor awaited.
        let has_body = request.headers().contains_key(header::TRANSFER_ENCODING)
            || text(request.headers(), &header::CONTENT_LENGTH).is_some_and(|length| length != "0");
        *request.body_mut() = Body::empty();
        let Some(_permit) = (match is_about_health {
            true => Some(None),
            false => server.requests_left.clone().try_acquire_owned().ok().map(Some),
        }) else {
            return too_many(server, RefusalCode::Overloaded, "too many concurrent requests");
        };
        let response = next.run(request).await;
        return if has_body { closing(response) } else { response };
    }
    if server.closing.is_cancelled() {
        let refusal = Refusal::new(RefusalCode::Closing, "the server is shutting down").advise("retry in a moment");
        return closing(refusal.into_response());
    }
    let owner = request.extensions().get::<Owner>().cloned().unwrap_or_else(Owner::local);
    let Ok(permit) = server.requests_left.clone().try_acquire_owned() else {
        return too_many(server, RefusalCode::Overloaded, "too many concurrent requests");
    };
    let Some(share) = server.requests_of.take(&owner, server.share(Limited::Requests)) else {
        return too_many(server, RefusalCode::TooManyRequests, "too many concurrent requests for this token");
    };
    let stream = match events::are_wanted(request.headers()) {
        false => None,
        true => match server.streams_of.take(&owner, server.options.limits.streams_per_owner) {
            Some(stream) => Some(stream),
            None => {
                return too_many(server, RefusalCode::TooManyRequests, "too many open streams for this token");
            }
        },
    };
    let may_begin = request.uri().path() == "/mcp"
        && request.method() == Method::POST
        && !request.headers().contains_key("mcp-session-id");
    if may_begin && let Err(refusal) = sessions_left(&shared, &owner).await {
        server.metrics.count_refusal("sessions");
        return refusal.into_response();
    }
    let (request, reserved) = match read_request(server, &owner, request).await {
        Ok(read) => read,
        Err(refusal) => {
            server.metrics.count_refusal(refusal.code.as_str());
            // The rest of the body is not read.
            return closing(refusal.into_response());
        }
    };
    let response = next.run(request).await;
    drop(permit);
    // Held until the last byte has been sent: by a stream as a stream, by anything else as a request.
    let is_stream = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|media| media.to_str().is_ok_and(|media| media.starts_with("text/event-stream")));
    match stream.filter(|_| is_stream) {
        // MCP calls continue while their stream is open.
        Some(stream) => response.map(|body| Held::body(body, (stream, reserved))),
        None => response.map(|body| Held::body(body, (share, reserved))),
    }
}

fn too_many(server: &Server, code: RefusalCode, message: &str) -> Response {
    server.metrics.count_refusal(code.as_str());
    Refusal::new(code, message).advise("retry in a moment").into_response()
}

fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Refuses requests that may start an MCP session if the server or this owner has too many.
async fn sessions_left(shared: &Shared, owner: &Owner) -> Result<(), Refusal> {
    let server = &shared.server;
    let open = shared.sessions.sessions.read().await;
    if open.len() >= server.options.limits.sessions {
        return Err(Refusal::new(RefusalCode::Overloaded, "too many MCP sessions are open").advise("retry in a moment"));
    }
    if shared.owners.count(owner, |session| open.contains_key(session)) >= server.share(Limited::Sessions) {
        let refusal = Refusal::new(RefusalCode::TooManyRequests, "too many open MCP sessions for this token");
        return Err(refusal.advise("end one, or retry in a moment"));
    }
    Ok(())
}

/// Returns a request with its whole body, and the memory reserved for it.
async fn read_request(
    server: &Server,
    owner: &Owner,
    request: Request,
) -> Result<(Request, Option<Reserved>), Refusal> {
    let (parts, body) = request.into_parts();
    if body.size_hint().exact() == Some(0) {
        return Ok((Request::from_parts(parts, Body::empty()), None));
    }
    let limits = &server.options.limits;
    let declared = text(&parts.headers, &header::CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    let too_large = || {
        Refusal::new(ToolErrorCode::TooLarge, format!("the body has more than {} bytes", limits.body_bytes))
            .advise("send a smaller body")
    };
    if declared.is_some_and(|length| length > limits.body_bytes) {
        return Err(too_large());
    }
    let unread = server.reserve(owner, declared.unwrap_or(limits.body_bytes))?;
    match tokio::time::timeout(limits.body_time, read(body, limits.body_bytes)).await {
        Ok(Ok(Some(bytes))) => {
            drop(unread);
            let counted = bytes.clone();
            let reserved = server.reserve(owner, compute(move || estimate_json(&counted)).await)?;
            Ok((Request::from_parts(parts, Body::from(bytes)), Some(reserved)))
        }
        Ok(Ok(None)) => Err(too_large()),
        Ok(Err(_)) => Err(Refusal::new(RefusalCode::BadRequest, "the body ended early")),
        Err(_) => Err(Refusal::new(RefusalCode::RequestTimeout, "the body took too long")),
    }
}

/// Reads a whole body; `None` if it is larger than `most`.
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
