//! A local fake of all providers for tests: it implements their streaming APIs, responds from a script, and records and refuses every
//! request that a strict provider would refuse.
//!
//! ```
//! use prospector_llm::{ChatRequest, Message, providers};
//! use prospector_test_support::provider::{FakeProvider, Turn};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let fake = FakeProvider::start([Turn::text("Hello!")]).await;
//! let model = providers::connect("claude-sonnet-4-5", &fake.settings())?;
//! let request = ChatRequest {
//!     purpose: Default::default(),
//!     system: vec![],
//!     messages: vec![Message::User { text: "Hi".into() }],
//!     tools: vec![],
//!     max_output_tokens: 100,
//! };
//! assert_eq!(model.complete(&request).await?.text, "Hello!");
//! fake.assert_clean();
//! # Ok(()) }
//! ```

mod check;
mod gemini;
mod ollama;
mod sse;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State as Shared,
    http::{HeaderMap, StatusCode, Uri, header},
    response::Response,
    routing::post,
};
use futures::{StreamExt, stream};
use prospector_llm::{message::Usage, providers::Settings};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

/// The key that the fake expects.
pub const KEY: &str = "sk-fake-0123456789-abcdefgh";

/// The response to a request.
#[derive(Debug, Clone)]
pub struct Turn(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Answer(Script),
    Failure {
        status: u16,
        retry_after: Option<String>,
        /// `None` uses the body of the API.
        body: Option<String>,
    },
    Raw {
        content_type: String,
        body: String,
    },
    /// The connection stays open without a response.
    Silence,
}

/// A response of the model.
#[derive(Debug, Clone)]
struct Script {
    thinking: Option<(String, String)>,
    text: String,
    /// Tool and arguments; a string is sent verbatim.
    calls: Vec<(String, Value)>,
    usage: Usage,
    /// Whether it stopped at the limit of output tokens.
    cut: bool,
    ending: Ending,
}

/// How a stream ends; shares are in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Whole,
    /// The connection breaks after that share.
    Break(usize),
    /// The stream stalls after that share.
    Stall(usize),
}

impl Turn {
    /// A response with text only.
    pub fn text(text: impl Into<String>) -> Self {
        Turn::answer(text, [] as [(&str, Value); 0])
    }

    /// A response with only tool calls: their names and arguments. Arguments that are a JSON string are sent verbatim, to simulate a model
    /// that produces invalid JSON.
    pub fn calls<N: Into<String>>(calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        Turn::answer("", calls)
    }

    /// A response with text and calls.
    pub fn answer<N: Into<String>>(text: impl Into<String>, calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        Turn(Kind::Answer(Script {
            thinking: None,
            text: text.into(),
            calls: calls.into_iter().map(|(name, arguments)| (name.into(), arguments)).collect(),
            usage: Usage { input_tokens: 100, output_tokens: 20, cached_tokens: 0 },
            cut: false,
            ending: Ending::Whole,
        }))
    }

    /// A refusal with that status.
    pub fn failure(status: u16) -> Self {
        Turn(Kind::Failure { status, retry_after: None, body: None })
    }

    /// Status 200 with an arbitrary body.
    pub fn raw(content_type: impl Into<String>, body: impl Into<String>) -> Self {
        Turn(Kind::Raw { content_type: content_type.into(), body: body.into() })
    }

    /// The request is accepted and never answered.
    pub fn silence() -> Self {
        Turn(Kind::Silence)
    }

    /// Sets when a refused request may be retried: seconds or an HTTP date.
    pub fn retry_after(mut self, value: impl ToString) -> Self {
        if let Kind::Failure { retry_after, .. } = &mut self.0 {
            *retry_after = Some(value.to_string());
        }
        self
    }

    /// Sets the body of a refusal.
    pub fn body(mut self, text: impl Into<String>) -> Self {
        if let Kind::Failure { body, .. } = &mut self.0 {
            *body = Some(text.into());
        }
        self
    }

    /// Sets the model's thinking and its signature. Only Anthropic's API has it.
    pub fn thinking(self, thinking: impl Into<String>, signature: impl Into<String>) -> Self {
        self.with(|script| script.thinking = Some((thinking.into(), signature.into())))
    }

    /// Sets the token counts of the response.
    pub fn usage(self, usage: Usage) -> Self {
        self.with(|script| script.usage = usage)
    }

    /// Stops the response at the limit of output tokens.
    pub fn cut(self) -> Self {
        self.with(|script| script.cut = true)
    }

    /// Breaks the connection after that share of the stream, in percent.
    pub fn broken_at(self, percent: usize) -> Self {
        self.with(|script| script.ending = Ending::Break(percent))
    }

    /// Stalls the stream after that share, in percent, with the connection open.
    pub fn stalled_at(self, percent: usize) -> Self {
        self.with(|script| script.ending = Ending::Stall(percent))
    }

    fn with(mut self, change: impl FnOnce(&mut Script)) -> Self {
        if let Kind::Answer(script) = &mut self.0 {
            change(script);
        }
        self
    }
}

/// The API of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `/v1/messages`
    Anthropic,
    /// `/v1/chat/completions`
    OpenAi,
    /// `/v1beta/models/NAME:streamGenerateContent`; a NAME with `gemini-3` simulates a model that issues call ids and requires its
    /// signatures back.
    Gemini,
    /// `/api/chat`, which never requires a key. A name with `llama` simulates an older server without call ids.
    Ollama,
}

/// A received request.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The API of the request.
    pub api: Api,
    /// The path with the query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
}

/// The server, stopped on drop.
pub struct FakeProvider {
    address: String,
    state: Arc<Mutex<State>>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct State {
    script: VecDeque<Turn>,
    requests: Vec<Recorded>,
    violations: Vec<String>,
    key: Option<String>,
    /// The signed calls: their tools and signatures.
    signed: Vec<(String, String)>,
    /// Number of responses whose client disconnected early.
    abandoned: usize,
}

impl FakeProvider {
    /// Starts the server on a free port of the loopback interface. Its turns answer requests in order of arrival; an invalid request uses
    /// none.
    ///
    /// # Panics
    /// If there is no free port.
    pub async fn start(script: impl IntoIterator<Item = Turn>) -> Self {
        Self::start_with_key(script, Some(KEY.to_owned())).await
    }

    /// As [`FakeProvider::start`], for a server that requires no key, and refuses one.
    pub async fn start_without_key(script: impl IntoIterator<Item = Turn>) -> Self {
        Self::start_with_key(script, None).await
    }

    async fn start_with_key(script: impl IntoIterator<Item = Turn>, key: Option<String>) -> Self {
        let script = script.into_iter().collect();
        let state = Arc::new(Mutex::new(State { script, key, ..State::default() }));
        let api =
            |api: Api| post(async move |shared, uri, headers, body| answer(api, shared, uri, headers, body).await);
        let routes = Router::new()
            .route("/v1/messages", api(Api::Anthropic))
            .route("/v1/chat/completions", api(Api::OpenAi))
            .route("/v1beta/models/{call}", api(Api::Gemini))
            .route("/api/chat", api(Api::Ollama))
            .with_state(state.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("a bound socket has an address"));
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, routes).await;
        });
        FakeProvider { address, state, server }
    }

    /// Returns settings with all providers at this server, short timeouts and three attempts.
    pub fn settings(&self) -> Settings {
        let key = self.state().key.clone();
        Settings {
            anthropic_api_key: key.clone().map(Into::into),
            anthropic_base_url: Some(self.address.clone()),
            openai_api_key: key.clone().map(Into::into),
            openai_base_url: Some(format!("{}/v1", self.address)),
            gemini_api_key: key.map(Into::into),
            gemini_base_url: Some(format!("{}/v1beta", self.address)),
            ollama_base_url: Some(self.address.clone()),
            timeout: Duration::from_secs(20),
            retries: 2,
        }
    }

    /// Returns the requests so far, including refused ones.
    pub fn requests(&self) -> Vec<Recorded> {
        self.state().requests.clone()
    }

    /// Returns the violations of the requests so far.
    pub fn violations(&self) -> Vec<String> {
        self.state().violations.clone()
    }

    /// Returns the number of unused turns.
    pub fn turns_left(&self) -> usize {
        self.state().script.len()
    }

    /// Returns the number of responses that the client abandoned.
    pub fn abandoned(&self) -> usize {
        self.state().abandoned
    }

    /// Asserts that every request was valid and the script is used up.
    ///
    /// # Panics
    /// Otherwise.
    pub fn assert_clean(&self) {
        let state = self.state();
        assert!(state.violations.is_empty(), "{:#?}", state.violations);
        assert_eq!(state.script.len(), 0, "turns are left");
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

async fn answer(
    api: Api,
    Shared(state): Shared<Arc<Mutex<State>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (turn, request, number) = {
        let mut locked = lock(&state);
        let headers = headers
            .iter()
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let request = Recorded { api, path: uri.to_string(), headers, body };
        let past = check::Past { earlier: &locked.requests, key: locked.key.as_deref(), signed: &locked.signed };
        let mut wrong = check::violations(&request, past);
        locked.requests.push(request.clone());
        let number = locked.requests.len();
        let turn = if wrong.is_empty() { locked.script.pop_front() } else { None };
        if wrong.is_empty() && turn.is_none() {
            wrong.push("the script has no turn left".into());
        }
        if !wrong.is_empty() {
            let message = wrong.join("; ");
            locked.violations.extend(wrong.iter().map(|violation| format!("request {number}: {violation}")));
            return respond(400, "application/json", refusal(api, 400, &message).into());
        }
        let turn = turn.expect("a request without violations has a turn");
        if let Kind::Answer(Script { thinking: Some((_, signature)), calls, .. }) = &turn.0 {
            locked.signed.extend(calls.first().map(|(name, _)| (name.clone(), signature.clone())));
        }
        (turn, request, number)
    };
    match turn.0 {
        Kind::Answer(script) => {
            let (content_type, body) = match api {
                Api::Anthropic | Api::OpenAi => ("text/event-stream", sse::body(api, &script, number)),
                Api::Gemini => ("text/event-stream", gemini::body(&script, number, &request.path)),
                Api::Ollama => ("application/x-ndjson", ollama::body(&script, number, &request.body["model"])),
            };
            stream_answer(content_type, body, script.ending, state)
        }
        Kind::Failure { status, retry_after, body } => {
            let body = body.unwrap_or_else(|| refusal(api, status, "scripted failure"));
            let mut response = respond(status, "application/json", body.into());
            if let Some(value) = retry_after.and_then(|value| value.parse().ok()) {
                response.headers_mut().insert(header::RETRY_AFTER, value);
            }
            response
        }
        Kind::Raw { content_type, body } => respond(200, &content_type, body.into()),
        Kind::Silence => {
            let _watch = Watch { state, done: false };
            futures::future::pending().await
        }
    }
}

/// Returns the body of a refusal in the form of the API.
fn refusal(api: Api, status: u16, message: &str) -> String {
    match api {
        Api::Anthropic => json!({"type": "error", "error": {"type": "api_error", "message": message}}),
        Api::OpenAi => json!({"error": {"message": message, "type": "server_error", "param": null, "code": null}}),
        Api::Gemini => json!({"error": {"code": status, "message": message, "status": "UNKNOWN"}}),
        Api::Ollama => json!({"error": message}),
    }
    .to_string()
}

/// Sends the text in arbitrary pieces, as a network does.
fn stream_answer(content_type: &str, text: String, ending: Ending, state: Arc<Mutex<State>>) -> Response {
    const PIECE: usize = 23;
    let mut bytes = text.into_bytes();
    if let Ending::Break(percent) | Ending::Stall(percent) = ending {
        bytes.truncate(bytes.len() * percent / 100);
    }
    let mut pieces: Vec<Result<Bytes, std::io::Error>> =
        bytes.chunks(PIECE).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    if let Ending::Break(_) = ending {
        pieces.push(Err(std::io::Error::other("scripted break")));
    }
    let stalls = matches!(ending, Ending::Stall(_));
    let mut watch = Watch { state, done: matches!(ending, Ending::Break(_)) };
    let last = pieces.len();
    let pieces = stream::iter(pieces).enumerate().then(move |(at, piece)| {
        // The closure owns the whole watch, so that both are dropped with the stream.
        let watch = &mut watch;
        let is_last = at + 1 == last;
        watch.done |= is_last && !stalls;
        // The connection detects a disconnected client between two pieces.
        async move {
            tokio::task::yield_now().await;
            if is_last && stalls {
                futures::future::pending::<()>().await;
            }
            piece
        }
    });
    respond(200, content_type, Body::from_stream(pieces))
}

/// Counts a response that is dropped early.
struct Watch {
    state: Arc<Mutex<State>>,
    done: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.done {
            lock(&self.state).abandoned += 1;
        }
    }
}

fn respond(status: u16, content_type: &str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Ok(value) = content_type.parse() {
        response.headers_mut().insert(header::CONTENT_TYPE, value);
    }
    response
}
