//! The conversation with a model, in provider-independent structs.

use prospector_core::tool::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::purpose::Purpose;

/// A request to a model: the whole conversation, and the tools that it may call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChatRequest {
    /// The purpose of the request, as data; it is not sent to providers.
    #[serde(skip)]
    pub purpose: Purpose,
    /// The system prompt in blocks. Static text comes first: the last block marked `cache` ends the cacheable prefix.
    pub system: Vec<SystemBlock>,
    /// The turns, oldest first.
    pub messages: Vec<Message>,
    /// The tools that the model may call, sorted by name; empty for models without tool support.
    pub tools: Vec<ToolSpec>,
    /// Limit on the output tokens.
    pub max_output_tokens: u32,
}

/// A block of the system prompt, with its cache mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SystemBlock {
    /// The text.
    pub text: String,
    /// Whether the provider should cache everything up to the end of this block.
    pub cache: bool,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// A message of the user, or of the program on the user's behalf.
    User {
        /// The text.
        text: String,
    },
    /// A response of the model.
    Assistant {
        /// The text; may be empty if there are only calls.
        text: String,
        /// The calls, in order.
        calls: Vec<ToolCall>,
    },
    /// The results of all calls of the previous assistant turn, in the order of the calls.
    ToolResults {
        /// One for each call.
        results: Vec<ToolResult>,
    },
}

/// Estimated tokens that a provider adds to each message, call and result.
const FRAME_TOKENS: usize = 4;

impl Message {
    /// Estimates the number of tokens; `count` counts those of a text.
    pub fn size(&self, count: fn(&str) -> usize) -> usize {
        match self {
            Message::User { text } => FRAME_TOKENS + count(text),
            Message::Assistant { text, calls } => {
                let call = |call: &ToolCall| FRAME_TOKENS + count(&call.name) + count(&call.arguments.to_string());
                FRAME_TOKENS + count(text) + calls.iter().map(call).sum::<usize>()
            }
            Message::ToolResults { results } => {
                results.iter().map(|result| FRAME_TOKENS + count(&result.content)).sum()
            }
        }
    }
}

/// A tool call of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id, which the result must carry.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments; a string if the model did not produce valid JSON.
    pub arguments: Value,
}

/// The result of a tool call, as sent to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// The text sent to the model.
    pub content: String,
    /// The same as JSON, for a model that [reads data](crate::ChatModel::reads_data). It is not sent to providers, and not counted.
    #[serde(skip)]
    pub data: Option<Value>,
    /// Whether the call failed.
    pub is_error: bool,
}

/// The complete response of a model: text, tool calls, or both.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChatResponse {
    /// The text.
    pub text: String,
    /// The requested calls, in order. They must be answered regardless of the stop reason.
    pub calls: Vec<ToolCall>,
    /// The tokens used.
    pub usage: Usage,
    /// Whether the response was truncated at `max_output_tokens`.
    pub cut: bool,
}

/// Tokens as counted by the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// All input tokens, including cached ones.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Input tokens read from a cache.
    pub cached_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cached_tokens += other.cached_tokens;
    }
}
