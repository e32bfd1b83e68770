//! Text analysis: identifiers to words ([`identifiers`]), words to stems ([`stem`]) without stop words
//! ([`stop_words`]), paragraphs to sentences ([`sentences`]), truncation ([`cut`]), front matter ([`front_matter`]),
//! periods in questions ([`periods`]), and names with codes ([`codes`]).
//!
//! ```
//! use prospector_text::{identifiers, stem, stop_words};
//!
//! let words = identifiers::words("the InvoiceLine of a customer_id");
//! let stems: Vec<String> = words
//!     .iter()
//!     .filter(|word| !stop_words::OF_QUESTIONS.contains(&word.as_str()))
//!     .map(|word| stem::snowball(word))
//!     .collect();
//! assert_eq!(stems, ["invoic", "line", "custom", "id"]);
//! ```
//!
//! Similar functions document their purpose and differences, as search results and displayed texts depend on them.
//!
//! The crate does not rank, and does not know records, documents or skills.

pub mod codes;
pub mod cut;
pub mod front_matter;
pub mod identifiers;
pub mod numbers;
pub mod periods;
pub mod sentences;
pub mod stem;
pub mod stop_words;
