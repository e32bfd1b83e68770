//! Hybrid search over all catalog entries: BM25 and vectors, fused and calibrated to probabilities.
//!
//! ```
//! use std::sync::Arc;
//! use prospector_core::Kind;
//! use prospector_core::record::Record;
//! use prospector_search::{Index, Query, StaticTable};
//!
//! let mut invoices = Record::new(Kind::Table, "store.invoices", "invoices");
//! invoices.description = "One row for each purchase of a customer.".into();
//! let mut tracks = Record::new(Kind::Table, "store.tracks", "tracks");
//! tracks.description = "Songs and how long they are.".into();
//!
//! let index = Index::in_memory(vec![invoices, tracks], Some(Arc::new(StaticTable::shipped()?)))?;
//! let found = index.search(&Query { text: "what did customers buy".into(), limit: 1, ..Query::default() })?;
//! assert_eq!(found.hits[0].id, "store.invoices");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Index::open`] opens an index in a folder, and [`Index::refresh`] writes only changes. All files have checksums:
//! damage causes an error or a rebuild, never a wrong result.
//!
//! The crate does not know what a table, an operation or a skill is; callers convert them to
//! [`prospector_core::record::Record`]s.
//!
//! # Features
#![doc = document_features::document_features!()]

mod analyze;
mod cached_file;
pub mod damage;
mod dense;
mod directory;
mod disk;
pub mod embed;
mod error;
mod examine;
mod index;
mod kind_index;
mod length;
mod lexical;
mod rank;
pub mod ranking;
mod recalibration;
mod recipe;
mod refresh;
mod search;
mod static_table;
mod sums;
#[cfg(any(feature = "fastembed", feature = "fastembed-dynamic"))]
pub mod transformer;
mod values;
mod vectors;

pub use error::SearchError;
pub use index::{Found, Index, Query};
pub use refresh::RefreshReport;
pub use static_table::StaticTable;
