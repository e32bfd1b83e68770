//! How texts are taken apart: identifiers into words ([`identifiers`]), words into stems ([`stem`]) without stop words
//! ([`stop_words`]), paragraphs into sentences ([`sentences`]); how they are cut to a length ([`cut`]), and where the fields
//! at the top of a file end ([`front_matter`]); periods in a question ([`periods`]), and names that data contain as codes
//! ([`codes`]).
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
//! Where two functions do nearly the same, each says for what it is and why it differs: what is found and what is shown
//! depends on them.
//!
//! What it is not: it ranks nothing, and knows no record, document or skill.

pub mod codes;
pub mod cut;
pub mod front_matter;
pub mod identifiers;
pub mod numbers;
pub mod periods;
pub mod sentences;
pub mod stem;
pub mod stop_words;
