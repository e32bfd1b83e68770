//! Document search and section-level access for language models.
//!
//! A [`DocumentSource`] is a file, a folder or an inline text. [`DocumentDiscovery`] loads sources, divides documents
//! by headings into sections, returns the records to index, and provides the tools for models: search returns excerpts
//! with section names, so that a model can read a section instead of the whole document.
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
//! Sections of over 1,200 characters are indexed in parts of whole paragraphs, list items, tables and code blocks. A
//! longer block stays whole up to 2,000 characters; beyond that, tables are divided between rows, repeating the head;
//! code blocks at empty lines, else between lines, repeating the fence; other text between sentences. Each part carries
//! the headings above it; the first part of a document also carries its description, tags, author and other front
//! matter.
//!
//! Supported formats: Markdown, MDX, reStructuredText, AsciiDoc, Org, plain text, HTML, PDF, DOCX, XLSX and PPTX,
//! within [`formats::limits`]. HTML, PDF and Office files are converted to Markdown. reStructuredText, AsciiDoc and Org
//! are divided at their headings and kept as written; MDX is Markdown without imports and exports. Damaged, encrypted or
//! oversized files are reported as problems and do not affect others.
//! [`DocumentDiscovery::refresh_while`] reloads changed files. To add a format, add a variant to [`Format`] and a converter
//! to Markdown in `formats/`, or the detection of its headings to `plain.rs`. To add a kind of source, add a variant to
//! [`Origin`] and to [`model::Source`].
//!
//! Out of scope: ranking (done by the index), interpretation of texts, and images. No file outside the configured files
//! and folders is read.

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
