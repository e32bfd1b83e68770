//! The built-in planner: a deterministic implementation of [`ChatModel`](prospector_llm::ChatModel) that calls the same tools in the same
//! loop as a language model. Its output is labelled as such. It is used when no API key is configured.
//!
//! ```
//! use prospector_llm::{ChatModel, ChatRequest, LlmError, purpose::Purpose};
//! use prospector_offline::Offline;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LlmError> {
//! // Without tools nothing is found: the plan has no steps, and a clarification gives the reason.
//! let request = ChatRequest {
//!     purpose: Purpose::Plan { question: "revenue by year".into(), finish: false },
//!     system: vec![],
//!     messages: vec![],
//!     tools: vec![],
//!     max_output_tokens: 1_000,
//! };
//! let response = Offline.complete(&request).await?;
//! assert!(response.text.contains("Nothing in the catalog matches it"));
//! # Ok(()) }
//! ```
//! - `plan.rs` plans a question as one step, or lists the closest sources.
//! - `answer.rs` answers with a verified query or with the query that covers the question, or offers choices; `render.rs` renders the text.
//! - `reconcile.rs` runs the reconciliation workflow with fixed texts.
//!
//! Prompts are ignored: the task is in the [`Purpose`](prospector_llm::purpose::Purpose) of the request, and findings are in the data of
//! the tool results.

mod answer;
mod calls;
mod catalog;
mod model;
mod plan;
mod question;
mod reconcile;
mod render;

pub use model::Offline;
