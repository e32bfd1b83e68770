//! Errors of the server, and the single form of every refusal.

use std::{net::SocketAddr, path::PathBuf};

use prospector_core::tool::{ToolError, ToolErrorCode};
use prospector_discovery::CatalogError;
use serde_json::{Value, json};

/// Minimum length of a token, so that it cannot be guessed.
pub(crate) const MIN_TOKEN_CHARS: usize = 16;

/// The server could not start, or a connection over pipes failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The catalog could not be opened.
    #[error(transparent)]
    Catalog(#[from] OpenError),
    /// The address is reachable from other machines, and no token is set.
    #[error("{address} is reachable from other machines, but no token is set")]
    Unguarded {
        /// The address.
        address: SocketAddr,
    },
    /// The server cannot listen on the address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file of tokens cannot be used.
    #[error("cannot use the token file {}: {reason}", path.display())]
    Tokens {
        /// The token file.
        path: PathBuf,
        /// What is wrong with it.
        reason: TokensError,
    },
    /// The client on a pipe did not speak the protocol.
    #[error("the client did not speak MCP: {0}")]
    Protocol(String),
}

/// The catalog could not be opened or reopened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The catalog itself cannot be used.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// It cannot be used; the text comes from the program that opens it.
    #[error("{0}")]
    Program(Box<dyn std::error::Error + Send + Sync>),
    /// The catalog changed while it was opened; opening starts again.
    #[error("the catalog changed while it was being opened")]
    Superseded,
    /// The thread that opened it stopped without a result.
    #[error("the thread that opened the catalog stopped without a result")]
    GivenUp,
}

/// An invalid token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is short enough to be guessed.
    #[error("a token needs at least {MIN_TOKEN_CHARS} characters; generate one with `openssl rand -hex 32`")]
    TooShort,
    /// It contains characters that a header cannot.
    #[error("a token consists of letters, digits and punctuation, without spaces")]
    Characters,
    /// The stored hash is malformed.
    #[error("malformed SHA-256 hash")]
    Hash,
}

/// An invalid token file.
#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// A line contains no valid token. The message does not quote the line.
    #[error("line {line}: {source}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: TokenError,
    },
    /// It contains no token.
    #[error("it contains no token")]
    Empty,
}

/// Why a request is refused, as a stable code for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalCode {
    /// The code of a failed tool.
    Tool(ToolErrorCode),
    /// The request is not valid HTTP, or its body is not valid JSON.
    BadRequest,
    /// The run was cancelled.
    Cancelled,
    /// The server is shutting down.
    Closing,
    /// The object is in use by another operation.
    Conflict,
    /// The handle has expired.
    Expired,
    /// The server was called by an unknown host name or from an unknown origin.
    Forbidden,
    /// A defect of the server.
    Internal,
    /// The route does not support that method.
    MethodNotAllowed,
    /// A limit of the whole server is reached.
    Overloaded,
    /// The provider of the model failed.
    ProviderFailed,
    /// Sending the body took too long.
    RequestTimeout,
    /// A limit per owner or per address is reached.
    TooManyRequests,
    /// The token is missing or wrong.
    Unauthorized,
    /// The media type of the body is not JSON.
    UnsupportedMediaType,
}

impl RefusalCode {
    /// Returns the code as it appears in responses, metrics and events.
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

/// A refused request: what is wrong, and what to do. Tools and routes report failures in this form.
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

    /// The arguments of a request are invalid.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Refusal::new(ToolErrorCode::InvalidArguments, message)
    }

    /// The object does not exist, or belongs to another owner.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Refusal::new(ToolErrorCode::NotFound, message)
    }

    /// A service is temporarily unavailable.
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

/// Converts what a caller may see of a tool's failure; the rest is logged.
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
