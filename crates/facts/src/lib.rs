//! Facts: resolve a term, store what was learned, extract what a text defines.
//!
//! "Show me VIP customer spending": which customers are VIP? [`FactDiscovery::resolve`] finds the terms that a question uses,
//! and returns the whole definition of each with its place: what a user said, what the catalog declares, or what a text marks
//! by its structure (a heading, bold words, a row, the subject of a sentence that says what it is). It reports when a meaning
//! is asked for that nothing defines, and when sources contradict each other. Replies are stored with
//! [`FactDiscovery::add`] and take precedence from then on. A fact that was extracted from a source is stale once the source
//! changes. Each owner has a view of their own ([`FactDiscovery::seen_by`]): with several owners, what one says waits for
//! approval ([`review`]).
//!
//! ```
//! use std::sync::Arc;
//!
//! use async_trait::async_trait;
//! use prospector_facts::{Fact, FactDiscovery, evidence::{Evidence, Passage}, model::Origin};
//! use prospector_search::Index;
//!
//! /// Where texts come from is up to the caller; here there is only one.
//! struct Handbook;
//!
//! #[async_trait]
//! impl Evidence for Handbook {
//!     fn passages(&self) -> Vec<Passage> {
//!         let text = "VIP customers get free shipping. A VIP customer is a customer whose total spending is at least 45.00.";
//!         vec![Passage {
//!             source_type: "document".into(),
//!             name: "handbook#Customers".into(),
//!             heading: "Customers".into(),
//!             text: text.into(),
//!         }]
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let (facts, problems) = FactDiscovery::open(None, Vec::new(), Some(Arc::new(Handbook))).await;
//! assert!(problems.is_empty());
//! let answer = facts.resolve("Show me VIP customer spending trends by quarter").await;
//! assert_eq!(answer.answer.as_deref(), Some("A VIP customer is a customer whose total spending is at least 45.00."));
//! assert_eq!(answer.term.as_deref(), Some("VIP customer"));
//!
//! // Nobody wrote down what churn is, until a user says it.
//! assert!(facts.resolve("What is churn?").await.needs_clarification);
//! let added = facts.add(Fact::new("churn", "No order for 180 days.", Origin::User)).await.unwrap();
//! assert_eq!(added.answers, ["What is churn?"]);
//! assert_eq!(facts.resolve("What is churn?").await.answer.as_deref(), Some("No order for 180 days."));
//!
//! // As tools for a model, and as records for an index.
//! let facts = Arc::new(facts);
//! let known = facts.tools().call("list_known_facts", serde_json::json!({"contains": "order"})).await.unwrap();
//! assert_eq!(known.json()[0]["term"], "churn");
//! let index = Index::in_memory(facts.records(), None).unwrap();
//! # let _ = index;
//! # }
//! ```
//!
//! What it is not: it calls no model, reads no files (whoever does implements [`evidence::Evidence`] and
//! [`extractor::Extractor`]), and never makes an answer up: an answer is a stored definition or a part of a source.

mod asked;
mod discovery;
mod error;
pub mod evidence;
pub mod extract;
pub mod extractor;
mod keep;
mod mark;
pub mod model;
mod read;
mod render;
mod resolve;
pub mod review;
mod store;
mod table;
mod tools;
mod words;

pub use discovery::{Added, FactDiscovery};
pub use error::FactError;
pub use model::{Fact, Resolution};
