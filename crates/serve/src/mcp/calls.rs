//! Calls of catalog tools, which may ask the user of the client for input, as tools of MCP servers do.
//!
//! Older clients are asked while the call runs. Those of 2026-07-28 get the request as the result, and call again with the response
//! (SEP-2322): the call waits under a handle until then.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use prospector_core::{
    Owner,
    record::ResourceKind,
    tool::{
        BoxFuture, ToolError,
        client::{Client, Progress, with_client},
    },
};
use rmcp::{
    Peer, RoleServer,
    model::{
        CallToolRequestParams, ContentBlock, ElicitRequest, ElicitRequestParams, InputRequest, InputRequiredResult,
        InputResponses, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

use super::resources;
use crate::{error::Refusal, handles::HandleStore, query_sessions::QuerySession, results::Called, server::Server};

/// How long a user may take to respond.
const MAX_WAIT: Duration = Duration::from_secs(300);
/// Maximum bytes of the content that is attached to the result of a call.
const MAX_ATTACHED_BYTES: usize = 4 << 20;
/// The key of the request and of the response.
const INPUT: &str = "input";

/// A call, until it ends or asks the user.
pub(super) struct Call {
    /// The tool.
    name: String,
    /// The handle of its query session, if the client has no session.
    pub(super) session: Option<String>,
    task: AbortOnDropHandle<Result<Called, ToolError>>,
    client: Arc<CallClient>,
    questions: mpsc::Receiver<Question>,
}

/// A call that waits for the response of its user.
pub(super) struct WaitingCall(Mutex<Option<(Call, oneshot::Sender<Value>)>>);

/// The calls that wait, by handle.
pub(super) type WaitingCalls = HandleStore<WaitingCall>;

/// Returns a store for waiting calls of a service.
pub(super) fn keep_waiting(server: &Server) -> Arc<WaitingCalls> {
    let limits = &server.options.limits;
    Arc::new(HandleStore::new("call", limits.handles, limits.handle_life))
}

/// How a call went on.
pub(super) enum Outcome {
    /// It ended; with what was attached to its result.
    Ended(Box<Result<Called, ToolError>>, Vec<ContentBlock>),
    /// It asks the user.
    Asks(InputRequiredResult),
    /// The client cancelled it.
    Cancelled,
    /// It panicked.
    Panicked,
}

struct Question {
    request: ElicitRequestParams,
    reply: oneshot::Sender<Value>,
}

impl Call {
    /// Starts a call in a query session, which has a handle if the client names it.
    pub(super) fn begin(
        server: &Arc<Server>,
        owner: &Owner,
        (queries, session): (Option<Arc<QuerySession>>, Option<String>),
        (name, arguments): (&str, Value),
        context: &RequestContext<RoleServer>,
    ) -> Call {
        let (sender, questions) = mpsc::channel(1);
        let client = Arc::new(CallClient::new(context, sender));
        let (server, owner, tool) = (server.clone(), owner.clone(), name.to_owned());
        let calling = async move { server.call(&owner, queries.as_deref(), &tool, arguments).await };
        let task = tokio::spawn(with_client(client.clone(), calling).in_current_span());
        Call { name: name.to_owned(), session, task: AbortOnDropHandle::new(task), client, questions }
    }

    /// Continues a waiting call with the response of its user.
    ///
    /// # Errors
    /// If there is no such call of this owner and tool.
    pub(super) fn resume(
        waiting: &WaitingCalls,
        owner: &Owner,
        request: &mut CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Call, Refusal> {
        let handle = request.request_state.take().unwrap_or_default();
        let waiting = waiting.get(&handle, owner)?;
        let waiting = waiting.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let found = waiting.filter(|(call, _)| call.name == request.name);
        let Some((call, reply)) = found else {
            let refusal = Refusal::not_found("no call of this tool waits for input under this `requestState`");
            return Err(refusal.advise("call the tool again without it"));
        };
        // Without a response the request is cancelled.
        let response = request.input_responses.take().and_then(|mut all: InputResponses| all.remove(INPUT));
        let _ = reply.send(response.unwrap_or_else(|| json!({"action": "cancel"})));
        call.client.follow(context);
        Ok(call)
    }

    /// Runs the call until it ends, or asks the user with a result.
    pub(super) async fn run(
        mut self,
        waiting: &WaitingCalls,
        owner: &Owner,
        context: &RequestContext<RoleServer>,
    ) -> (Option<String>, Outcome) {
        let session = self.session.clone();
        let outcome = tokio::select! {
            ended = &mut self.task => match ended {
                Ok(called) => Outcome::Ended(Box::new(called), self.client.take_attached()),
                Err(_) => Outcome::Panicked,
            },
            Some(Question { request, reply }) = self.questions.recv() => {
                let handle = waiting.handle();
                waiting.keep(&handle, owner, Arc::new(WaitingCall(Mutex::new(Some((self, reply))))));
                let request = InputRequest::Elicitation(ElicitRequest::new(request));
                Outcome::Asks(InputRequiredResult::new(Some([(INPUT.to_owned(), request)].into()), Some(handle)))
            }
            () = context.ct.cancelled() => Outcome::Cancelled,
        };
        (session, outcome)
    }
}

/// The client of a call.
#[derive(Debug)]
struct CallClient {
    /// The connection of the latest request, with the token of its progress.
    connection: Mutex<(Peer<RoleServer>, Option<ProgressToken>)>,
    can_fill_forms: bool,
    can_open_addresses: bool,
    /// Where requests go that are returned as results; otherwise the client is asked directly.
    questions: Option<mpsc::Sender<Question>>,
    attached: Mutex<Vec<ContentBlock>>,
}

impl CallClient {
    fn new(context: &RequestContext<RoleServer>, questions: mpsc::Sender<Question>) -> Self {
        let info = context.peer.peer_info();
        let is_older = info.as_ref().is_some_and(|info| info.protocol_version < ProtocolVersion::V_2026_07_28);
        let of_request = context.meta.client_capabilities();
        let capabilities = of_request.or_else(|| info.map(|info| info.capabilities.clone()));
        let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
        CallClient {
            connection: Mutex::new((context.peer.clone(), context.meta.get_progress_token())),
            // The first revision had forms only, and no names for the modes.
            can_fill_forms: elicitation.as_ref().is_some_and(|modes| modes.form.is_some() || modes.url.is_none()),
            can_open_addresses: elicitation.as_ref().is_some_and(|modes| modes.url.is_some()),
            questions: (!is_older).then_some(questions),
            attached: Mutex::default(),
        }
    }

    /// Reports to the client of this request from now on.
    fn follow(&self, context: &RequestContext<RoleServer>) {
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) =
            (context.peer.clone(), context.meta.get_progress_token());
    }

    fn connection(&self) -> (Peer<RoleServer>, Option<ProgressToken>) {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a block to the result, within the limit and once.
    fn add(&self, block: ContentBlock) {
        let mut attached = self.attached.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = |block: &ContentBlock| serde_json::to_string(block).map_or(usize::MAX, |text| text.len());
        let sum = attached.iter().map(bytes).fold(bytes(&block), usize::saturating_add);
        if sum <= MAX_ATTACHED_BYTES && !attached.contains(&block) {
            attached.push(block);
        }
    }

    fn take_attached(&self) -> Vec<ContentBlock> {
        mem::take(&mut *self.attached.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Client for CallClient {
    fn elicit(&self, request: Value) -> BoxFuture<'_, Option<Value>> {
        Box::pin(async move {
            let request: ElicitRequestParams = serde_json::from_value(request).ok()?;
            let is_supported = match &request {
                ElicitRequestParams::FormElicitationParams { .. } => self.can_fill_forms,
                ElicitRequestParams::UrlElicitationParams { .. } => self.can_open_addresses,
                _ => false,
            };
            if !is_supported {
                return Some(json!({"action": "decline"}));
            }
            let Some(questions) = &self.questions else {
                let (peer, _) = self.connection();
                let response = peer.create_elicitation_with_timeout(request, Some(MAX_WAIT)).await.ok()?;
                return serde_json::to_value(response).ok();
            };
            let (reply, response) = oneshot::channel();
            questions.send(Question { request, reply }).await.ok()?;
            tokio::time::timeout(MAX_WAIT, response).await.ok()?.ok()
        })
    }

    fn report(&self, progress: Progress) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let (peer, Some(token)) = self.connection() else { return };
            let mut param = ProgressNotificationParam::new(token, progress.done);
            param.total = progress.total;
            param.message = progress.message;
            // A client that ignores progress still gets its result.
            let _ = peer.notify_progress(param).await;
        })
    }

    fn attach(&self, content: Value) {
        if let Ok(block) = serde_json::from_value(content) {
            self.add(block);
        }
    }

    fn link(&self, kind: ResourceKind, id: &str) {
        self.add(ContentBlock::resource_link(resources::describe(kind, id)));
    }
}
