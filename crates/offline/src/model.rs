//! The model: dispatches a request by its purpose.

use async_trait::async_trait;
use futures::{StreamExt, stream, stream::BoxStream};
use prospector_core::tokens;
use prospector_core::work::compute;
use prospector_llm::{ChatEvent, ChatModel, ChatRequest, ChatResponse, LlmError, message::Usage, purpose::Purpose};
use serde::Serialize;

use crate::{
    answer::{Turn, answer},
    plan::plan,
    reconcile,
};

/// The response to other purposes.
const UNABLE: &str = "The built-in planner only plans questions, answers them and matches records.";

/// The built-in planner. It needs no network and no API key, and is deterministic.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Offline {
    /// The name of the model.
    pub const NAME: &'static str = "offline";
}

#[async_trait]
impl ChatModel for Offline {
    fn name(&self) -> &str {
        Offline::NAME
    }

    fn reads_data(&self) -> bool {
        true
    }

    async fn stream(&self, request: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
        let request = request.clone();
        let response = compute(move || {
            let mut response = respond(&request);
            response.usage = count_usage(&request, &response);
            response
        })
        .await;
        Ok(stream::iter([Ok(ChatEvent::Done(response))]).boxed())
    }
}

/// Returns the next calls, or the requested text.
fn respond(request: &ChatRequest) -> ChatResponse {
    let say = |text: String| ChatResponse { text, ..ChatResponse::default() };
    match &request.purpose {
        Purpose::Plan { question, finish } => plan(request, question, *finish),
        Purpose::Ask { question, mode, previous, answered, begins_at, finish } => {
            let messages = &request.messages[(*begins_at).min(request.messages.len())..];
            let (previous, answered) = (previous.as_ref(), answered.as_ref());
            answer(request, &Turn { question, mode: *mode, previous, answered, messages, finish: *finish })
        }
        // The draft is already written from the rows.
        Purpose::Summarize { draft } => say(draft.clone()),
        Purpose::Phase { workflow: _, phase, begins_at, said } => {
            reconcile::answer(request, phase.as_deref(), *begins_at, said)
        }
        Purpose::Unspecified | Purpose::ExtractFacts => say(UNABLE.to_owned()),
    }
}

/// Counts the tokens (o200k) as a provider would.
fn count_usage(request: &ChatRequest, response: &ChatResponse) -> Usage {
    let system: u64 = request.system.iter().map(|block| tokens::count(&block.text) as u64).sum();
    let messages: u64 = request.messages.iter().map(|message| message.size(tokens::count) as u64).sum();
    let input_tokens = system + count_json(&request.tools) + messages;
    let output_tokens = tokens::count(&response.text) as u64 + count_json(&response.calls);
    Usage { input_tokens, output_tokens, cached_tokens: 0 }
}

fn count_json(value: &impl Serialize) -> u64 {
    tokens::count(&serde_json::to_string(value).unwrap_or_default()) as u64
}
