//! Why nothing can be served, and the one shape of every refusal.

use std::{net::SocketAddr, path::PathBuf};

use prospector_core::tool::ToolError;
use serde_json::{Value, json};

/// Nothing can be served, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The catalog could not be opened.
    #[error("{0}")]
    Catalog(String),
    /// It would be reachable from elsewhere, and anyone could use it.
    #[error("{address} can be reached from other machines, and no token is set")]
    Unguarded {
        /// Where it should have listened.
        address: SocketAddr,
    },
    /// The address could not be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The file of tokens could not be used.
    #[error("cannot use the tokens of {}: {reason}", path.display())]
    Tokens {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The other side of a pipe did not speak the protocol.
    #[error("the client did not speak MCP: {0}")]
    Protocol(String),
}

/// A request that is not served: what is wrong, and what to do. It is what a tool answers that fails, whatever refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// A stable word for programs.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
}

impl Refusal {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Refusal { code, message: message.into(), suggestion: None }
    }

    pub(crate) fn advise(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// `{"error": code, "message", "suggestion"}`
    pub(crate) fn to_json(&self) -> Value {
        match &self.suggestion {
            Some(suggestion) => json!({"error": self.code, "message": self.message, "suggestion": suggestion}),
            None => json!({"error": self.code, "message": self.message}),
        }
    }
}

/// What a caller may know of a tool's failure; the rest is for the log.
impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Respond { code, message, suggestion } => Refusal { code: code.as_str(), message, suggestion },
            ToolError::Fatal { source } => {
                tracing::error!(%source, "a tool failed");
                Refusal::new("internal", "the tool failed")
            }
        }
    }
}
