//! Discovery of databases, tables and columns.
//!
//! [`describe`] turns any [`prospector_connect::Connector`] into a [`Database`]: its allowed tables, merged with the
//! description file next to it. A [`SchemaDiscovery`] over databases provides the records to index, the tools that a
//! language model calls, and the joins between tables over their declared keys.
//!
//! ```
//! use std::sync::Arc;
//! use prospector_connect::source::SourceKind;
//! use prospector_connect::table::{Column, Table};
//! use prospector_schema::{Database, Entry, SchemaDiscovery};
//! use prospector_search::Index;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let column = Column { name: "id".into(), data_type: "INTEGER".into(), primary_key: true, ..Column::default() };
//! let invoices = Table { name: "invoices".into(), row_count: Some(412), columns: vec![column], ..Table::default() };
//! let shop = Database { tables: vec![invoices], ..Database::new("shop", SourceKind::Sqlite) };
//!
//! // A connector would read statistics and sample values too.
//! let discovery = Arc::new(SchemaDiscovery::new(vec![Entry { database: shop, connector: None }]));
//! let index = Index::in_memory(discovery.records(), None)?;
//! let tools = discovery.tools(&index);
//!
//! let tables = tools.call("list_tables", json!({"database": "shop"})).await?;
//! assert_eq!(tables.json(), &json!([{"name": "invoices", "row_count": 412}]));
//! assert_eq!(discovery.resolve_table("SHOP.Invoices").as_deref(), Some("shop.invoices"));
//! # Ok(())
//! # }
//! ```
//!
//! It runs no queries. Undeclared keys are inferred from names for table search, and verified by values in
//! [`SchemaDiscovery::infer_joins`].

mod codes;
mod describe;
mod descriptions;
mod discovery;
mod error;
mod families;
mod inferred_joins;
pub mod joins;
mod key_match;
mod likely_keys;
mod model;
mod naming;
mod profile;
mod relevant_columns;
mod render;
mod shared_keys;
#[cfg(test)]
mod testing;
mod tools;
mod value_list;
pub mod values;

pub use describe::describe;
pub use discovery::{Entry, SchemaDiscovery};
pub use error::SchemaError;
pub use model::Database;
pub use render::Brief;
pub use tools::{TableHit, TableHits};
