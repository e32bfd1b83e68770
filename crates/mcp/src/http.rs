//! The two transports over HTTP, within limits: streamable HTTP, and the older one with an event stream and a separate address for
//! messages (protocol version 2024-11-05).

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::{Stream, StreamExt, future, stream::BoxStream};
use http::{HeaderName, HeaderValue};
use reqwest::{
    Client, Url,
    header::{ACCEPT, CONTENT_TYPE},
};
use rmcp::{
    RoleClient,
    model::ClientJsonRpcMessage,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{
        Transport,
        streamable_http_client::{SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse},
    },
};
use sse_stream::{Sse, SseStream};

use crate::{McpError, answer::MAX_MESSAGE_BYTES, error::explain_request, oauth::Tokens};

const EVENT_STREAM: &str = "text/event-stream";
/// Bytes of an address in an `endpoint` event.
const MAX_ENDPOINT: usize = 8 * 1024;

type Failure = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type CustomHeaders = HashMap<HeaderName, HeaderValue>;

/// A client of streamable HTTP that ends event streams beyond the limit, and remembers the status of the last rejected request.
#[derive(Debug, Clone)]
pub(crate) struct Guarded {
    client: Client,
    /// Bytes of events that may still come until the next request.
    left: Arc<AtomicU64>,
    status: Arc<Mutex<Option<u16>>>,
    /// The tokens of OAuth.
    tokens: Option<Tokens>,
}

impl Guarded {
    pub(crate) fn new(client: Client, left: Arc<AtomicU64>, tokens: Option<Tokens>) -> Self {
        Guarded { client, left, status: Arc::default(), tokens }
    }

    /// Returns the error for a status of rejected credentials.
    pub(crate) fn reject(&self, status: u16) -> McpError {
        McpError::Unauthorized { status, login: self.tokens.as_ref().map(|tokens| tokens.server().to_owned()) }
    }

    /// Returns the token of a request: that of OAuth, or that of the transport.
    async fn provide(&self, token: Option<String>) -> Option<String> {
        match &self.tokens {
            Some(tokens) => tokens.provide().await,
            None => token,
        }
    }

    /// Returns a newer token after a request with this one was rejected; `None` without one, so that the rejection is reported.
    async fn renew(&self, is_rejected: bool, used: Option<&str>) -> Option<String> {
        let (Some(tokens), Some(used), true) = (&self.tokens, used, is_rejected) else { return None };
        let renewed = tokens.renew(used).await;
        renewed.unwrap_or_else(|error| {
            tracing::warn!(%error, server = tokens.server(), "the token of an MCP server could not be refreshed");
            None
        })
    }

    /// Returns the status of the last request that was rejected.
    pub(crate) fn status(&self) -> Option<u16> {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the status of a failure, and removes the URL from it, which may contain a secret.
    fn note(&self, failure: Failure) -> Failure {
        let status = find_status(&failure);
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
        without_url(failure)
    }

    fn limit(&self, events: Events) -> Events {
        let left = self.left.clone();
        let within = move |event: &Result<Sse, SseError>| {
            let bytes = event.as_ref().map_or(0, |event| event.data.as_ref().map_or(0, String::len) + 1);
            future::ready(take(&left, bytes))
        };
        events.take_while(within).boxed()
    }
}

/// The status of a response that was no success.
fn find_status(failure: &Failure) -> Option<u16> {
    match failure {
        StreamableHttpError::AuthRequired(_) => Some(401),
        StreamableHttpError::InsufficientScope(_) => Some(403),
        StreamableHttpError::SessionExpired => None,
        StreamableHttpError::UnexpectedServerResponse(text) => {
            text.strip_prefix("HTTP ").and_then(|rest| rest.get(..3)).and_then(|code| code.parse().ok())
        }
        StreamableHttpError::Client(error) => error.status().map(|status| status.as_u16()),
        _ => None,
    }
}

fn is_rejected<T>(sent: &Result<T, Failure>) -> bool {
    sent.as_ref().err().and_then(find_status) == Some(401)
}

/// Takes bytes from those that may still come; returns whether there were any.
fn take(left: &AtomicU64, bytes: usize) -> bool {
    let less = |left: u64| Some(left.saturating_sub(bytes as u64));
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok_and(|before| before > 0)
}

/// Removes the URL from a failure: it may contain a secret, and failures are logged.
fn without_url(failure: Failure) -> Failure {
    match failure {
        StreamableHttpError::Client(error) => StreamableHttpError::Io(fail_request(error)),
        other => other,
    }
}

fn fail_request(error: reqwest::Error) -> std::io::Error {
    std::io::Error::other(explain_request(error))
}

impl StreamableHttpClient for Guarded {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: CustomHeaders,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let most = MAX_MESSAGE_BYTES;
        self.post_message_with_max_sse_event_size(uri, message, session, token, headers, most).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: CustomHeaders,
        most: usize,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let send = |token: Option<String>| {
            let (uri, message, session, headers) = (uri.clone(), message.clone(), session.clone(), headers.clone());
            self.client.post_message_with_max_sse_event_size(uri, message, session, token, headers, most)
        };
        let token = self.provide(token).await;
        let mut sent = send(token.clone()).await;
        let rejected = is_rejected(&sent);
        if let Some(newer) = self.renew(rejected, token.as_deref()).await {
            sent = send(Some(newer)).await;
        }
        match sent {
            Ok(StreamableHttpPostResponse::Sse(events, session)) => {
                Ok(StreamableHttpPostResponse::Sse(self.limit(events), session))
            }
            Ok(response) => Ok(response),
            Err(failure) => Err(self.note(failure)),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: CustomHeaders,
    ) -> Result<(), Failure> {
        let token = self.provide(token).await;
        self.client.delete_session(uri, session, token, headers).await.map_err(without_url)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: CustomHeaders,
    ) -> Result<Events, Failure> {
        let most = MAX_MESSAGE_BYTES;
        self.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: CustomHeaders,
        most: usize,
    ) -> Result<Events, Failure> {
        if self.left.load(Ordering::Relaxed) == 0 {
            // It sent more than the limit: the stream is not opened again.
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let open = |token: Option<String>| {
            let (uri, session, last, headers) = (uri.clone(), session.clone(), last.clone(), headers.clone());
            self.client.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most)
        };
        let token = self.provide(token).await;
        let mut opened = open(token.clone()).await;
        let rejected = is_rejected(&opened);
        if let Some(newer) = self.renew(rejected, token.as_deref()).await {
            opened = open(Some(newer)).await;
        }
        opened.map(|events| self.limit(events)).map_err(without_url)
    }
}

/// The older transport: a GET opens an event stream, whose first event names the address that takes messages.
pub(crate) struct EventStream {
    client: Client,
    messages: Url,
    events: Pin<Box<dyn Stream<Item = Result<Sse, SseError>> + Send>>,
}

impl EventStream {
    /// Opens the stream, and waits for the address. It must have the origin of the URL.
    ///
    /// # Errors
    /// The reason: no event stream, or an address that is missing, invalid or of another origin.
    pub(crate) async fn open(client: Client, url: &str, left: Arc<AtomicU64>) -> std::io::Result<Self> {
        let failed = |reason: String| std::io::Error::other(reason);
        let base = Url::parse(url).map_err(|error| failed(error.to_string()))?;
        let response = client.get(base.clone()).header(ACCEPT, EVENT_STREAM).send().await.map_err(fail_request)?;
        let status = response.status();
        if !status.is_success() {
            return Err(failed(format!("HTTP {} for an event stream", status.as_u16())));
        }
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if content_type.is_none_or(|value| !value.starts_with(EVENT_STREAM)) {
            return Err(failed("the answer is no event stream".to_owned()));
        }
        let bytes = response
            .bytes_stream()
            .take_while(move |chunk| future::ready(take(&left, chunk.as_ref().map_or(0, |chunk| chunk.len()))));
        let mut events = Box::pin(SseStream::from_bytes_stream(bytes));
        let first = events.next().await.and_then(Result::ok);
        let address = first.filter(|event| event.event.as_deref() == Some("endpoint")).and_then(|event| event.data);
        let address = address.filter(|address| address.len() <= MAX_ENDPOINT);
        let messages = address.and_then(|address| base.join(address.trim()).ok());
        let messages = messages.ok_or_else(|| failed("the event stream names no address for messages".to_owned()))?;
        if messages.origin() != base.origin() {
            return Err(failed("the event stream names an address of another origin".to_owned()));
        }
        Ok(EventStream { client, messages, events })
    }
}

impl Transport<RoleClient> for EventStream {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let request = self.client.post(self.messages.clone()).header(CONTENT_TYPE, "application/json");
        async move {
            let response = request.body(serde_json::to_vec(&message)?).send().await.map_err(fail_request)?;
            match response.status() {
                status if status.is_success() => Ok(()),
                status => Err(std::io::Error::other(format!("HTTP {}", status.as_u16()))),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let event = self.events.next().await?.ok()?;
            let is_message = event.event.as_deref().is_none_or(|name| name == "message");
            let message = event.data.filter(|_| is_message).and_then(|data| serde_json::from_str(&data).ok());
            if message.is_some() {
                return message;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.events = futures::stream::empty().boxed();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn failures_contain_no_url() {
        // Nothing listens at port 1.
        let url: Arc<str> = "http://127.0.0.1:1/mcp?key=s3cret".into();
        let client = Guarded::new(Client::new(), Arc::new(AtomicU64::new(1_000)), None);
        let opened = client.get_stream(url.clone(), None, None, None, HashMap::new()).await;
        let deleted = client.delete_session(url, "1".into(), None, HashMap::new()).await;
        for failure in [opened.err().expect("a failure"), deleted.expect_err("a failure")] {
            let text = failure.to_string();
            assert!(!text.contains("s3cret") && !text.contains("127.0.0.1"), "{text}");
        }
    }
}
