//! Facts: resolves terms, stores definitions, and extracts definitions from texts.
//!
//! For "Show me VIP customer spending", [`FactDiscovery::resolve`] finds the terms of the question and returns the full
//! definition of each with its source: a user, the catalog, or the structure of a text (a heading, bold words, a table
//! row, the subject of a defining sentence). It requests clarification if a meaning is asked for that no source
//! defines, or if sources contradict each other. Replies are stored with [`FactDiscovery::add`] and take precedence
//! from then on. An extracted fact is stale once its source changes. Each owner has their own view
//! ([`FactDiscovery::seen_by`]); with several owners, new facts are private until approved ([`review`]).
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
//! // An undefined term needs clarification until a user defines it.
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
//! The crate calls no model and reads no files; callers implement [`evidence::Evidence`] and [`extractor::Extractor`].
//! An answer is always a stored definition or a part of a source.

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
mod resolve;
pub mod review;
mod store;
mod table;
mod tools;
mod words;

pub use discovery::{Added, FactDiscovery};
pub use error::FactError;
pub use model::{Fact, Resolution};
