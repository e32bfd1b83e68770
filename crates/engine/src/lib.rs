//! Runs read-only queries over data sources: the guard, native execution, joins over several sources, and limited answers with
//! suggestions.
//!
//! A statement is parsed first: it must be one query, over tables that the [`Source`]s name, and call only functions known to
//! do nothing but compute. A query over one database runs there, in its own SQL. A query over several databases, or over files,
//! runs here: each source sends the columns and rows that are needed. Every error is a [`Failure`] with a suggestion.
//!
//! ```
//! use prospector_connect::open;
//! use prospector_connect::source::SourceKind;
//! use prospector_engine::{Engine, FailureCode, Source};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let mut sources = Vec::new();
//! for (name, text) in [("shop", "id,total\n1,9.50\n2,12.00\n"), ("crm", "order_id,customer\n1,Ada\n2,Bob\n")] {
//!     let path = folder.path().join(format!("{name}_rows.csv"));
//!     std::fs::write(&path, text)?;
//!     let connector = open(&prospector_connect::source::Source::files(SourceKind::Csv, vec![path]))?;
//!     let (tables, _) = connector.describe().await?;
//!     sources.push(Source { name: name.into(), tables, functions: Vec::new(), connector });
//! }
//! let engine = Engine::new(sources);
//!
//! let sql = "SELECT customer, total FROM shop.shop_rows JOIN crm.crm_rows ON id = order_id WHERE total > 10";
//! let answer = engine.run(sql, None, 50).await?;
//! assert_eq!(answer.rows.rows, [[serde_json::json!("Bob"), serde_json::json!(12.0)]]);
//!
//! engine.load(&prospector_engine::scope::Subset::new("few", "shop", "shop_rows")).await?;
//! let answer = engine.run("SELECT COUNT(*) FROM scoped.few", None, 50).await?;
//! assert_eq!(answer.rows.rows, [[serde_json::json!(2)]]);
//!
//! let refused = engine.run("DELETE FROM shop.shop_rows", None, 50).await.unwrap_err();
//! assert_eq!(refused.code, FailureCode::Refused);
//! # Ok(()) }
//! ```
//!
//! The crate opens no sources, and does not know the catalog, the index or the user. It never writes.

mod advice;
mod answer;
mod attributes;
mod build;
mod column;
mod decimals;
mod engine;
mod execution;
mod explain;
mod failure;
mod functions;
mod guard;
mod history;
mod information_schema;
mod joined;
mod limits;
mod named;
mod named_rows;
mod native;
pub mod options;
mod outcome;
mod place;
mod plan;
mod planning;
mod position;
pub mod query;
mod resolution;
mod rewrite;
pub mod scope;
mod source;
mod syntax;
mod tools;
mod typo;
mod view;
mod warning;
pub mod worker;

pub use engine::Engine;
pub use failure::{Failure, FailureCode};
pub use guard::check;
pub(crate) use prospector_connect::sql::Dialect;
pub use source::Source;
pub use tools::tools;
