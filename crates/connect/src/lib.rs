//! Connectors: describe, sample, count and read any data source in the same way.
//!
//! A [`Source`] is the location and [kind](source::SourceKind) of data; [`open`] returns a [`Connector`] for it. Every
//! connector returns the [tables](table::Table), sample values of a column ([`rows::Samples`]), and the range and number
//! of its values ([`rows::Statistics`]). Parts of a source that cannot be read are reported as a
//! [`prospector_core::Problem`] and do not affect the rest.
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
//! [`Connector::rows`] reads the rows that meet [conditions](filter::FilterCondition), and [`Connector::query`] runs one
//! query in the source's own SQL, both in a read-only session. The module [`sql`] parses SQL of any dialect in bounded
//! time.
//!
//! Connectors never write to a source and do not validate the SQL they are given. No data is copied, except for sheets,
//! and JSON files whose types are only known after reading them completely.
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
mod sql_server;
mod sqlite;
mod statement;
pub mod table;
#[cfg(any(feature = "cassandra", feature = "dynamodb", feature = "elasticsearch"))]
mod tally;

pub use connector::Connector;
pub use error::ConnectError;
pub use open::open;
pub(crate) use source::Source;
