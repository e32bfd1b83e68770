//! The planner: the loop over a model and the discovery tools, the plan, and its verification.
//!
//! ```
//! use prospector_agent::{INSTRUCTIONS, Limits, Mode, Task, run};
//! use prospector_discovery::{Catalog, CatalogOptions, DiscoveryTools, Profile, PromptBuilder};
//! use prospector_offline::Offline;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("catalog.yaml");
//! std::fs::write(folder.path().join("orders.csv"), "order_id,country,total\n1,PT,9.50\n")?;
//! std::fs::write(&file, "databases:\n- path: orders.csv\n")?;
//! let (catalog, _) = Catalog::open(&file, CatalogOptions::default()).await?;
//! let tools = DiscoveryTools::new(&catalog, Profile::DEFAULT);
//!
//! let question = "total of orders by country";
//! let model = prospector_llm::models::model_info("offline").ok_or("no such model")?;
//! let prompt = PromptBuilder::new(&catalog, &tools, INSTRUCTIONS).build(model, question);
//! let task = Task {
//!     question: question.into(),
//!     mode: Mode::of(question),
//!     system: prompt.system,
//!     with_tools: prompt.with_tools,
//!     revealed: prompt.revealed,
//!     tokens_full_prompt: prompt.tokens.full_prompt as u64,
//! };
//! let outcome = run(&Offline, &tools, &catalog, task, Limits::default(), &Default::default(), &|_| ()).await;
//! assert!(outcome.plan.verification.ok);
//! assert_eq!(outcome.plan.discovered_context.tables, ["orders.orders"]);
//! # Ok(()) }
//! ```
//!
//! What it is not: it knows no provider and no data source, and it prints nothing.

pub mod ask;
mod budget;
pub mod event;
pub mod extraction;
pub mod goal;
mod history;
mod instructions;
mod mend;
mod parse;
pub mod plan;
mod rounds;
mod run;
pub mod session;
mod spans;
pub mod verify;

pub use budget::Limits;
pub use instructions::INSTRUCTIONS;
pub use prospector_llm::purpose::Mode;
pub use run::{Outcome, Task, Tools, run};
