//! Chat models behind one trait: messages, providers, and the table of model capabilities.
//!
//! A conversation is a [`ChatRequest`]: a system prompt in blocks, turns, and the tools that the model may call. A [`ChatModel`] streams
//! the response, and [`providers::connect`] finds the provider of a model by its name: Anthropic, OpenAI, Gemini, Ollama, or any server
//! with OpenAI's chat completions API. The capabilities of models are in one table, [`models::MODELS`]. A custom model implements one
//! method:
//!
//! ```
//! use async_trait::async_trait;
//! use futures::{StreamExt, stream::{self, BoxStream}};
//! use prospector_llm::{ChatEvent, ChatModel, ChatRequest, ChatResponse, LlmError, Message, models, purpose::Purpose};
//!
//! struct Parrot;
//!
//! #[async_trait]
//! impl ChatModel for Parrot {
//!     fn name(&self) -> &str {
//!         "parrot"
//!     }
//!     async fn stream(&self, request: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
//!         let Some(Message::User { text }) = request.messages.last() else { panic!("nobody spoke") };
//!         let response = ChatResponse { text: text.clone(), ..ChatResponse::default() };
//!         let events = [Ok(ChatEvent::Text(text.clone())), Ok(ChatEvent::Done(response))];
//!         Ok(stream::iter(events).boxed())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LlmError> {
//! let request = ChatRequest {
//!     purpose: Purpose::Unspecified,
//!     system: vec![],
//!     messages: vec![Message::User { text: "Polly?".into() }],
//!     tools: vec![],
//!     max_output_tokens: 100,
//! };
//! assert_eq!(Parrot.complete(&request).await?.text, "Polly?");
//! assert!(models::capability("claude-sonnet-4-5").tools);
//! # Ok(()) }
//! ```
//!
//! This crate runs no tools, stores no conversations and reads no environment variables.

mod chat;
mod error;
pub mod message;
pub mod models;
pub mod providers;
pub mod purpose;

pub use chat::{ChatEvent, ChatModel};
pub use error::LlmError;
pub use message::{ChatRequest, ChatResponse, Message};
