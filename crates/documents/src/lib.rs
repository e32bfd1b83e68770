//! Documents that a model can find, and read by section.
//!
//! A [`DocumentSource`] is a file, a folder or a text. [`DocumentDiscovery`] loads them, divides each by its headings
//! into sections, gives the records that an index needs, and offers the tools that a language model calls: it
//! searches, gets an excerpt with the name of a section, and reads that section instead of the whole document.
//!
//! ```
//! use std::sync::Arc;
//!
//! use prospector_documents::{DocumentDiscovery, DocumentSource};
//! use prospector_search::Index;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let rules = "# Rules\n\n## VIP customers\n\nThey spend 10,000 a year.\n\n## Refunds\n\nWithin 30 days.";
//! let (documents, problems) = DocumentDiscovery::load(&[DocumentSource::inline("rules", rules)]);
//! assert!(problems.is_empty());
//!
//! let documents = Arc::new(documents);
//! let index = Index::in_memory(documents.records(), None).unwrap();
//! let tools = documents.tools(&index);
//! let args = serde_json::json!({"name": "rules", "section": "vip customers"});
//! let answer = tools.call("get_document_section", args).await.unwrap();
//! assert_eq!(answer.json()["content"], "## VIP customers\n\nThey spend 10,000 a year.");
//! # }
//! ```
//!
//! A section of over 1,200 characters is indexed in parts of whole paragraphs, list items, tables and code blocks. A block of
//! over 1,200 stays whole up to 2,000; only a longer one is divided: a table between rows, with its head repeated; a code
//! block at empty lines, else between lines, with its fence repeated; other text between sentences. Each part carries the
//! headings above it, and the first part of a document its description, tags, author and other fields of its front matter.
//!
//! Markdown, MDX, reStructuredText, AsciiDoc, Org, plain text, HTML, PDF, DOCX, XLSX and PPTX are read, within [`formats::limits`]: a
//! file that is damaged, encrypted or unpacks without end is a problem with its reason, and the rest loads. [`DocumentDiscovery::refresh`] loads again
//! what changed. To add a format, add a variant to [`Format`] and a file in `formats/` that makes Markdown of it. To add
//! a place that documents come from, add a variant to [`Origin`] and to [`model::Source`].
//!
//! What it is not: it does not rank (the index does), does not judge what a text says, does not look into pictures, and
//! never reads outside the files and folders that it was given.

mod chunk;
mod discovery;
mod error;
mod folder;
pub mod formats;
mod front_matter;
mod load;
mod markdown;
pub mod model;
mod passage;
mod plain;
mod read;
pub mod refresh;
mod render;
mod sections;
mod tools;

pub use discovery::{DocumentDiscovery, Passage};
pub use error::DocumentError;
pub use load::{DocumentSource, Origin};
pub use model::{Document, Format};
