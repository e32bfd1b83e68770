//! HTTP requests to a service and their failures. Redirects are not followed, so credentials are never sent elsewhere.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Method, StatusCode};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{Access, Endpoint};
use crate::ConnectError;
use crate::cause::Cause;
use crate::reason::truncate;

/// Timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How much longer than its time limit in the service an operation is awaited.
const GRACE: Duration = Duration::from_secs(5);

/// Maximum size of a response in bytes.
const MAX_ANSWER: usize = 256 << 20;

/// Maximum size of the body of an error response in bytes.
const MAX_FAILURE_BYTES: usize = 1 << 20;

/// Maximum number of characters of an error response that is not JSON, usually an HTML page.
const MAX_PAGE_CHARS: usize = 100;

/// A client of one service.
pub(crate) struct HttpClient {
    endpoint: Endpoint,
    /// The name of the service in messages.
    place: String,
    client: OnceCell<Client>,
}

/// Why a request failed.
#[derive(Debug)]
pub(crate) enum RequestFailure {
    /// The service could not be reached.
    Unreached(String),
    /// Authentication failed.
    Locked(String),
    /// Authentication succeeded, but the operation is not permitted.
    Forbidden(String),
    /// The requested object does not exist.
    Missing(String),
    /// The request timed out.
    TooLong,
    /// The result exceeds a size limit.
    TooLarge(String),
    /// Another error, with its HTTP status.
    Failed(u16, String),
}

/// One request.
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    /// The segments of the path, which may contain any character.
    pub(crate) path: Vec<&'a str>,
    pub(crate) parameters: Vec<(&'a str, String)>,
    pub(crate) body: Option<Value>,
    pub(crate) time_limit: Duration,
}

impl HttpClient {
    /// Creates a client for `endpoint`; `place` is the name of the service in messages.
    pub(crate) fn new(endpoint: &Endpoint, place: String) -> Self {
        HttpClient { endpoint: endpoint.clone(), place, client: OnceCell::new() }
    }

    #[cfg(feature = "bigquery")]
    pub(crate) fn access(&self) -> &Access {
        &self.endpoint.access
    }

    /// Returns the name of the service in messages.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Returns the HTTP client, created on first use.
    pub(crate) async fn client(&self) -> Result<&Client, RequestFailure> {
        let made = || async {
            prospector_net::client()
                .user_agent(prospector_net::USER_AGENT)
                .retry(reqwest::retry::never())
                .connect_timeout(CONNECT_TIMEOUT)
                .build()
                .map_err(|error| RequestFailure::Unreached(reason(error)))
        };
        self.client.get_or_try_init(made).await
    }

    /// Sends a request with the configured credentials, or with `token` instead, and returns the JSON response.
    pub(crate) async fn ask(&self, question: Request<'_>, token: Option<&str>) -> Result<Value, RequestFailure> {
        let mut url = self.endpoint.url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(question.path.iter());
        }
        if !question.parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(question.parameters.iter().map(|(key, value)| (*key, value.as_str())));
        }
        let mut request = self.client().await?.request(question.method, url);
        let authorization = match (token, &self.endpoint.access) {
            (Some(token), _) => Some(format!("Bearer {token}")),
            (None, Access::Token(token)) => Some(format!("Bearer {token}")),
            (None, Access::ApiKey(key)) => Some(format!("ApiKey {key}")),
            (None, Access::User(name, password)) => Some(format!("Basic {}", basic(name, password))),
            (None, Access::Open | Access::KeyFile(_)) => None,
        };
        if let Some(text) = authorization {
            let wrong = |_| RequestFailure::Locked("the token contains invalid characters".to_owned());
            let mut value = HeaderValue::from_str(&text).map_err(wrong)?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        if let Some(body) = question.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        self.send(request, question.time_limit).await.map_err(|failure| self.scrub(failure, token))
    }

    /// Sends an HTTP request and reads the response.
    pub(crate) async fn send(
        &self,
        request: reqwest::RequestBuilder,
        time_limit: Duration,
    ) -> Result<Value, RequestFailure> {
        let answer = async {
            let mut response = request.send().await.map_err(unsent)?;
            let status = response.status();
            let mut bytes = Vec::new();
            while let Some(part) = response.chunk().await.map_err(unsent)? {
                if !status.is_success() && bytes.len() + part.len() > MAX_FAILURE_BYTES {
                    // The status is more relevant than the rest of the body.
                    bytes.extend_from_slice(&part[..MAX_FAILURE_BYTES - bytes.len()]);
                    break;
                }
                if bytes.len() + part.len() > MAX_ANSWER {
                    let reason = format!("too large: the response has more than {} MiB", MAX_ANSWER >> 20);
                    return Err(RequestFailure::TooLarge(reason));
                }
                bytes.extend_from_slice(&part);
            }
            read_answer(status, &bytes)
        };
        tokio::time::timeout(time_limit + GRACE, answer).await.unwrap_or(Err(RequestFailure::TooLong))
    }

    /// Removes secrets from the message of a failure.
    fn scrub(&self, failure: RequestFailure, token: Option<&str>) -> RequestFailure {
        let clean = |text: String| {
            let secrets = self.endpoint.access.secrets().into_iter().chain(token.map(str::to_owned));
            secrets.filter(|secret| !secret.is_empty()).fold(text, |text, secret| text.replace(&secret, "***"))
        };
        match failure {
            RequestFailure::Unreached(text) => RequestFailure::Unreached(clean(text)),
            RequestFailure::Locked(text) => RequestFailure::Locked(clean(text)),
            RequestFailure::Forbidden(text) => RequestFailure::Forbidden(clean(text)),
            RequestFailure::Missing(text) => RequestFailure::Missing(clean(text)),
            RequestFailure::Failed(status, text) => RequestFailure::Failed(status, clean(text)),
            RequestFailure::TooLong => RequestFailure::TooLong,
            RequestFailure::TooLarge(text) => RequestFailure::TooLarge(clean(text)),
        }
    }

    /// Converts a failure to the error of an operation on a table.
    pub(crate) fn statement_error(&self, table: &str, failure: RequestFailure) -> ConnectError {
        let read = |cause, status: u16, reason: String| self.read_error(table, cause, reason).with_code(Some(status));
        match failure {
            RequestFailure::Unreached(reason) => ConnectError::connect(&self.place, reason),
            RequestFailure::Locked(reason) => {
                ConnectError::connect(&self.place, format!("authentication failed: {reason}"))
            }
            RequestFailure::Forbidden(reason) => read(Cause::Refused, 403, format!("permission denied: {reason}")),
            RequestFailure::Missing(reason) => read(Cause::UnknownTable, 404, reason),
            RequestFailure::TooLong => ConnectError::timeout(&self.place, table),
            RequestFailure::TooLarge(reason) => self.read_error(table, Cause::TooLarge, reason),
            RequestFailure::Failed(429, reason) => {
                read(Cause::Other, 429, format!("the service is too busy: {reason}"))
            }
            RequestFailure::Failed(status, reason) => read(Cause::Other, status, reason),
        }
    }

    /// Returns the error of a failed read that the service did not report as such.
    pub(crate) fn read_error(&self, table: &str, cause: Cause, reason: impl Into<String>) -> ConnectError {
        ConnectError::read(&self.place, table, cause, reason)
    }
}

/// Encodes a name and a password for basic authentication.
pub(super) fn basic(name: &str, password: &str) -> String {
    STANDARD.encode(format!("{name}:{password}"))
}

fn read_answer(status: StatusCode, bytes: &[u8]) -> Result<Value, RequestFailure> {
    let parsed = serde_json::from_slice::<Value>(bytes);
    if status.is_success() {
        let wrong = |error| RequestFailure::Failed(status.as_u16(), format!("the response is not JSON: {error}"));
        return parsed.map_err(wrong);
    }
    let answer = parsed.unwrap_or_default();
    let said = find_message(&answer).unwrap_or_else(|| {
        let text = String::from_utf8_lossy(bytes);
        format!("{status} {}", truncate(&text, MAX_PAGE_CHARS)).trim().to_owned()
    });
    // Google uses the same status for exceeded quotas.
    let word = answer.pointer("/error/errors/0/reason").and_then(Value::as_str);
    let is_quota = word.is_some_and(|word| matches!(word, "rateLimitExceeded" | "quotaExceeded" | "billingNotEnabled"));
    Err(match status.as_u16() {
        _ if word == Some("bytesBilledLimitExceeded") => RequestFailure::TooLarge(format!("too large: {said}")),
        401 => RequestFailure::Locked(said),
        403 if is_quota => RequestFailure::Failed(429, said),
        403 => RequestFailure::Forbidden(said),
        404 => RequestFailure::Missing(said),
        408 | 504 => RequestFailure::TooLong,
        300..=399 => RequestFailure::Failed(
            status.as_u16(),
            format!("it redirects to another address ({status}); correct the URL"),
        ),
        other => RequestFailure::Failed(other, said),
    })
}

/// Extracts the message of an error response of Elasticsearch, OpenSearch or Google.
fn find_message(answer: &Value) -> Option<String> {
    let error = answer.get("error")?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).filter(|t| !t.is_empty()).map(str::to_owned);
    let root = error.get("root_cause").and_then(|causes| causes.get(0)).and_then(|cause| text(cause.get("reason")));
    let cause = error.get("caused_by").and_then(|cause| text(cause.get("reason")));
    let main = text(error.get("reason"));
    match (cause, root) {
        (Some(cause), Some(root)) if !cause.contains(&root) => Some(format!("{root}: {cause}")),
        (_, Some(root)) => Some(root),
        (Some(cause), None) => Some(cause),
        (None, None) => main,
    }
    .or_else(|| text(error.get("message")))
    .or_else(|| text(answer.get("error_description")))
    .or_else(|| text(Some(error)))
}

fn unsent(error: reqwest::Error) -> RequestFailure {
    if error.is_timeout() && !error.is_connect() {
        RequestFailure::TooLong
    } else {
        RequestFailure::Unreached(reason(error))
    }
}

/// Returns the message of an error, without the URL.
fn reason(error: reqwest::Error) -> String {
    prospector_core::problem::causes(&error.without_url())
}
