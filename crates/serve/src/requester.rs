//! What handlers take from a request: who sent it, and its body as JSON.

use std::sync::Arc;

use axum::{
    body::{Bytes, to_bytes},
    extract::{FromRequest, FromRequestParts, OptionalFromRequest, Request},
    http::{HeaderMap, header, request::Parts},
};
use prospector_core::{Owner, work::compute};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::{
    error::{Refusal, RefusalCode},
    server::Server,
    shared::Shared,
    view::CatalogView,
};

/// The server, and the owner of a request.
pub(crate) struct Requester {
    pub(crate) server: Arc<Server>,
    pub(crate) owner: Owner,
}

impl Requester {
    /// Returns the catalog as the owner sees it.
    pub(crate) fn view(&self) -> Arc<CatalogView> {
        self.server.catalog.view(&self.owner)
    }
}

impl FromRequestParts<Shared> for Requester {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Refusal> {
        // Set by the guard of every route.
        let owner = parts.extensions.get::<Owner>().cloned();
        let owner = owner.ok_or_else(|| Refusal::new(RefusalCode::Internal, "the request has no owner"))?;
        Ok(Requester { server: shared.server.clone(), owner })
    }
}

/// A JSON body, and its size in bytes. `Option<JsonBody<T>>` accepts an empty body.
pub(crate) struct JsonBody<T>(pub(crate) T, pub(crate) usize);

impl<T: DeserializeOwned + Send + 'static> FromRequest<Shared> for JsonBody<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _shared: &Shared) -> Result<Self, Refusal> {
        let (headers, body) = read(request).await?;
        parse(&headers, body).await
    }
}

impl<T: DeserializeOwned + Send + 'static> OptionalFromRequest<Shared> for JsonBody<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _shared: &Shared) -> Result<Option<Self>, Refusal> {
        let (headers, body) = read(request).await?;
        if body.is_empty() { Ok(None) } else { parse(&headers, body).await.map(Some) }
    }
}

/// Returns the headers and the body, which the guard has read within its limit.
async fn read(request: Request) -> Result<(HeaderMap, Bytes), Refusal> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await;
    Ok((parts.headers, body.map_err(|_| Refusal::new(RefusalCode::BadRequest, "the body ended early"))?))
}

/// Parses a body on a blocking thread if needed: it may contain megabytes of rows.
async fn parse<T: DeserializeOwned + Send + 'static>(headers: &HeaderMap, body: Bytes) -> Result<JsonBody<T>, Refusal> {
    if !is_json(headers) {
        return Err(Refusal::new(RefusalCode::UnsupportedMediaType, "the body must be application/json"));
    }
    let bytes = body.len();
    let parsed = compute(move || serde_json::from_slice(&body)).await.map_err(|error| match error.classify() {
        Category::Data => Refusal::invalid(error.to_string()).advise("see /openapi.json"),
        _ => Refusal::new(RefusalCode::BadRequest, format!("the body is not valid JSON: {error}")),
    });
    Ok(JsonBody(parsed?, bytes))
}

/// Whether the media type of the body is JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}
