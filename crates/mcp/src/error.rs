//! Errors of servers and their tools.

use prospector_core::{
    mark::clean,
    problem::{causes, conceal},
};
use prospector_fetch::FetchError;

/// Maximum characters of a server's text in a message.
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
    /// The server did not respond in time.
    #[error("{what} took longer than {seconds} s")]
    Timeout {
        /// The operation that timed out.
        what: &'static str,
        /// The time limit in seconds.
        seconds: u64,
    },
    /// The server supports no common protocol version, or does not speak MCP.
    #[error("the handshake failed: {reason}")]
    Handshake {
        /// The reason, sanitized.
        reason: String,
    },
    /// The server exited, or sent more than the limit.
    #[error("the connection was closed{}", after(said))]
    Closed {
        /// Last line of its standard error, sanitized.
        said: String,
    },
    /// The server returned an error.
    #[error("the server answered with an error: {message}")]
    Refused {
        /// Its message, sanitized.
        message: String,
    },
    /// The tool reported a failure.
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
        /// The name of the server if it has OAuth, so that signing in helps.
        login: Option<String>,
    },
    /// The user could not sign in with OAuth, or the tokens could not be refreshed.
    #[error("the sign-in failed: {reason}")]
    SignIn {
        /// The reason, sanitized.
        reason: String,
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
        /// Path and reason of the mismatch.
        reason: String,
    },
    /// The definition differs from the pinned one.
    #[error("the definition of `{tool}` changed since it was approved")]
    Changed {
        /// The tool.
        tool: String,
    },
    /// The server no longer lists the tool.
    #[error("the server no longer lists `{tool}`")]
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
    /// The server requests, or the result contains, something that this client does not support.
    #[error("unsupported by this client: {what}")]
    Unsupported {
        /// The unsupported request or content.
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

/// Sanitizes a text of a server for a message: one line, limited, without markup of untrusted data.
pub(crate) fn repeat(text: &str) -> String {
    clean(&conceal(text.trim()), MAX_REPEATED)
}

/// Returns the causes of a failed HTTP request, sanitized, without the URL, which may contain a secret.
pub(crate) fn explain_request(error: reqwest::Error) -> String {
    repeat(&causes(&error.without_url()))
}

impl McpError {
    /// Returns whether the process or connection is unusable after this error.
    pub(crate) fn breaks_connection(&self) -> bool {
        use McpError::{Backoff, Closed, Fetch, Handshake, Http, SignIn, Start, Timeout, Unauthorized};
        matches!(
            self,
            Start { .. }
                | Timeout { .. }
                | Handshake { .. }
                | Closed { .. }
                | Backoff { .. }
                | Unauthorized { .. }
                | SignIn { .. }
                | Http { .. }
                | Fetch(_)
        )
    }

    /// Returns the message for a model: without the standard error of the process, which may contain a secret.
    pub fn without_output(&self) -> String {
        match self {
            McpError::Closed { .. } => McpError::Closed { said: String::new() }.to_string(),
            other => other.to_string(),
        }
    }

    /// Returns how to fix it.
    pub fn advice(&self) -> String {
        match self {
            McpError::Start { .. } => "check `command`, `folder` and the PATH".to_owned(),
            McpError::Timeout { .. } => "raise `timeout`, or check the server".to_owned(),
            McpError::Unauthorized { login: Some(server), .. } => format!("run `planner sources login {server}`"),
            McpError::Unauthorized { login: None, .. } => {
                "write `headers: ['Authorization: Bearer ${TOKEN}']` for the server, with a variable that contains a valid token"
                    .to_owned()
            }
            McpError::SignIn { .. } => "check the reason with the provider, then sign in again".to_owned(),
            McpError::Http { .. } => "check `url`, then try again".to_owned(),
            McpError::Output { .. } => "report it to the author of the server".to_owned(),
            McpError::Handshake { .. } => "check that it is an MCP server over stdio or streamable HTTP".to_owned(),
            McpError::Closed { .. } | McpError::Backoff { .. } => "check the server, then try again".to_owned(),
            McpError::Refused { .. } | McpError::Tool { .. } => "correct the arguments, or try another tool".to_owned(),
            McpError::Arguments { .. } => "describe the operation to see its parameters".to_owned(),
            McpError::Changed { .. } => "the operator approves the difference with `planner sources review`".to_owned(),
            McpError::Gone { .. } => "run `planner refresh`".to_owned(),
            McpError::TooLarge { .. } => "request less data with its arguments".to_owned(),
            McpError::Unsupported { .. } => "use another tool".to_owned(),
            McpError::Fetch(error) => error.advice(),
            McpError::Definition(_) => "report it to the author of the server".to_owned(),
        }
    }
}
