//! The form of responses: JSON, and a single form for every refusal.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use prospector_core::tool::ToolErrorCode;
use serde_json::Value;

use crate::error::{Refusal, RefusalCode};

/// Seconds after which a refused request may succeed.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

impl Refusal {
    pub(crate) fn status(&self) -> StatusCode {
        match self.code {
            RefusalCode::BadRequest => StatusCode::BAD_REQUEST,
            RefusalCode::Unauthorized => StatusCode::UNAUTHORIZED,
            RefusalCode::Forbidden => StatusCode::FORBIDDEN,
            RefusalCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            RefusalCode::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            RefusalCode::Conflict => StatusCode::CONFLICT,
            RefusalCode::Expired => StatusCode::GONE,
            RefusalCode::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            RefusalCode::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
            RefusalCode::ProviderFailed => StatusCode::BAD_GATEWAY,
            RefusalCode::Overloaded | RefusalCode::Closing | RefusalCode::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
            RefusalCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            RefusalCode::Tool(code) => status_of(code),
        }
    }

    /// Adds a partial result to the refusal, under this name.
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

/// The HTTP status of a failed tool's code.
fn status_of(code: ToolErrorCode) -> StatusCode {
    match code {
        ToolErrorCode::InvalidArguments
        | ToolErrorCode::Syntax
        | ToolErrorCode::UnknownDatabase
        | ToolErrorCode::UnknownTable
        | ToolErrorCode::UnknownColumn
        | ToolErrorCode::UnknownFunction
        | ToolErrorCode::TypeMismatch
        | ToolErrorCode::RepeatedRows
        | ToolErrorCode::AmbiguousJoin
        | ToolErrorCode::NoJoin
        | ToolErrorCode::Elsewhere => StatusCode::BAD_REQUEST,
        ToolErrorCode::Refused => StatusCode::FORBIDDEN,
        ToolErrorCode::NotFound | ToolErrorCode::UnknownTool => StatusCode::NOT_FOUND,
        ToolErrorCode::TooLarge | ToolErrorCode::Memory => StatusCode::PAYLOAD_TOO_LARGE,
        ToolErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ToolErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ToolErrorCode::NotCalled
        | ToolErrorCode::WrongPhase
        | ToolErrorCode::NotYet
        | ToolErrorCode::Over
        | ToolErrorCode::Failed => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The result of a handler: JSON, or a refusal.
pub(crate) type Reply = Result<Json<Value>, Refusal>;
