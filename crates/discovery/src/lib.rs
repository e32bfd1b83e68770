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
mod environment;
pub mod locate;
mod paths;
mod piece;
mod profile;
pub mod prompt;
mod search_all;
mod target;
mod tools;

pub use catalog::{Catalog, CatalogError, CatalogOptions, CatalogSource, has_errors};
pub use profile::Profile;
pub use tools::DiscoveryTools;

/// Changes to the text of a catalog, which keep what somebody wrote.
pub mod edit {
    pub use crate::catalog::edit::{EditError, add_entry, write_file};
}

/// How the sources of a catalog are.
pub mod health {
    pub use crate::catalog::health::SourceHealth;
}

/// The JSON Schema of a catalog file, for editors.
pub mod file_schema {
    pub use crate::catalog::file_schema::{FILE, text, write};
}

/// How the compact profile reaches what each tool of the full one reaches.
pub mod routes {
    pub use crate::compact::{ROUTES, Route};
}

/// The state folder: whether its files are whole, and what may be done about those that are not.
pub mod state {
    pub use crate::catalog::state::{StateReport, check, discard_damaged};
}

/// Facts as whoever runs the program sees them: whose they are, all of them, those that wait for approval.
pub mod review {
    pub use prospector_facts::{
        FactError,
        model::Keeping,
        review::{Review, ReviewedFact},
    };
}
