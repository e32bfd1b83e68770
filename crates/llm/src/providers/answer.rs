//! Reads a streamed response.

use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use genai::chat::{ChatStream, ChatStreamEvent, ContentPart, StopReason, StreamEnd};
use serde_json::{Map, Value};
use tracing::{instrument::WithSubscriber, subscriber::NoSubscriber};

use super::{
    attempts::Pieces,
    failure::{Failure, Peer},
    thinking::Thinking,
};
use crate::{
    ChatEvent, ChatResponse,
    message::{ToolCall, Usage},
};

/// Size limit of a response, in bytes; a model that repeats itself on a server without a limit never stops.
pub(super) const MAX_ANSWER_BYTES: usize = 4 << 20;

/// A response that is being streamed. Dropping it closes the connection.
pub(super) struct Answer {
    pub(super) stream: ChatStream,
    pub(super) peer: Arc<Peer>,
    /// Stores the thinking of the response under a fingerprint.
    pub(super) thinking: Arc<Thinking>,
    pub(super) fingerprint: u64,
    pub(super) text: String,
    /// Bytes received that are not text.
    pub(super) other: usize,
    /// Whether any event of the protocol was received.
    pub(super) has_started: bool,
}

#[async_trait]
impl Pieces for Answer {
    async fn next(&mut self) -> Result<ChatEvent, Failure> {
        loop {
            // `genai` logs raw bodies, which may quote the key.
            let Some(event) = self.stream.next().with_subscriber(NoSubscriber::default()).await else {
                let reason = if self.has_started {
                    "the response ended early"
                } else {
                    "the response contains no event of the protocol"
                };
                return Err(self.peer.nonsense(reason));
            };
            match event.map_err(|error| self.peer.failure(error))? {
                ChatStreamEvent::Start => continue,
                ChatStreamEvent::Chunk(chunk) if !chunk.content.is_empty() => {
                    self.text.push_str(&chunk.content);
                    self.check_length(0)?;
                    self.has_started = true;
                    return Ok(ChatEvent::Text(chunk.content));
                }
                ChatStreamEvent::ReasoningChunk(chunk) => {
                    self.other += chunk.content.len();
                    self.check_length(0)?;
                }
                // The chunk contains all arguments received so far.
                ChatStreamEvent::ToolCallChunk(chunk) => {
                    self.check_length(chunk.tool_call.fn_arguments.as_str().map_or(0, str::len))?;
                }
                ChatStreamEvent::End(end) => return self.done(end).map(ChatEvent::Done),
                _ => {}
            }
            self.has_started = true;
        }
    }
}

impl Answer {
    fn check_length(&self, more: usize) -> Result<(), Failure> {
        if self.text.len() + self.other + more > MAX_ANSWER_BYTES {
            return Err(self.peer.nonsense("the response exceeds the size limit"));
        }
        Ok(())
    }

    fn done(&mut self, end: StreamEnd) -> Result<ChatResponse, Failure> {
        let stop = end.captured_stop_reason;
        let cut = matches!(stop, Some(StopReason::MaxTokens(_)));
        let usage = end.captured_usage.as_ref().map(usage).unwrap_or_default();
        let mut calls = Vec::new();
        let mut thoughts = Vec::new();
        for part in end.captured_content.map(|content| content.into_parts()).unwrap_or_default() {
            match part {
                ContentPart::ToolCall(call) => {
                    let id = free_id(call.call_id, &calls);
                    calls.push(ToolCall { id, name: call.fn_name, arguments: arguments(call.fn_arguments, cut) });
                }
                ContentPart::ThoughtSignature(_) | ContentPart::ReasoningContent(_) | ContentPart::Custom(_) => {
                    thoughts.push(part);
                }
                _ => {}
            }
        }
        if self.text.trim().is_empty() && calls.is_empty() {
            return Err(empty(&self.peer, cut, stop.as_ref().map(|stop| stop.raw())));
        }
        self.thinking.keep(self.fingerprint, thoughts);
        Ok(ChatResponse { text: std::mem::take(&mut self.text), calls, usage, cut })
    }
}

/// Returns the failure of an empty response.
pub(super) fn empty(peer: &Peer, cut: bool, stop: Option<&str>) -> Failure {
    peer.nonsense(&match stop {
        _ if cut => "the response reached the limit of output tokens before any text".to_owned(),
        Some(stop) => format!("the response is empty (stop reason `{stop}`)"),
        None => "the response is empty".to_owned(),
    })
}

/// Returns a unique id. Some local servers return the same id for every call, or none, but results are matched by id.
fn free_id(id: String, before: &[ToolCall]) -> String {
    let taken = |id: &str| id.is_empty() || before.iter().any(|other| other.id == id);
    if !taken(&id) {
        return id;
    }
    let free = (before.len()..).map(|n| format!("call_{n}")).find(|id| !taken(id));
    free.unwrap_or_default()
}

/// Normalises arguments: invalid JSON stays a string, missing arguments are an empty object unless the response was truncated, and doubly
/// encoded objects are decoded.
pub(super) fn arguments(arguments: Value, cut: bool) -> Value {
    match arguments {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) if text.trim().is_empty() && !cut => Value::Object(Map::new()),
        Value::String(text) => {
            serde_json::from_str::<Map<String, Value>>(&text).map_or(Value::String(text), Value::Object)
        }
        other => other,
    }
}

/// `genai` counts uniformly for all providers: the input includes cached tokens.
fn usage(usage: &genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or_default();
    Usage {
        input_tokens: count(usage.prompt_tokens),
        output_tokens: count(usage.completion_tokens),
        cached_tokens: count(usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(given: Value, cut: bool, expected: Value) {
        assert_eq!(arguments(given, cut), expected);
    }

    #[test]
    fn arguments_are_taken_as_they_can_be() {
        check(json!({"a": 1}), false, json!({"a": 1}));
        check(json!(""), false, json!({}));
        check(json!(""), true, json!(""));
        check(json!(null), false, json!({}));
        check(json!("{\"a\": 1}"), false, json!({"a": 1}));
        check(json!("{\"a\": "), true, json!("{\"a\": "));
        check(json!([1]), false, json!([1]));
    }

    #[test]
    fn calls_get_ids_of_their_own() {
        let mut calls: Vec<ToolCall> = Vec::new();
        for id in ["", "a", "a", "call_0"] {
            let id = free_id(id.into(), &calls);
            calls.push(ToolCall { id, name: "f".into(), arguments: json!({}) });
        }
        let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["call_0", "a", "call_2", "call_3"]);
    }
}
