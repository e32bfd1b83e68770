//! The conversation with a model, in plain structs that know no provider.

use prospector_core::tool::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::purpose::Purpose;

/// A request to a model: the whole conversation so far, and the tools that it may call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChatRequest {
    /// What is asked for, as data; no provider is sent it.
    #[serde(skip)]
    pub purpose: Purpose,
    /// The system prompt in blocks. Static text comes first: the last block marked `cache` ends the cacheable prefix.
    pub system: Vec<SystemBlock>,
    /// The turns, oldest first.
    pub messages: Vec<Message>,
    /// What the model may call, sorted by name; empty for models that cannot.
    pub tools: Vec<ToolSpec>,
    /// The most tokens it may answer.
    pub max_output_tokens: u32,
}

/// A part of the system prompt, and whether the provider is to cache the prompt up to its end.
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
    /// What the user, or the program on the user's behalf, says.
    User {
        /// The text.
        text: String,
    },
    /// What the model said and called.
    Assistant {
        /// The text; may be empty when it only calls tools.
        text: String,
        /// The calls, in order.
        calls: Vec<ToolCall>,
    },
    /// The results of all calls of the assistant turn before, in the order of the calls.
    ToolResults {
        /// One for each call.
        results: Vec<ToolResult>,
    },
}

/// Tokens that a provider adds to each message, call and result, about.
const FRAME_TOKENS: usize = 4;

impl Message {
    /// How many tokens it takes, about; `count` counts those of a text.
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

/// A call that a model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id, which the result must carry.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments; a string where the model did not produce JSON.
    pub arguments: Value,
}

/// The result of a tool call, as the model is given it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// What the model is shown.
    pub content: String,
    /// The same as JSON, for a model that [reads data](crate::ChatModel::reads_data). No provider is sent it, and it is not
    /// counted.
    #[serde(skip)]
    pub data: Option<Value>,
    /// Whether the call failed.
    pub is_error: bool,
}

/// The whole answer of a model: text, tool calls, or both.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChatResponse {
    /// The text.
    pub text: String,
    /// The calls it asks for, in order. Pending calls count whatever the stop reason says.
    pub calls: Vec<ToolCall>,
    /// What it cost.
    pub usage: Usage,
    /// Whether the answer was cut at `max_output_tokens`.
    pub cut: bool,
}

/// Tokens as the provider counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// All input tokens, those read from a cache included.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Those of the input that came from a cache.
    pub cached_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cached_tokens += other.cached_tokens;
    }
}
