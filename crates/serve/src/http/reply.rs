//! How answers and refusals look: JSON, and one shape for whatever is wrong.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::Value;

use crate::error::Refusal;

/// What is asked for again after this many seconds may well be answered.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

impl Refusal {
    /// The status that goes with its word.
    pub(crate) fn status(&self) -> StatusCode {
        match self.code {
            "invalid_arguments" | "bad_request" => StatusCode::BAD_REQUEST,
            "unauthorized" => StatusCode::UNAUTHORIZED,
            "forbidden" => StatusCode::FORBIDDEN,
            "not_found" | "unknown_tool" => StatusCode::NOT_FOUND,
            "method_not_allowed" => StatusCode::METHOD_NOT_ALLOWED,
            "request_timeout" => StatusCode::REQUEST_TIMEOUT,
            "conflict" => StatusCode::CONFLICT,
            "expired" => StatusCode::GONE,
            "too_large" => StatusCode::PAYLOAD_TOO_LARGE,
            "unsupported_media_type" => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "too_many_requests" => StatusCode::TOO_MANY_REQUESTS,
            "provider_failed" => StatusCode::BAD_GATEWAY,
            "overloaded" | "closing" | "cancelled" | "unavailable" => StatusCode::SERVICE_UNAVAILABLE,
            "timeout" => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The same with what came of it all the same, under this name.
    pub(crate) fn with(&self, name: &str, value: &Value) -> Response {
        let mut body = self.to_json();
        body[name] = value.clone();
        self.response(body)
    }

    fn response(&self, body: Value) -> Response {
        let status = self.status();
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"prospector\""));
        }
        response
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        self.response(self.to_json())
    }
}

/// What a handler gives: JSON, or a refusal.
pub(crate) type Reply = Result<Json<Value>, Refusal>;
