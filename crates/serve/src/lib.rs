//! Serves the tools of a catalog over MCP, over HTTP with live events, and on a web page that shows how a question is answered.
//!
//! ```
//! use std::sync::Arc;
//!
//! use prospector_agent::Models;
//! use prospector_discovery::{Catalog, CatalogOptions, Profile};
//! use prospector_offline::Offline;
//! use prospector_serve::{Opened, Options, Server};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("catalog.yaml");
//! std::fs::write(folder.path().join("orders.csv"), "order_id,country,total\n1,PT,9.50\n")?;
//! std::fs::write(&file, "databases:\n- path: orders.csv\n")?;
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let open = move |fresh, cancel| -> Opened {
//!     let opened = Catalog::open(&file, CatalogOptions { fresh, cancel, ..CatalogOptions::default() });
//!     tokio::runtime::Handle::current().block_on(opened).map_err(Into::into)
//! };
//! let models = Models::from(Arc::new(Offline));
//! let server = Server::open(open, Profile::DEFAULT, models, Options::default()).await?;
//! let listener = server.bind(([127, 0, 0, 1], 0).into()).await?;
//! println!("http://{}", listener.local_addr()?);
//! # let stop = tokio_util::sync::CancellationToken::new();
//! # stop.cancel();
//! server.http(listener, stop).await?;
//! # Ok(()) })
//! # }
//! ```
//!
//! Everything that a client creates (conversations, runs, results, MCP sessions, facts) belongs to its token and is invisible to every
//! other token.
//!
//! This crate makes no decisions of its own. The crates below it define what tools answer, what a plan is and what it costs; this crate
//! translates that into two protocols, with limits, and stores results for later requests.

mod app_page;
mod assets;
mod catalog;
mod changes;
mod conversations;
mod diagram;
mod drawing;
pub mod error;
mod examples;
mod execution;
mod handles;
mod http;
mod links;
mod listing;
mod live_workflows;
mod mcp;
mod memory;
mod metrics;
mod objection;
mod offered;
mod options;
mod pages;
mod proposal;
mod query_sessions;
mod question;
mod requester;
mod results;
mod rows;
mod run;
mod runs;
mod server;
mod sessions;
mod shared;
mod shares;
mod tokens;
mod view;
mod workflows;

pub use catalog::Opened;
pub use error::ServeError;
pub use http::{ROUTES, Route};
pub use offered::OfferedWorkflow;
pub use options::{Limits, Options};
pub use server::Server;
pub use tokens::Tokens;
