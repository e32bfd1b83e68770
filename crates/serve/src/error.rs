//! Why nothing can be served, and the one shape of every refusal.

use std::{net::SocketAddr, path::PathBuf};

use prospector_core::tool::{ToolError, ToolErrorCode};
use prospector_discovery::CatalogError;
use serde_json::{Value, json};

/// A token that can be guessed guards nothing.
pub(crate) const MIN_TOKEN_CHARS: usize = 16;

/// The server could not be started, or a connection over pipes failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The catalog could not be opened.
    #[error(transparent)]
    Catalog(#[from] OpenError),
    /// It would be reachable from elsewhere, and anyone could use it.
    #[error("{address} can be reached from other machines, and no token is set")]
    Unguarded {
        /// Where it should have listened.
        address: SocketAddr,
    },
    /// The address could not be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The file of tokens could not be used.
    #[error("cannot use the tokens of {}: {reason}", path.display())]
    Tokens {
        /// The file of tokens.
        path: PathBuf,
        /// What is wrong with it.
        reason: TokensError,
    },
    /// The other side of a pipe did not speak the protocol.
    #[error("the client did not speak MCP: {0}")]
    Protocol(String),
}

/// The catalog could not be opened, or not again.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The catalog itself cannot be used.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// It cannot be used, in the words of the program that opens it.
    #[error("{0}")]
    Program(Box<dyn std::error::Error + Send + Sync>),
    /// The catalog changed while it was opened: it is opened again from the beginning.
    #[error("the catalog changed while it was opened")]
    Superseded,
    /// The thread that opened it ended without a result.
    #[error("opening the catalog was given up")]
    GivenUp,
}

/// What is wrong with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It could be guessed.
    #[error("a token has at least {MIN_TOKEN_CHARS} characters: `openssl rand -hex 32` makes one")]
    TooShort,
    /// It holds what no header can.
    #[error("a token holds letters, digits and signs, and no spaces")]
    Characters,
    /// What stands for its hash is none.
    #[error("no SHA-256 hash")]
    Hash,
}

/// What is wrong with a file of tokens.
#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// A line holds no token. What stands there is not said.
    #[error("line {line}: {source}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: TokenError,
    },
    /// It holds no token at all.
    #[error("there is none in it")]
    Empty,
}

/// Why a request is not served, as a stable word for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalCode {
    /// As a tool that fails says it.
    Tool(ToolErrorCode),
    /// The request is none of HTTP, or its body none of JSON.
    BadRequest,
    /// The run was cancelled.
    Cancelled,
    /// The server is shutting down.
    Closing,
    /// Something else is being done with it.
    Conflict,
    /// The handle was good once.
    Expired,
    /// The server is called by a wrong name, or from a wrong page.
    Forbidden,
    /// A defect of the server.
    Internal,
    /// The route does not take that method.
    MethodNotAllowed,
    /// All of the server is in use.
    Overloaded,
    /// The provider of the model failed.
    ProviderFailed,
    /// The body took too long.
    RequestTimeout,
    /// This owner, or this address, has as much as one may have.
    TooManyRequests,
    /// There is no token, or a wrong one.
    Unauthorized,
    /// The body is not of JSON.
    UnsupportedMediaType,
}

impl RefusalCode {
    /// The word of an answer, of a metric and of an event.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            RefusalCode::Tool(code) => code.as_str(),
            RefusalCode::BadRequest => "bad_request",
            RefusalCode::Cancelled => "cancelled",
            RefusalCode::Closing => "closing",
            RefusalCode::Conflict => "conflict",
            RefusalCode::Expired => "expired",
            RefusalCode::Forbidden => "forbidden",
            RefusalCode::Internal => "internal",
            RefusalCode::MethodNotAllowed => "method_not_allowed",
            RefusalCode::Overloaded => "overloaded",
            RefusalCode::ProviderFailed => "provider_failed",
            RefusalCode::RequestTimeout => "request_timeout",
            RefusalCode::TooManyRequests => "too_many_requests",
            RefusalCode::Unauthorized => "unauthorized",
            RefusalCode::UnsupportedMediaType => "unsupported_media_type",
        }
    }
}

impl From<ToolErrorCode> for RefusalCode {
    fn from(code: ToolErrorCode) -> Self {
        RefusalCode::Tool(code)
    }
}

/// A request that is not served: what is wrong, and what to do. It is what a tool answers that fails, whatever refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: RefusalCode,
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
}

impl Refusal {
    pub(crate) fn new(code: impl Into<RefusalCode>, message: impl Into<String>) -> Self {
        Refusal { code: code.into(), message: message.into(), suggestion: None }
    }

    /// The arguments of a request cannot be used.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Refusal::new(ToolErrorCode::InvalidArguments, message)
    }

    /// There is no such thing, or not for this owner.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Refusal::new(ToolErrorCode::NotFound, message)
    }

    /// What should work does not right now.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Refusal::new(ToolErrorCode::Unavailable, message)
    }

    pub(crate) fn advise(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// `{"error": code, "message", "suggestion"}`
    pub(crate) fn to_json(&self) -> Value {
        match &self.suggestion {
            Some(suggestion) => json!({"error": self.code.as_str(), "message": self.message, "suggestion": suggestion}),
            None => json!({"error": self.code.as_str(), "message": self.message}),
        }
    }
}

/// What a caller may know of a tool's failure; the rest is for the log.
impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Respond { code, message, suggestion } => Refusal { code: code.into(), message, suggestion },
            ToolError::Fatal { source } => {
                tracing::error!(%source, "a tool failed");
                Refusal::new(RefusalCode::Internal, "the tool failed")
            }
        }
    }
}
