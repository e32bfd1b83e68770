//! Evaluation: how well search finds what questions need ([`retrieval`], [`calibration`]), the token cost of plans
//! ([`tokens`]) and of many tool definitions ([`tokens::tool_lists`]), verification of plans with a known verdict
//! ([`wordings`]), the correctness of queries ([`sql`]), and regression tests of a user's own questions
//! ([`questions::cases`]). Each module reads its questions from a file, queries a catalog, and returns a report: JSON by
//! `Serialize`, a table by `table()`.
//!
//! ```
//! use prospector_bench::{Corpus, questions::Question, retrieval};
//! use prospector_core::Kind;
//! use prospector_core::record::Record;
//! use prospector_search::{Index, ranking::Ranker};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut orders = Record::new(Kind::Table, "shop.orders", "orders");
//! orders.parent = "shop".into();
//! let records = vec![orders];
//! let corpus = Corpus::new(Index::in_memory(records.clone(), None)?, &records);
//! let question: Question =
//!     serde_json::from_str(r#"{"id": "1", "query": "Which orders are open?", "gold": ["shop.orders"]}"#)?;
//! let report = retrieval::measure(&corpus, &[question], None, &Ranker::ALL)?;
//! assert!(report.table().contains("recall@1"));
//! # Ok(()) }
//! ```
//!
//! The crate parses no flags and prints nothing.

mod averages;
pub mod calibration;
mod corpus;
mod cost;
mod error;
pub mod estate;
mod jsonl;
mod metrics;
pub mod questions;
mod records;
pub mod retrieval;
mod session;
pub mod sql;
mod table;
mod targets;
pub mod tokens;
pub mod wordings;

pub use corpus::Corpus;
pub use error::BenchError;
