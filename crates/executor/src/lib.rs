//! Runs plans: executes the steps in order, each result a table for later steps, until the last step or a failure.
//!
//! A step executes exactly the statement that was verified; its rows are the table `step_1` for later statements. Documents provide
//! definitions and passages, skills provide instructions for writing the answer, and operations are called if the catalog allows it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use prospector_discovery::{Catalog, CatalogOptions};
//! use prospector_executor::{Executor, RunOptions, read_plan};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("catalog.yaml");
//! std::fs::write(folder.path().join("orders.csv"), "order_id,country,total\n1,PT,9.50\n2,PT,1\n3,BR,4\n")?;
//! std::fs::write(&file, "databases:\n- path: orders.csv\n")?;
//! let (catalog, _) = Catalog::open(&file, CatalogOptions::default()).await?;
//!
//! let plan = read_plan(r#"{"question": "total of orders by country", "plan": {"steps": [{
//!     "number": 1, "goal": "Sum the totals by country",
//!     "sql": "SELECT country, sum(total) AS total FROM orders.orders GROUP BY country ORDER BY total DESC"}]}}"#)?;
//! let run = Executor::new(Arc::new(catalog)).run(plan, RunOptions::default()).await;
//! let result = run.result_step().ok_or("there is no result")?;
//! assert_eq!(result.rows, [["PT".into(), serde_json::json!(10.5)], ["BR".into(), serde_json::json!(4.0)]]);
//! # Ok(()) }
//! ```
//!
//! This crate makes no plans, calls no model, and writes to no source.

mod compare;
pub mod comparison;
mod executor;
mod input;
mod read;
pub mod record;
mod step;
pub mod store;
mod text;
mod tool;

pub use executor::{Executor, RunOptions};
pub use read::{ReadError, read_plan};
pub use record::Run;
pub use store::Store;
pub use tool::tools;
