//! Classifies failed attempts: the error to report, and whether and when to retry.

use std::time::{Duration, SystemTime};

use genai::webc::StreamTimeout;
use prospector_core::problem::causes;
use reqwest::{
    StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};
use serde_json::Value;

use super::{
    route::Route,
    secret::{Secret, conceal},
};
use crate::LlmError;

/// Maximum pause that `retry-after` can request. Longer requested pauses are reduced to it.
pub const MAX_PAUSE: Duration = Duration::from_secs(30);

/// A failed attempt.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: LlmError,
    /// Whether a retry may succeed.
    pub(super) again: bool,
    /// The pause requested by the provider.
    pub(super) after: Option<Duration>,
}

/// The endpoint of a model, for error messages.
#[derive(Debug)]
pub(super) struct Peer {
    /// The model as it was requested.
    pub(super) model: String,
    /// Scheme, host and port.
    pub(super) origin: String,
    pub(super) key: Option<Secret>,
    pub(super) timeout: Duration,
}

impl Peer {
    pub(super) fn new(model: &str, route: &Route, timeout: Duration) -> Self {
        let origin = route.base.origin().ascii_serialization();
        Peer { model: model.to_owned(), origin, key: route.key.clone(), timeout }
    }

    pub(super) fn nonsense(&self, reason: &str) -> Failure {
        let error = LlmError::Nonsense { model: self.model.clone(), reason: self.conceal(reason) };
        Failure { error, again: false, after: None }
    }

    pub(super) fn failure(&self, error: genai::Error) -> Failure {
        use genai::Error;
        match error {
            Error::WebStream { error, .. } => self.stream_failure(error),
            Error::HttpError { status, body, headers, .. } => self.refusal(status, &headers, &body),
            Error::ChatResponse { body, .. } => self.report(&body),
            Error::StreamParse { serde_error, .. } => {
                self.nonsense(&format!("the response contains invalid JSON ({serde_error})"))
            }
            Error::WebModelCall { webc_error, .. } => self.transport(&webc_error.to_string()),
            other => self.nonsense(&other.to_string()),
        }
    }

    /// Returns the failure of a stream that could not be opened or read.
    pub(super) fn stream_failure(&self, error: genai::BoxError) -> Failure {
        let error = match error.downcast::<genai::Error>() {
            Ok(error) => return self.failure(*error),
            Err(error) => error,
        };
        let error = match error.downcast::<StreamTimeout>() {
            Ok(_) => return self.silent(),
            Err(error) => error,
        };
        match error.downcast::<reqwest::Error>() {
            Ok(error) if error.is_body() || error.is_decode() => Failure {
                again: true,
                ..self.nonsense(&format!("the connection broke ({})", causes(&error.without_url())))
            },
            Ok(error) => {
                let again = error.is_connect() || !error.is_timeout() && !error.is_builder();
                let reason = format!("cannot connect to {}: {}", self.origin, causes(&error.without_url()));
                Failure { again, ..self.transport(&reason) }
            }
            Err(error) => self.nonsense(&error.to_string()),
        }
    }

    /// Returns the failure of a timeout.
    pub(super) fn silent(&self) -> Failure {
        self.transport(&format!("no response from {} within {:?}", self.origin, self.timeout))
    }

    /// Returns the failure of a response with an error status.
    pub(super) fn refusal(&self, status: StatusCode, headers: &HeaderMap, body: &str) -> Failure {
        let reason = words(body).unwrap_or_else(|| status.canonical_reason().unwrap_or("no reason").to_owned());
        let hint = || retry_delay(&serde_json::from_str(body).ok()?);
        let after = retry_after(headers, SystemTime::now()).or_else(hint);
        Failure { after, ..self.status(status.as_u16(), &reason) }
    }

    /// Returns the failure of an error event in a stream that started with a success status.
    pub(super) fn report(&self, body: &Value) -> Failure {
        let words = words(&body.to_string()).unwrap_or_else(|| "an error without a message".into());
        match reported_status(body) {
            Some(status) => Failure { after: retry_delay(body), ..self.status(status, &words) },
            None => self.nonsense(&format!("the provider reports: {words}")),
        }
    }

    pub(super) fn status(&self, status: u16, words: &str) -> Failure {
        let error = LlmError::Status { model: self.model.clone(), status, message: self.conceal(words) };
        Failure { error, again: matches!(status, 429 | 500 | 502 | 503 | 504 | 529), after: None }
    }

    fn transport(&self, reason: &str) -> Failure {
        let error = LlmError::Transport { model: self.model.clone(), reason: self.conceal(reason) };
        Failure { error, again: false, after: None }
    }

    fn conceal(&self, text: &str) -> String {
        conceal(text, self.key.as_ref())
    }
}

/// Returns the message in the body of a refusal; `None` if it is empty. Ollama nests errors of its runner as JSON inside the text, so one
/// level of nesting is resolved.
pub(super) fn words(body: &str) -> Option<String> {
    let text = provider_message(body)?;
    if text.starts_with('{') && text != body { provider_message(&text) } else { Some(text) }
}

fn provider_message(body: &str) -> Option<String> {
    const PLACES: [&str; 6] = ["/error/message", "/0/error/message", "/message", "/error", "/detail", ""];
    let text = match serde_json::from_str::<Value>(body) {
        Ok(json) => PLACES
            .iter()
            .find_map(|place| json.pointer(place)?.as_str().map(str::to_owned))
            .unwrap_or_else(|| json.to_string()),
        Err(_) => body.trim().to_owned(),
    };
    (!text.is_empty()).then_some(text)
}

/// Returns the status that corresponds to an error event.
fn reported_status(body: &Value) -> Option<u16> {
    let inner = body.get("error").filter(|error| error.is_object()).unwrap_or(body);
    let code = inner.get("code").and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    if let Some(code) = code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code)) {
        return Some(code);
    }
    Some(match inner.get("type")?.as_str()? {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "api_error" | "server_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => return None,
    })
}

/// Parses `retry-after`, in seconds or as a date, limited to [`MAX_PAUSE`].
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let pause = match value.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
        Err(_) => httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default(),
    };
    Some(pause.min(MAX_PAUSE))
}

/// Parses what Google's errors contain instead of `retry-after`: a `google.rpc.RetryInfo` among the details, whose `retryDelay` is a text
/// such as `12.5s` (<https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto>). Limited to [`MAX_PAUSE`].
fn retry_delay(body: &Value) -> Option<Duration> {
    let error = ["/error", "/0/error"].iter().find_map(|place| body.pointer(place))?;
    let is_hint = |detail: &&Value| detail["@type"].as_str().is_some_and(|name| name.ends_with("google.rpc.RetryInfo"));
    let hint = error.get("details")?.as_array()?.iter().find(is_hint)?;
    let seconds = hint["retryDelay"].as_str()?.strip_suffix('s')?.parse::<f64>().ok()?;
    Some(Duration::try_from_secs_f64(seconds).ok()?.min(MAX_PAUSE))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn peer() -> Peer {
        Peer {
            model: "m".into(),
            origin: "http://h:1".into(),
            key: Some("very-private-0123".into()),
            timeout: Duration::from_secs(5),
        }
    }

    fn refused(status: u16, retry_after: Option<&str>, body: &str) -> Failure {
        let mut headers = HeaderMap::new();
        if let Some(value) = retry_after {
            headers.insert(RETRY_AFTER, value.parse().unwrap());
        }
        peer().failure(genai::Error::HttpError {
            status: StatusCode::from_u16(status).unwrap(),
            canonical_reason: "ignored".into(),
            body: body.into(),
            headers: Box::new(headers),
        })
    }

    fn check(failure: Failure, message: &str, again: bool) {
        assert_eq!((failure.error.to_string().as_str(), failure.again), (message, again));
    }

    #[test]
    fn only_passing_refusals_are_sent_again() {
        let says = |status: u16| format!("model `m`: the provider responded with status {status}: Reason");
        for status in [429, 500, 502, 503, 504, 529] {
            check(refused(status, None, "Reason"), &says(status), true);
        }
        for status in [301, 400, 401, 403, 404, 413, 422, 501] {
            check(refused(status, None, "Reason"), &says(status), false);
        }
        check(refused(404, None, ""), "model `m`: the provider responded with status 404: Not Found", false);
    }

    #[test]
    fn the_providers_words_are_found_and_hold_no_key() {
        let says = |body: &str, words: &str| {
            check(
                refused(401, None, body),
                &format!("model `m`: the provider responded with status 401: {words}"),
                false,
            );
        };
        says(r#"{"type":"error","error":{"type":"x","message":"bad key very-private-0123"}}"#, "bad key [hidden]");
        says(r#"{"error":"no"}"#, "no");
        says(r#"[{"error":{"message":"no"}}]"#, "no");
        says(r#"{"detail":[1]}"#, r#"{"detail":[1]}"#);
        says(r#"{"error":"{\"error\":{\"code\":400,\"message\":\"too long\"}}"}"#, "too long");
        says("<html>\n no </html>", "<html> no </html>");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_is_capped() {
        let pause = |value: &str| refused(429, Some(value), "").after;
        assert_eq!(pause("0"), Some(Duration::ZERO));
        assert_eq!(pause("1.5"), Some(Duration::from_millis(1500)));
        assert_eq!(pause("3600"), Some(MAX_PAUSE));
        assert_eq!(pause("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO), "it is past");
        for value in ["-1", "soon", "NaN", "inf"] {
            assert_eq!(pause(value), None, "{value}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, "Wed, 21 Oct 2015 07:28:10 GMT".parse().unwrap());
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_445_412_483);
        assert_eq!(retry_after(&headers, now), Some(Duration::from_secs(7)));
    }

    #[test]
    fn googles_hint_when_to_send_again_is_found_in_the_body() {
        let hint = |delay: &str| {
            let kind = "type.googleapis.com/google.rpc.RetryInfo";
            let details =
                json!([{"@type": "type.googleapis.com/google.rpc.Help"}, {"@type": kind, "retryDelay": delay}]);
            json!({"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED", "details": details}})
        };
        let pause = |body: &Value| refused(429, None, &body.to_string()).after;
        assert_eq!(pause(&hint("1.5s")), Some(Duration::from_millis(1500)));
        assert_eq!(pause(&json!([hint("2s")])), Some(Duration::from_secs(2)));
        assert_eq!(pause(&hint("3600s")), Some(MAX_PAUSE));
        for odd in ["soon", "-1s", "s", "NaNs"] {
            assert_eq!(pause(&hint(odd)), None, "{odd}");
        }
        assert_eq!(refused(429, Some("3"), &hint("1s").to_string()).after, Some(Duration::from_secs(3)));
        assert_eq!(peer().report(&hint("1s")).after, Some(Duration::from_secs(1)));
    }

    #[test]
    fn error_events_stand_for_a_status() {
        let event = |body: Value, message: &str, again: bool| {
            let model_iden = genai::ModelIden::new(genai::adapter::AdapterKind::OpenAI, "m");
            check(peer().failure(genai::Error::ChatResponse { model_iden, body }), message, again);
        };
        event(
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "model `m`: the provider responded with status 529: Overloaded",
            true,
        );
        event(
            json!({"message": "slow", "code": "429"}),
            "model `m`: the provider responded with status 429: slow",
            true,
        );
        event(
            json!({"message": "x", "type": "odd"}),
            "model `m` returned an unusable response: the provider reports: x",
            false,
        );
        event(json!(null), "model `m` returned an unusable response: the provider reports: null", false);
    }
}
