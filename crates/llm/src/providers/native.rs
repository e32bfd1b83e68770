//! Models of Gemini or Ollama, over their own APIs.
//!
//! The adapters of `genai` (version 0.7.2) lack required features. For Ollama, it takes only sampling options, so that the context size
//! cannot be set; it sends only the last of several results in a turn, without the tool's name; and it ignores an error in the middle of a
//! stream. For Gemini, it cannot report why a prompt was blocked, fails on a piece that contains only counts, gives calls of different
//! pieces the same id, may move the signature of a text to a call, drops the thinking of a response that was truncated while thinking, and
//! accepts an interrupted stream as a complete response.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use futures::stream::BoxStream;
use genai::chat::ContentPart;
use reqwest::{
    Client, RequestBuilder, Url,
    header::{HeaderMap, HeaderValue},
};
use serde_json::Value;

use super::{
    Settings,
    accumulator::Accumulator,
    attempts::{Pieces, again, events},
    failure::{Failure, Peer},
    frames::{Frames, Framing},
    gemini, http,
    ollama::{self, Context},
    route::Route,
    thinking::Thinking,
};
use crate::{ChatEvent, ChatModel, ChatRequest, LlmError, models::capability};

/// How long to wait for more data after the final event; the connection need not be closed at once.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// The APIs implemented here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    Gemini,
    Ollama,
}

pub(super) struct Native {
    client: Client,
    api: Api,
    url: Url,
    headers: HeaderMap,
    /// The provider's name of the model.
    name: String,
    /// The context size for Ollama.
    context: Context,
    peer: Arc<Peer>,
    thinking: Arc<Thinking>,
    retries: u32,
}

impl Native {
    pub(super) fn new(model: &str, api: Api, route: Route, settings: &Settings) -> Result<Self, LlmError> {
        let peer = Peer::new(model, &route, settings.timeout);
        let mut headers = HeaderMap::new();
        // A key that cannot be sent was refused before; it is never part of the address.
        let key = route.key.as_ref().and_then(|key| HeaderValue::from_str(key.expose()).ok());
        if let Some(mut key) = key {
            key.set_sensitive(true);
            headers.insert("x-goog-api-key", key);
        }
        Ok(Native {
            client: http::client(&peer, &route.base)?,
            api,
            url: match api {
                Api::Gemini => gemini::address(&route.base, &route.name),
                Api::Ollama => ollama::address(&route.base),
            },
            headers,
            context: Context::new(capability(&route.name).context),
            name: route.name,
            peer: Arc::new(peer),
            thinking: Arc::default(),
            retries: settings.retries,
        })
    }

    fn body(&self, request: &ChatRequest) -> (Value, u64) {
        match self.api {
            Api::Gemini => gemini::body(request, &self.name, &self.thinking),
            Api::Ollama => ollama::body(request, &self.name, &self.context, &self.thinking),
        }
    }

    /// Sends the request once and waits for the first piece of the response.
    async fn attempt(&self, request: &ChatRequest) -> Result<(ChatEvent, Answer), Failure> {
        let (body, fingerprint) = self.body(request);
        let post: RequestBuilder = self.client.post(self.url.clone()).headers(self.headers.clone()).json(&body);
        let framing = match self.api {
            Api::Gemini => Framing::Events,
            Api::Ollama => Framing::Lines,
        };
        let opened = Frames::open(post, framing, self.peer.clone()).await;
        let frames = opened.map_err(|failure| self.with_remedy(failure))?;
        let mut answer = Answer {
            frames,
            accumulator: Accumulator::default(),
            api: self.api,
            peer: self.peer.clone(),
            thinking: self.thinking.clone(),
            fingerprint,
        };
        let first = answer.next().await?;
        Ok((first, answer))
    }

    /// Handles a refusal of Ollama: if the context was too small, the next attempt requests a larger one; for a missing model, the command
    /// that downloads it is added.
    fn with_remedy(&self, failure: Failure) -> Failure {
        if self.api != Api::Ollama {
            return failure;
        }
        match failure.error {
            LlmError::Status { status: 400, ref message, .. } if message.contains("context") => {
                match self.context.grow() {
                    Some(_) => Failure { again: true, after: Some(Duration::ZERO), ..failure },
                    None => failure,
                }
            }
            LlmError::Status { model, status: 404, message } => {
                let message = format!("{message} (download it with `ollama pull {}`)", self.name);
                Failure { error: LlmError::Status { model, status: 404, message }, ..failure }
            }
            _ => failure,
        }
    }
}

#[async_trait]
impl ChatModel for Native {
    fn name(&self) -> &str {
        &self.peer.model
    }

    async fn stream(&self, request: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
        let (first, answer) = again(self.retries, || self.attempt(request)).await?;
        Ok(events(first, answer))
    }
}

/// A response that is being streamed.
struct Answer {
    frames: Frames,
    accumulator: Accumulator,
    api: Api,
    peer: Arc<Peer>,
    /// Stores the thinking of the response under a fingerprint.
    thinking: Arc<Thinking>,
    fingerprint: u64,
}

#[async_trait]
impl Pieces for Answer {
    async fn next(&mut self) -> Result<ChatEvent, Failure> {
        loop {
            let has_ended = self.accumulator.stop.is_some();
            // Ollama's final line is the last one; Gemini may still send counts.
            if has_ended && self.api == Api::Ollama {
                return self.done();
            }
            let patience = if has_ended { AFTERWARDS.min(self.peer.timeout) } else { self.peer.timeout };
            let frame = match self.frames.next(patience).await {
                Ok(Some(frame)) => frame,
                Ok(None) => return self.done(),
                Err(_) if has_ended => return self.done(),
                Err(failure) => return Err(failure),
            };
            let text = match self.api {
                Api::Gemini => gemini::read(&mut self.accumulator, &frame, &self.peer)?,
                Api::Ollama => ollama::read(&mut self.accumulator, &frame, &self.peer)?,
            };
            self.accumulator.check_length(&self.peer, 0)?;
            if !text.is_empty() {
                return Ok(ChatEvent::Text(text));
            }
        }
    }
}

impl Answer {
    fn done(&mut self) -> Result<ChatEvent, Failure> {
        let mut accumulator = std::mem::take(&mut self.accumulator);
        let signatures = std::mem::take(&mut accumulator.signatures);
        let thought = match self.api {
            Api::Gemini => accumulator.signature.take().map(ContentPart::ThoughtSignature),
            Api::Ollama => {
                let thought = std::mem::take(&mut accumulator.thought);
                (!thought.is_empty()).then_some(ContentPart::ReasoningContent(thought))
            }
        };
        let response = accumulator.response(&self.peer)?;
        self.thinking.keep(self.fingerprint, thought.into_iter().collect());
        for (call, signature) in signatures {
            self.thinking.sign(&call, signature);
        }
        Ok(ChatEvent::Done(response))
    }
}
