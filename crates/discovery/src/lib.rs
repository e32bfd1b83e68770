//! The catalog, the registry of discovery tools, and the prompt builder.
//!
//! ```
//! use prospector_discovery::{Catalog, CatalogOptions, DiscoveryTools, Profile};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("catalog.yaml");
//! std::fs::write(folder.path().join("orders.csv"), "id,total\n1,9.50\n2,12.00\n")?;
//! std::fs::write(&file, "databases:\n- path: orders.csv\n")?;
//!
//! let (catalog, problems) = Catalog::open(&file, CatalogOptions::default()).await?;
//! assert!(problems.is_empty());
//! let tools = DiscoveryTools::new(&catalog, Profile::DEFAULT);
//! let answer = tools.call("list", serde_json::json!({"of": "orders"})).await?;
//! assert_eq!(answer.json()[0]["row_count"], 2);
//! # Ok(()) }
//! ```
//!
//! What it is not: it asks no model. It builds what a model is told, and calls what a model asks for.

mod catalog;
mod compact;
mod evidence;
mod piece;
mod profile;
mod prompt;
mod target;
mod tools;

pub use catalog::{
    Catalog, CatalogError, CatalogOptions, Environment, StateReport, check_state, discard_damaged, has_errors,
};
pub use compact::{ROUTES, Route};
pub use profile::Profile;
pub use prospector_facts::Keeping;

/// What whoever runs the program does about facts: look at all of them, approve those that wait, remove any.
pub mod review {
    pub use prospector_facts::{
        FactError,
        review::{Review, ReviewedFact},
    };
}
pub use prompt::{Instructions, Prompt, PromptBuilder, PromptForm, PromptTokens};
pub use tools::DiscoveryTools;
