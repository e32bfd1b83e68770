//! Client of MCP servers: starts them or connects to them, lists tools, resources and prompts, and calls tools.
//!
//! A [`Server`] is reached by a command (stdio) or a URL (streamable HTTP, or HTTP+SSE), in the current protocol version or an older one.
//! [`ServerSessions`] keep its session when the catalog is opened again. Nothing that a server says is trusted: lists,
//! definitions and results have size limits, the definition of each tool is pinned by its hash at
//! first use ([`Record`]), and a changed definition is quarantined until it is approved. Arguments are validated against the pinned
//! schema before a call. A child process gets only the environment variables that its [`spec::Command`] names. A server with [`spec::OAuth`]
//! is signed in to with [`Server::login`]; its tokens are in private files, and every endpoint is subject to the policy of the server.
//!
//! ```
//! use prospector_mcp::Definition;
//! use serde_json::json;
//!
//! let tool = json!({"name": "echo", "inputSchema": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}});
//! let echo = Definition::new(tool).unwrap();
//! assert!(echo.check(&json!({"text": "hello"})).is_ok());
//! let error = echo.check(&json!({"text": 7})).unwrap_err();
//! assert_eq!(error.to_string(), "`echo`: `text` must be string, not integer");
//! ```
//!
//! This crate does not depend on the catalog: names, permissions and the index belong to `prospector-discovery`.

mod answer;
mod connection;
mod definition;
mod error;
mod http;
pub mod import;
pub mod listing;
mod oauth;
mod process;
mod record;
mod running;
mod schema;
mod server;
mod sessions;
pub mod spec;

pub use answer::ToolResult;
pub use definition::Definition;
pub use error::McpError;
pub use record::Record;
pub use server::Server;
pub use sessions::ServerSessions;
