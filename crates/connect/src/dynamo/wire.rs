//! Signed requests: <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html>.
//!
//! Four actions as plain JSON requests; the SDK would add an HTTP stack, retries and a runtime of its own.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use serde_json::{Map, Value};
use tokio::sync::OnceCell;
use url::Url;

use crate::ConnectError;
use crate::cause::Cause;
use crate::server::Server;

/// Timeouts for connecting and for responses.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Number of retries of a throttled request, and the delay before the first.
const RETRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(100);

/// Maximum response size in bytes; a page has 1 MB of data but is larger as JSON.
const MAX_ANSWER_BYTES: usize = 32 << 20;

/// Maximum size of the body of an error response in bytes.
const MAX_FAILURE_BYTES: usize = 1 << 20;

/// The actions that are sent; all are read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    ListTables,
    DescribeTable,
    Query,
    Scan,
}

impl Action {
    fn target(self) -> &'static str {
        match self {
            Action::ListTables => "DynamoDB_20120810.ListTables",
            Action::DescribeTable => "DynamoDB_20120810.DescribeTable",
            Action::Query => "DynamoDB_20120810.Query",
            Action::Scan => "DynamoDB_20120810.Scan",
        }
    }
}

/// The service endpoint and credentials.
pub(super) struct Wire {
    server: Server,
    endpoint: Url,
    region: String,
    credentials: Option<Credentials>,
    secrets: Vec<String>,
    http: OnceCell<reqwest::Client>,
}

impl Wire {
    /// Parses `dynamodb://key:secret@region?endpoint=http://localhost:8000&session_token=...`.
    pub(super) fn new(server: &Server) -> Result<Self, ConnectError> {
        let failed = |reason: String| ConnectError::connect(server.to_string(), reason);
        let url = server.url();
        let region = url.host_str().unwrap_or_default().to_owned();
        if !region.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
            return Err(failed(format!("`{region}` is not a region")));
        }
        let (mut endpoint, mut token) = (None, None);
        for (key, value) in url.query_pairs() {
            match key.as_ref() {
                "endpoint" => endpoint = Some(value.into_owned()),
                "session_token" => token = Some(value.into_owned()),
                other => {
                    return Err(failed(format!(
                        "unknown URL parameter `{other}`; only endpoint and session_token are supported"
                    )));
                }
            }
        }
        let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        let endpoint = endpoint.unwrap_or_else(|| format!("https://dynamodb.{region}.{domain}"));
        let endpoint = Url::parse(&endpoint)
            .ok()
            .filter(|url| ["http", "https"].contains(&url.scheme()) && url.host_str().is_some())
            .ok_or_else(|| failed("the endpoint must be a URL that starts with https:// or http://".to_owned()))?;
        let plain = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        let secret = url.password().map(plain).filter(|secret| !secret.is_empty());
        let secrets = secret.iter().chain(&token).filter(|secret| !secret.is_empty()).cloned().collect();
        let credentials =
            secret.map(|secret| Credentials::new(plain(url.username()), secret, token, None, "prospector"));
        Ok(Wire { server: server.clone(), endpoint, region, credentials, secrets, http: OnceCell::new() })
    }

    pub(super) fn place(&self) -> String {
        self.server.to_string()
    }

    /// Returns the error of an operation on a table.
    pub(super) fn read_error(&self, table: &str, reason: impl Into<String>) -> ConnectError {
        ConnectError::read(self.place(), table, Cause::Other, reason)
    }

    fn connect_error(&self, reason: impl Into<String>) -> ConnectError {
        ConnectError::connect(self.place(), self.scrub(&reason.into()))
    }

    fn scrub(&self, text: &str) -> String {
        self.secrets.iter().fold(self.server.scrub(text), |text, secret| text.replace(secret.as_str(), "***"))
    }

    /// Applies a timeout to an operation on a table.
    pub(super) async fn within<T>(
        &self,
        table: &str,
        time_limit: Duration,
        act: impl Future<Output = Result<T, ConnectError>>,
    ) -> Result<T, ConnectError> {
        let late = |_| Err(ConnectError::timeout(self.place(), table));
        tokio::time::timeout(time_limit, act).await.unwrap_or_else(late)
    }

    async fn http(&self) -> Result<&reqwest::Client, ConnectError> {
        let build = || async {
            let http =
                prospector_net::client_for(&self.endpoint).connect_timeout(CONNECT_TIMEOUT).timeout(ANSWER_TIMEOUT);
            http.build().map_err(|error| self.connect_error(reason(&error)).with_source(error.without_url()))
        };
        self.http.get_or_try_init(build).await
    }

    /// Sends one request about a table and returns the response.
    pub(super) async fn ask(
        &self,
        action: Action,
        table: &str,
        request: &Map<String, Value>,
    ) -> Result<Value, ConnectError> {
        let body = serde_json::to_vec(request).map_err(|error| self.read_error(table, error.to_string()))?;
        for attempt in 0.. {
            let (status, answer) = self.send_signed(action, &body).await?;
            if (200..300).contains(&status) {
                return Ok(answer);
            }
            let word = answer.get("__type").and_then(Value::as_str).unwrap_or_default();
            let word = word.rsplit('#').next().unwrap_or_default();
            let is_busy = status >= 500
                || ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"]
                    .contains(&word);
            if is_busy && attempt < RETRIES {
                tokio::time::sleep(PAUSE * 2_u32.pow(attempt)).await;
                continue;
            }
            let said = ["message", "Message"].iter().find_map(|key| answer.get(key)?.as_str()).unwrap_or_default();
            let said = self.scrub(said);
            return Err(match word {
                "ResourceNotFoundException" => ConnectError::unknown_table(self.place(), table),
                "AccessDeniedException" => {
                    ConnectError::read(self.place(), table, Cause::Refused, format!("{word}: {said}"))
                }
                "UnrecognizedClientException"
                | "InvalidSignatureException"
                | "IncompleteSignatureException"
                | "MissingAuthenticationTokenException"
                | "ExpiredTokenException" => self.connect_error(said.lines().next().unwrap_or(word)),
                "" => self.connect_error(format!("the service responded with status {status}")),
                word => self.read_error(table, format!("{word}: {said}")),
            });
        }
        Err(self.connect_error("the service is throttling requests"))
    }

    async fn send_signed(&self, action: Action, body: &[u8]) -> Result<(u16, Value), ConnectError> {
        const CONTENT: (&str, &str) = ("content-type", "application/x-amz-json-1.0");
        let Some(credentials) = self.credentials.clone() else {
            let advice = "no access key given: use dynamodb://${AWS_ACCESS_KEY_ID}:${AWS_SECRET_ACCESS_KEY}@region";
            return Err(self.connect_error(advice));
        };
        let identity = credentials.into();
        let unsigned = |_| self.connect_error("the request could not be signed");
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name("dynamodb")
            .time(SystemTime::now())
            .settings(SigningSettings::default())
            .build()
            .map_err(|_| self.connect_error("the request could not be signed"))?
            .into();
        let target = ("x-amz-target", action.target());
        let headers = [CONTENT, target].into_iter();
        let signable = SignableRequest::new("POST", self.endpoint.as_str(), headers, SignableBody::Bytes(body));
        let (signed, _) = sign(signable.map_err(unsigned)?, &parameters).map_err(unsigned)?.into_parts();
        let mut request = self.http().await?.post(self.endpoint.clone()).header(CONTENT.0, CONTENT.1);
        request = request.header(target.0, target.1);
        for (name, value) in signed.headers() {
            request = request.header(name, value);
        }
        let unsent = |error: reqwest::Error| self.connect_error(reason(&error)).with_source(error.without_url());
        let mut answer = request.body(body.to_vec()).send().await.map_err(unsent)?;
        let status = answer.status().as_u16();
        let mut bytes = Vec::new();
        let is_good = (200..300).contains(&status);
        while let Some(chunk) = answer.chunk().await.map_err(unsent)? {
            bytes.extend_from_slice(&chunk);
            if !is_good && bytes.len() > MAX_FAILURE_BYTES {
                // A truncated body is not valid JSON; the status is reported.
                break;
            }
            if bytes.len() > MAX_ANSWER_BYTES {
                return Err(self.connect_error(format!("a response has more than {MAX_ANSWER_BYTES} bytes")));
            }
        }
        let parsed = serde_json::from_slice(&bytes);
        match parsed {
            Ok(value) => Ok((status, value)),
            Err(_) if !is_good => Ok((status, Value::Null)),
            Err(error) => Err(self.connect_error(format!("the response is not JSON: {error}"))),
        }
    }
}

/// Describes a failure without the URL, which may contain secrets.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no response in time".to_owned();
    }
    let mut root: &dyn std::error::Error = error;
    while let Some(source) = root.source() {
        root = source;
    }
    match root.is::<reqwest::Error>() {
        true => "the request could not be sent".to_owned(),
        false => root.to_string(),
    }
}
