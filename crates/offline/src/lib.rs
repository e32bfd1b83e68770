//! A stand-in for a language model: a deterministic program that speaks [`ChatModel`](prospector_llm::ChatModel), calls the
//! same tools in the same loop, and says in what it writes that it is a program. Without a key for a provider, it is what
//! plans and answers.
//!
//! ```
//! use prospector_llm::{ChatModel, ChatRequest, LlmError, purpose::Purpose};
//! use prospector_offline::Offline;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LlmError> {
//! // Without tools nothing can be found: the plan has no steps, and says so.
//! let request = ChatRequest {
//!     purpose: Purpose::Plan { question: "revenue by year".into(), finish: false },
//!     system: vec![],
//!     messages: vec![],
//!     tools: vec![],
//!     max_output_tokens: 1_000,
//! };
//! let response = Offline.complete(&request).await?;
//! assert!(response.text.contains("Nothing in the catalog comes near it"));
//! # Ok(()) }
//! ```
//!
//! - A plan keeps what the search finds relevant enough: `plan.rs`.
//! - A question that a verified query answers is answered by it, and another by the query that covers it, or it gets choices: `answer.rs`,
//!   in the words of `tell.rs`.
//! - The workflow of a reconciliation is gone through in fixed words: `reconcile.rs`.
//!
//! What it is not: it reads no prompt. What it is asked stands in the request's
//! [`Purpose`](prospector_llm::purpose::Purpose), and what it has found stands in the data of the results.

mod answer;
mod calls;
mod catalog;
mod model;
mod plan;
mod question;
mod reconcile;
mod tell;

pub use model::Offline;
