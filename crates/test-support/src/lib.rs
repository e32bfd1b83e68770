//! What tests of several crates share: a stand-in for the providers of models, a scripted MCP server, and the servers that `.ci/services` starts.
//! Crates name this one as a dev-dependency and no other way.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[cfg(feature = "ballista")]
pub mod ballista;
pub mod mcp;
pub mod provider;
mod server;

#[cfg(feature = "mongodb")]
pub use mongodb;
#[cfg(feature = "otlp")]
pub use {opentelemetry_proto, prost};

pub use server::server;
