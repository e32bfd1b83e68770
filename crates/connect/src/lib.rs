//! Connectors: describe, sample, count and read any data source in the same way.
//!
//! A [`Source`] says where data is and of which [kind](source::SourceKind) it is; [`open`] makes a [`Connector`] of it.
//! Every connector answers the same three questions: which [tables](table::Table) there are, which values a column holds
//! ([`rows::Samples`]), and how many there are in which range ([`rows::Statistics`]). What cannot be read of a source is
//! reported as a [`prospector_core::Problem`] beside everything that can.
//!
//! ```
//! use prospector_connect::rows::SampleRequest;
//! use prospector_connect::source::SourceKind;
//! use prospector_connect::table::ColumnType;
//! use prospector_connect::{source::Source, open};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("invoices.csv");
//! std::fs::write(&path, "id,country,total\n1,Norway,3.96\n2,Chile,0.99\n3,Norway,8.91\n")?;
//!
//! let source = Source::files(SourceKind::from_path(&path).unwrap_or(SourceKind::Csv), vec![path]);
//! let connector = open(&source)?;
//!
//! let (tables, problems) = connector.describe().await?;
//! assert!(problems.is_empty());
//! assert_eq!(tables[0].name, "invoices");
//! assert_eq!(tables[0].row_count, Some(3));
//! assert_eq!(tables[0].columns[2].column_type, ColumnType::Float);
//!
//! let request = SampleRequest { contains: None, limit: 10 };
//! let samples = connector.sample("invoices", "country", &request).await?;
//! assert_eq!(samples.values, ["Norway", "Chile"]);
//!
//! let statistics = connector.statistics("invoices", &["total".to_owned()]).await?;
//! assert_eq!(statistics[0].max, Some(8.91.into()));
//! # Ok(()) }
//! ```
//!
//! [`Connector::rows`] reads the rows that meet [conditions](filter::FilterCondition), and [`Connector::query`] runs one query
//! in the source's own SQL, both in a session that can only read. The module [`sql`] parses SQL of any dialect in bounded
//! time.
//!
//! What it is not: it never writes to a source, it does not judge the SQL that it is given, and it knows neither an index nor
//! a model. It keeps no copy of the data, except of sheets, and of JSON files that only fit a table when all of it is known.
//!
//! # Features
#![doc = document_features::document_features!()]

#[cfg(feature = "bigquery")]
mod bigquery;
mod budget;
#[cfg(feature = "cassandra")]
mod cassandra;
mod cause;
mod connector;
mod data_files;
mod dbt;
mod ddl;
mod display;
#[cfg(any(feature = "cassandra", feature = "dynamodb", feature = "elasticsearch", feature = "mongodb"))]
mod document;
#[cfg(feature = "dynamodb")]
mod dynamo;
#[cfg(feature = "elasticsearch")]
mod elastic;
mod encoding;
pub mod error;
mod files;
pub mod filter;
mod keys;
#[cfg(feature = "mongodb")]
mod mongo;
mod mysql;
mod open;
mod partition;
mod postgres;
pub mod query;
mod reason;
pub mod rows;
mod server;
mod service;
pub mod source;
mod source_kind;
pub mod sql;
mod sqlite;
mod statement;
pub mod table;
#[cfg(any(feature = "cassandra", feature = "dynamodb", feature = "elasticsearch"))]
mod tally;

pub use connector::Connector;
pub use error::ConnectError;
pub use open::open;
pub(crate) use source::Source;
