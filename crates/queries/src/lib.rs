//! Verified queries: SQL approved by a person, with the question that it answers and typed parameters. They are read from files,
//! validated against their sources, and run read-only.
//!
//! ```
//! use prospector_connect::{open, source::{Source as Place, SourceKind}};
//! use prospector_engine::{Engine, Source};
//! use prospector_queries::VerifiedQueries;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let orders = folder.path().join("orders.csv");
//! std::fs::write(&orders, "country,total\nBrazil,9.50\nGermany,12.00\nBrazil,1.00\n")?;
//! let connector = open(&Place::files(SourceKind::Csv, vec![orders]))?;
//! let (tables, _) = connector.describe().await?;
//! let engine = Engine::new(vec![Source { name: "shop".into(), tables, functions: Vec::new(), connector }]);
//!
//! let file = folder.path().join("orders-of-country.sql");
//! let text = "---\nquestion: How many orders are there in {country}?\nparameters:\n  country: {type: text, column: shop.orders.country}\n\
//!             verified: {by: Ada, on: 2026-01-12}\n---\nSELECT COUNT(*) AS orders FROM shop.orders WHERE country = :country\n";
//! std::fs::write(&file, text)?;
//! let (queries, problems) = VerifiedQueries::load(&[file], &engine).await;
//! assert!(problems.is_empty());
//!
//! let query = queries.resolve("orders-of-country").unwrap();
//! let values = serde_json::json!({"country": "Brazil"}).as_object().cloned().unwrap();
//! let run = queries.run(query, &values, &engine, 10).await?;
//! assert_eq!(run.outcome.rows.rows, [[serde_json::json!(2)]]);
//! # Ok(()) }
//! ```
//!
//! The crate knows no catalog and no model. Values enter the SQL only as literals that the engine renders and parses again.

mod discovery;
mod domains;
mod error;
mod example;
mod file;
mod load;
pub mod model;
mod objections;
mod proposals;
mod render;
mod tools;
mod value;

pub use discovery::{VerifiedQueries, VerifiedRun};
pub use error::QueryError;
pub use load::list_files;
pub use model::{Parameter, VerifiedQuery};

/// Pending proposals of queries, and reported answers, for review by the catalog maintainer.
pub mod review {
    pub use crate::{
        objections::{AnswerQuery, Objection, Objections},
        proposals::Proposals,
    };
}
