//! Reads a streamed response of `genai`.

use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use genai::chat::{ChatStream, ChatStreamEvent, ContentPart, StopReason, StreamEnd};
use tracing::{instrument::WithSubscriber, subscriber::NoSubscriber};

use super::{
    accumulator::Accumulator,
    attempts::Pieces,
    failure::{Failure, Peer},
    thinking::Thinking,
};
use crate::{ChatEvent, message::Usage};

/// A response that is being streamed. Dropping it closes the connection.
pub(super) struct Answer {
    pub(super) stream: ChatStream,
    pub(super) accumulator: Accumulator,
    pub(super) peer: Arc<Peer>,
    /// Stores the thinking of the response under a fingerprint.
    pub(super) thinking: Arc<Thinking>,
    pub(super) fingerprint: u64,
}

#[async_trait]
impl Pieces for Answer {
    async fn next(&mut self) -> Result<ChatEvent, Failure> {
        loop {
            // `genai` logs raw bodies, which may quote the key.
            let Some(event) = self.stream.next().with_subscriber(NoSubscriber::default()).await else {
                return std::mem::take(&mut self.accumulator).response(&self.peer).map(ChatEvent::Done);
            };
            let mut pending = 0;
            match event.map_err(|error| self.peer.failure(error))? {
                ChatStreamEvent::Start => continue,
                ChatStreamEvent::Chunk(chunk) if !chunk.content.is_empty() => {
                    self.accumulator.has_started = true;
                    self.accumulator.text.push_str(&chunk.content);
                    self.accumulator.check_length(&self.peer, 0)?;
                    return Ok(ChatEvent::Text(chunk.content));
                }
                ChatStreamEvent::ReasoningChunk(chunk) => self.accumulator.size += chunk.content.len(),
                // The chunk contains all arguments received so far.
                ChatStreamEvent::ToolCallChunk(chunk) => {
                    pending = chunk.tool_call.fn_arguments.as_str().map_or(0, str::len);
                }
                ChatStreamEvent::End(end) => return self.done(end),
                _ => {}
            }
            self.accumulator.has_started = true;
            self.accumulator.check_length(&self.peer, pending)?;
        }
    }
}

impl Answer {
    fn done(&mut self, end: StreamEnd) -> Result<ChatEvent, Failure> {
        let mut accumulator = std::mem::take(&mut self.accumulator);
        let stop = end.captured_stop_reason;
        accumulator.has_started = true;
        accumulator.cut = matches!(stop, Some(StopReason::MaxTokens(_)));
        // Some servers give no reason.
        accumulator.stop = Some(stop.map_or_else(String::new, |stop| stop.raw().to_owned()));
        accumulator.usage = end.captured_usage.as_ref().map(usage).unwrap_or_default();
        let mut thoughts = Vec::new();
        for part in end.captured_content.map(|content| content.into_parts()).unwrap_or_default() {
            match part {
                ContentPart::ToolCall(call) => {
                    accumulator.call(Some(&call.call_id), &call.fn_name, call.fn_arguments, None);
                }
                ContentPart::ThoughtSignature(_) | ContentPart::ReasoningContent(_) | ContentPart::Custom(_) => {
                    thoughts.push(part);
                }
                _ => {}
            }
        }
        let response = accumulator.response(&self.peer)?;
        self.thinking.keep(self.fingerprint, thoughts);
        Ok(ChatEvent::Done(response))
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
