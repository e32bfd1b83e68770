//! Why a server could not be used.

use prospector_core::{mark::clean, problem::conceal};
use prospector_fetch::FetchError;

/// Characters of a server's own text that a message repeats.
const MAX_REPEATED: usize = 300;

/// Why a server, or one of its tools, could not be used.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// The process could not be started.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// The program.
        program: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// No answer in time.
    #[error("{what} took longer than {seconds} s")]
    Timeout {
        /// What was waited for.
        what: &'static str,
        /// The limit.
        seconds: u64,
    },
    /// No protocol version in common, or something other than MCP.
    #[error("the handshake failed: {reason}")]
    Handshake {
        /// The reason, sanitized.
        reason: String,
    },
    /// The server ended, or sent more than the limit.
    #[error("the connection was closed{}", after(said))]
    Closed {
        /// The end of its standard error, sanitized.
        said: String,
    },
    /// The server answered with an error.
    #[error("the server answered with an error: {message}")]
    Refused {
        /// Its message, sanitized.
        message: String,
    },
    /// The tool reports that it failed.
    #[error("the tool failed: {message}")]
    Tool {
        /// Its message, sanitized.
        message: String,
    },
    /// The server requires credentials, or rejects those that it got.
    #[error("the server rejects the credentials (HTTP {status})")]
    Unauthorized {
        /// 401 or 403.
        status: u16,
    },
    /// An HTTP request failed.
    #[error("the request failed: {reason}")]
    Http {
        /// The reason, sanitized.
        reason: String,
    },
    /// The structured content does not match the output schema.
    #[error("the result of `{tool}` does not match its output schema: {reason}")]
    Output {
        /// The tool.
        tool: String,
        /// What does not match, and where.
        reason: String,
    },
    /// The arguments do not match the schema.
    #[error("`{tool}`: {reason}")]
    Arguments {
        /// The tool.
        tool: String,
        /// What does not match, and where.
        reason: String,
    },
    /// The definition differs from the pinned one.
    #[error("the definition of `{tool}` changed since it was approved")]
    Changed {
        /// The tool.
        tool: String,
    },
    /// The server does not list the tool any more.
    #[error("the server does not list `{tool}` any more")]
    Gone {
        /// The tool.
        tool: String,
    },
    /// The result is larger than the limit.
    #[error("the result has {bytes} bytes; at most {limit} are read")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The result needs something that this client does not offer.
    #[error("the server asks for {what}, which is unsupported")]
    Unsupported {
        /// What it asks for.
        what: &'static str,
    },
    /// The server failed before and is not restarted yet.
    #[error("the server failed {failures} times in a row and is restarted in {seconds} s")]
    Backoff {
        /// Failures in a row.
        failures: u32,
        /// Seconds until the next attempt.
        seconds: u64,
    },
    /// The URL is not permitted or invalid.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// A definition cannot be used.
    #[error("{0}")]
    Definition(String),
}

fn after(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; its last output: {said}") }
}

/// A text of a server for a message: one line, limited, without what could be read as markup of data.
pub(crate) fn repeat(text: &str) -> String {
    clean(&conceal(text.trim()), MAX_REPEATED)
}

impl McpError {
    /// Whether the process or connection is unusable after it.
    pub(crate) fn breaks_connection(&self) -> bool {
        use McpError::{Backoff, Closed, Fetch, Handshake, Http, Start, Timeout, Unauthorized};
        matches!(
            self,
            Start { .. }
                | Timeout { .. }
                | Handshake { .. }
                | Closed { .. }
                | Backoff { .. }
                | Unauthorized { .. }
                | Http { .. }
                | Fetch(_)
        )
    }

    /// Returns the message for a model: without what the process wrote to its standard error, which may contain a secret.
    pub fn without_output(&self) -> String {
        match self {
            McpError::Closed { .. } => McpError::Closed { said: String::new() }.to_string(),
            other => other.to_string(),
        }
    }

    /// What to do about it.
    pub fn advice(&self) -> String {
        match self {
            McpError::Start { .. } => "check `command`, `folder` and the PATH".to_owned(),
            McpError::Timeout { .. } => "raise `timeout`, or check the server".to_owned(),
            McpError::Unauthorized { .. } => {
                "write `headers: ['Authorization: Bearer ${TOKEN}']` for the server, with a variable that contains a valid token"
                    .to_owned()
            }
            McpError::Http { .. } => "check `url`, then try again".to_owned(),
            McpError::Output { .. } => "report it to the author of the server".to_owned(),
            McpError::Handshake { .. } => "check that it is an MCP server over stdio or streamable HTTP".to_owned(),
            McpError::Closed { .. } | McpError::Backoff { .. } => "check the server, then try again".to_owned(),
            McpError::Refused { .. } | McpError::Tool { .. } => "correct the arguments, or try another tool".to_owned(),
            McpError::Arguments { .. } => "describe the operation to see its parameters".to_owned(),
            McpError::Changed { .. } => "the operator approves the difference with `planner sources review`".to_owned(),
            McpError::Gone { .. } => "run `planner refresh`".to_owned(),
            McpError::TooLarge { .. } => "ask for less with its arguments".to_owned(),
            McpError::Unsupported { .. } => "use another tool".to_owned(),
            McpError::Fetch(error) => error.advice(),
            McpError::Definition(_) => "report it to the author of the server".to_owned(),
        }
    }
}
