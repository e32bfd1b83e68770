//! Facts: resolve a term, store what was learned, extract what a text defines.
//!
//! "Show me VIP customer spending": which customers are VIP? The answer may be known already (a user said so, or the
//! catalog lists it), or it stands in a sentence of some document. [`FactDiscovery::resolve`] finds that sentence, says
//! how sure it is and where the sentence is from, and says that somebody has to be asked where nothing is good enough or
//! where sources contradict each other. What the somebody replies is kept with [`FactDiscovery::add`], in a file, and
//! wins from then on. A fact that was drawn from a source is stale once the source says something else. Each owner has a view of
//! their own ([`FactDiscovery::seen_by`]): where there are several, what one says waits for approval ([`review`]).
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
//!     async fn passages(&self, _question: &str, _limit: usize) -> Vec<Passage> {
//!         let text = "VIP customers get free shipping. A VIP customer is a customer whose total spending is at least 45.00.";
//!         vec![Passage {
//!             source_type: "document".into(),
//!             name: "handbook#Customers".into(),
//!             text: text.into(),
//!             relevance: 0.8,
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
//! What it is not: it calls no model, reads no document and no schema itself (whoever does implements [`evidence::Evidence`] and
//! [`extractor::Extractor`]), and never makes an answer up: an answer is a stored definition or a sentence that stands in
//! a source.

mod calibration;
mod candidate;
mod definition;
mod discovery;
mod error;
pub mod evidence;
mod expectation;
pub mod extract;
pub mod extractor;
mod fit;
mod keep;
mod lookup;
mod marked;
pub mod model;
mod near;
mod quantity;
mod question;
mod quote;
mod render;
mod resolve;
pub mod review;
mod sentences;
mod store;
mod term;
mod tools;
mod verbs;
mod words;

pub use discovery::{Added, FactDiscovery};
pub use error::FactError;
pub use model::{Fact, Resolution};
