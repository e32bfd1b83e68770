//! One connection: the handshake in the current protocol version or an older one, and requests with time limits.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use prospector_core::{
    mark::clean,
    tool::client::{current_client, timeout},
};
use prospector_fetch::{Fetcher, Request};
use reqwest::Client;
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
        ElicitationCapability, ErrorData, FormElicitationCapability, Implementation, ProgressNotificationParam,
        ProtocolVersion, SubscriptionFilter, UrlElicitationCapability,
    },
    service::{
        ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, RequestContext, RunningService,
        ServiceError, serve_client_with_lifecycle,
    },
    transport::{
        StreamableHttpClientTransport, async_rw::AsyncRwTransport, common::client_side_sse::ExponentialBackoff,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::{
    McpError,
    answer::MAX_MESSAGE_BYTES,
    error::repeat,
    http::{EventStream, Guarded},
    oauth::Tokens,
    process::{Limited, MAX_UNREQUESTED, Process},
    running::Running,
    spec::Reach,
};

/// Characters of a protocol version in a message.
const MAX_VERSION: usize = 40;
/// How often an event stream that ended is opened again.
const MAX_RECONNECTS: usize = 3;
/// How often a server may request input before the result of a call.
const MAX_INPUT_ROUNDS: usize = 5;
/// How long closing may take.
const MAX_CLOSE: Duration = Duration::from_millis(500);

/// Handshake that starts a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Lifecycle {
    /// `server/discover`, or `initialize` if the server does not support it.
    #[default]
    Auto,
    /// `initialize`, for servers that respond to nothing else.
    Initialize,
}

impl Lifecycle {
    fn mode(self) -> ClientLifecycleMode {
        match self {
            Lifecycle::Initialize => ClientLifecycleMode::Initialize,
            Lifecycle::Auto => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::LATEST],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
        }
    }
}

/// Handles requests of a server: there are no roots and no sampling; elicitation and progress go to the client of the running call.
#[derive(Debug, Clone)]
struct Handler {
    changed: Arc<Changed>,
    running: Arc<Running>,
}

/// Whether a server reported a change of its lists.
#[derive(Debug, Default)]
struct Changed {
    is_set: AtomicBool,
    notify: Notify,
}

impl Changed {
    fn set(&self) {
        self.is_set.store(true, Ordering::Relaxed);
        self.notify.notify_one();
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("prospector", env!("CARGO_PKG_VERSION"));
        let elicitation = ElicitationCapability::default()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        ClientConfig::new(capabilities, own).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.running.elicit(request).await)
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.running.report(progress).await;
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.set();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.set();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.set();
    }
}

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct Connection {
    service: RunningService<RoleClient, Handler>,
    process: Option<Process>,
    /// The client of streamable HTTP.
    guarded: Option<Guarded>,
    left: Arc<AtomicU64>,
    changed: Arc<Changed>,
    running: Arc<Running>,
    /// Handshake that started the session.
    pub(crate) lifecycle: Lifecycle,
}

impl Connection {
    /// Connects with the handshake that succeeded before; if it fails, with the other one.
    ///
    /// # Errors
    /// [`McpError`] if the server cannot be started or reached, or does not complete an MCP handshake in time.
    pub(crate) async fn open(
        server: &str,
        reach: &Reach,
        tokens: Option<&Tokens>,
        known: Lifecycle,
        limit: Duration,
    ) -> Result<Self, McpError> {
        match Connection::attempt(server, reach, tokens, known, limit).await {
            // A server that responds late to one handshake, or closes the connection, may still support the other.
            Err(first @ (McpError::Handshake { .. } | McpError::Closed { .. })) => {
                let other = match known {
                    Lifecycle::Auto => Lifecycle::Initialize,
                    Lifecycle::Initialize => Lifecycle::Auto,
                };
                Connection::attempt(server, reach, tokens, other, limit).await.map_err(|_| first)
            }
            opened => opened,
        }
    }

    async fn attempt(
        server: &str,
        reach: &Reach,
        tokens: Option<&Tokens>,
        mut lifecycle: Lifecycle,
        limit: Duration,
    ) -> Result<Self, McpError> {
        let (changed, running) = (Arc::new(Changed::default()), Arc::new(Running::new(server)));
        let left = Arc::new(AtomicU64::new(MAX_UNREQUESTED));
        let handler = Handler { changed: changed.clone(), running: running.clone() };
        let mut guarded = None;
        let (started, process) = match reach {
            Reach::Command(command) => {
                let (process, input, output) = Process::start(command)?;
                let transport = AsyncRwTransport::new_client(Limited::new(output, left.clone()), input)
                    .with_max_line_length(MAX_MESSAGE_BYTES);
                let starting = serve_client_with_lifecycle(handler, transport, lifecycle.mode());
                (tokio::time::timeout(limit, starting).await, Some(process))
            }
            Reach::Url { url, headers, policy, .. } => {
                let request = Request { headers: headers.0.clone(), ..Request::get(url) };
                let client = Fetcher::new(policy.clone()).client_for(&request)?;
                let mut config =
                    StreamableHttpClientTransportConfig::with_uri(url.as_str()).max_sse_event_size(MAX_MESSAGE_BYTES);
                let mut retries = ExponentialBackoff::default();
                retries.max_times = Some(MAX_RECONNECTS);
                config.retry_config = Arc::new(retries);
                let client_of_session = Guarded::new(client.clone(), left.clone(), tokens.cloned());
                guarded = Some(client_of_session.clone());
                let transport = StreamableHttpClientTransport::with_client(client_of_session.clone(), config);
                let starting = serve_client_with_lifecycle(handler.clone(), transport, lifecycle.mode());
                let mut started = tokio::time::timeout(limit, starting).await;
                // What takes no messages here may be a server of the older transport.
                if matches!(started, Ok(Err(_))) && matches!(client_of_session.status(), Some(404 | 405)) {
                    lifecycle = Lifecycle::Initialize;
                    let older = open_older(handler, client, url, left.clone());
                    started = match tokio::time::timeout(limit, older).await {
                        Ok(opened) => Ok(opened?),
                        Err(late) => Err(late),
                    };
                }
                (started, None)
            }
        };
        let service = match started {
            Ok(Ok(service)) => service,
            Ok(Err(error)) if is_end(&error) => return Err(close_error(process.as_ref()).await),
            // The process ended before the request was written.
            Ok(Err(ClientInitializeError::TransportError { .. })) if process.is_some() => {
                return Err(close_error(process.as_ref()).await);
            }
            Ok(Err(_)) if let Some(rejection) = find_rejection(guarded.as_ref()) => return Err(rejection),
            Ok(Err(error)) => return Err(McpError::Handshake { reason: repeat(&explain(&error)) }),
            Err(_) => return Err(McpError::Timeout { what: "the handshake", seconds: limit.as_secs() }),
        };
        let version = service.peer().peer_info().map(|info| info.protocol_version.clone());
        if let Some(unknown) = version.filter(|version| !ProtocolVersion::KNOWN_VERSIONS.contains(version)) {
            let shown = clean(unknown.as_str(), MAX_VERSION);
            return Err(McpError::Handshake { reason: format!("the protocol version `{shown}` is unsupported") });
        }
        let connection = Connection { service, process, guarded, left, changed, running, lifecycle };
        connection.listen();
        Ok(connection)
    }

    /// Subscribes to changes of the lists if the protocol version requires a subscription.
    fn listen(&self) {
        let peer = self.service.peer().clone();
        let has_handshake = peer.peer_info().is_none_or(|info| info.protocol_version.has_initialize());
        if has_handshake {
            return;
        }
        let changed = self.changed.clone();
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let Ok(mut subscription) = peer.listen(filter).await else { return };
            while let Ok(Some(_)) = subscription.next().await {
                changed.set();
            }
        });
    }

    /// Sends a request and waits for the response; dropping the future cancels it.
    ///
    /// # Errors
    /// [`McpError`] on a timeout, a closed connection, or an error response.
    pub(crate) async fn request<'a, T, F>(
        &'a self,
        what: &'static str,
        limit: Duration,
        send: impl FnOnce(&'a Peer<RoleClient>) -> F,
    ) -> Result<T, McpError>
    where
        F: Future<Output = Result<T, ServiceError>> + 'a,
    {
        self.left.store(MAX_UNREQUESTED, Ordering::Relaxed);
        match tokio::time::timeout(limit, send(self.service.peer())).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(self.convert(error).await),
            Err(_) => Err(McpError::Timeout { what, seconds: limit.as_secs() }),
        }
    }

    /// Calls a tool; dropping the future cancels the call. The time in which a user is asked for input does not count.
    ///
    /// # Errors
    /// As [`Connection::request`].
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        limit: Duration,
    ) -> Result<CallToolResult, McpError> {
        self.left.store(MAX_UNREQUESTED, Ordering::Relaxed);
        let _running = self.running.begin(current_client());
        let calling = self.service.call_tool_with_mrtr_max_rounds(request, MAX_INPUT_ROUNDS);
        match timeout(limit, calling).await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => Err(self.convert(error).await),
            Err(_) => Err(McpError::Timeout { what: "the call", seconds: limit.as_secs() }),
        }
    }

    async fn convert(&self, error: ServiceError) -> McpError {
        match error {
            ServiceError::McpError(error) => McpError::Refused { message: repeat(&error.message) },
            ServiceError::UnexpectedResponse => McpError::Refused { message: "an unexpected response".to_owned() },
            ServiceError::InputRequiredRoundsExceeded { .. } => {
                McpError::Unsupported { what: "more requests for input" }
            }
            ServiceError::TransportSend(error) if self.process.is_none() => match find_rejection(self.guarded.as_ref())
            {
                Some(rejection) => rejection,
                None => McpError::Http { reason: repeat(&error.error.to_string()) },
            },
            _ => close_error(self.process.as_ref()).await,
        }
    }

    /// Returns whether the server reported a change of its lists since the last call.
    pub(crate) fn take_changed(&self) -> bool {
        self.changed.is_set.swap(false, Ordering::Relaxed)
    }

    /// Has the lists read again before the next call.
    pub(crate) fn mark_changed(&self) {
        self.changed.is_set.store(true, Ordering::Relaxed);
    }

    /// Waits until the server reports a change of its lists.
    pub(crate) async fn wait_for_change(&self) {
        self.changed.notify.notified().await;
    }

    /// Returns whether the server has closed the connection.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Closes the connection, and waits for the process to exit.
    pub(crate) async fn close(mut self) {
        let _ = self.service.close_with_timeout(MAX_CLOSE).await;
        if let Some(process) = self.process.take() {
            process.end().await;
        }
    }
}

/// Starts a session over the older transport.
async fn open_older(
    handler: Handler,
    client: Client,
    url: &str,
    left: Arc<AtomicU64>,
) -> Result<Result<RunningService<RoleClient, Handler>, ClientInitializeError>, McpError> {
    let opened = EventStream::open(client, url, left).await;
    let transport = opened.map_err(|error| McpError::Handshake { reason: repeat(&error.to_string()) })?;
    Ok(serve_client_with_lifecycle(handler, transport, Lifecycle::Initialize.mode()).await)
}

/// The error of the last request, if it was rejected for want of credentials.
fn find_rejection(guarded: Option<&Guarded>) -> Option<McpError> {
    let guarded = guarded?;
    guarded.status().filter(|status| matches!(status, 401 | 403)).map(|status| guarded.reject(status))
}

/// That the connection was closed, with the last output of the process.
async fn close_error(process: Option<&Process>) -> McpError {
    let said = match process {
        Some(process) => process.last_output().await,
        None => String::new(),
    };
    McpError::Closed { said }
}

/// Whether the server ended in the handshake.
fn is_end(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::ConnectionClosed(_) => true,
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => is_end(fallback),
        _ => false,
    }
}

/// The reason in a few words: what the SDK prints of a message contains the whole message.
fn explain(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
            "unexpected response to `initialize`".to_owned()
        }
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        ClientInitializeError::TransportError { error, .. } => error.error.to_string(),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => explain(fallback),
        other => other.to_string(),
    }
}
