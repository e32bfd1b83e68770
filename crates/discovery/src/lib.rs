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
//! It calls no model: it builds prompts and runs the tool calls of a model.
//!
//! # Features
#![doc = document_features::document_features!()]

mod catalog;
mod compact;
mod environment;
mod locate;
mod paths;
mod piece;
mod profile;
pub mod prompt;
mod query_tools;
mod search_all;
mod target;
mod tools;

pub use catalog::{Catalog, CatalogError, CatalogOptions};
pub use profile::Profile;
pub use tools::DiscoveryTools;

/// Sources of a catalog: a file, or sources given on the command line; discovery of sources, and the generated text.
pub mod sources {
    pub use prospector_mcp::ServerSessions;

    pub use crate::{
        catalog::{
            CatalogSource,
            edit::{EditError, add_entry, write_file},
            included::find_included,
            mcp::review::{PartChange, ServerState, ToolChange, approve},
            proposed_joins::{ProposedJoin, ProposedJoins, declare_joins, propose_joins},
        },
        locate::{
            Address, ApiForm, Finding, FindingKind, LocateError, Secret, begin, locate, name_folder, surroundings,
        },
    };

    /// The JSON Schema of a catalog file, for editors.
    pub mod schema {
        pub use crate::catalog::file_schema::{FILE, text, write};
    }
}

/// The mapping of tools of the full profile to those of the compact one.
pub mod routes {
    pub use crate::compact::{ROUTES, Route};
}

/// The state folder and the sources: verification of files, removal of damaged ones, and health checks.
pub mod state {
    pub use crate::catalog::{
        health::SourceHealth,
        mcp::server_records,
        state::{StateReport, check, discard_damaged, folder},
    };
}

/// User-supplied definitions and verified queries, as the operator sees them, including those pending approval.
pub mod review {
    pub use prospector_facts::{
        FactError,
        model::Keeping,
        review::{Review, ReviewedFact},
    };
    pub use prospector_queries::{
        QueryError, VerifiedQueries, VerifiedQuery,
        model::{Parameter, QueryState},
        review::{AnswerQuery, Objection, Objections, Proposals},
    };
}
