//! The planner: a language model, the discovery tools of a catalog, and the loop between them.
//!
//! [`Planner`] is the entry point. A question becomes a verified plan, or an answer whose numbers are traced:
//!
//! ```
//! use std::sync::Arc;
//!
//! use prospector_agent::{Planner, session::Session};
//! use prospector_discovery::{Catalog, CatalogOptions};
//! use prospector_offline::Offline;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("catalog.yaml");
//! std::fs::write(folder.path().join("orders.csv"), "order_id,country,total\n1,PT,9.50\n")?;
//! std::fs::write(&file, "databases:\n- path: orders.csv\n")?;
//!
//! let (catalog, _) = Catalog::open(&file, CatalogOptions::default()).await?;
//! let planner = Planner::new(catalog, Arc::new(Offline));
//!
//! let plan = planner.plan("total of orders by country").await.plan;
//! assert!(plan.verification.ok);
//! assert_eq!(plan.discovered_context.tables, ["orders.orders"]);
//!
//! let mut session = Session::unkept();
//! let answered = planner.ask(&mut session, "total of orders by country").await.answered;
//! assert_eq!(answered.questions[0].rows, [["PT".into(), serde_json::json!(9.5)]]);
//! # Ok(()) }
//! ```
//! `prospector_llm::providers::connect` returns a language model by name. A [`Request`] contains the limits, the observer and the
//! cancellation token of a question. [`agent_loop`] runs other tools, or another goal than a plan or an answer.
//! The crate depends on no provider and no data source, and prints nothing.

pub mod agent_loop;
mod answer;
pub mod ask;
mod budget;
pub mod event;
pub mod extraction;
mod goal;
mod history;
mod metrics;
mod names;
pub mod plan;
mod planner;
mod platform;
mod request;
pub mod session;
mod spans;
mod status;
mod tools;

pub use budget::Limits;
pub use planner::{Models, Planner};
pub use request::Request;
