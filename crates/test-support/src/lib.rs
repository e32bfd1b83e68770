//! Shared test support: a fake of the model providers, a scripted MCP server, and the servers that `.ci/services` starts. It is only used as
//! a dev-dependency.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

pub mod mcp;
pub mod provider;
mod server;

#[cfg(feature = "mongodb")]
pub use mongodb;
#[cfg(feature = "otlp")]
pub use {opentelemetry_proto, prost};

pub use server::server;
