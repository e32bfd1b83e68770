//! What whoever serves decides.

use std::{path::PathBuf, time::Duration};

use crate::Tokens;

/// What whoever serves decides.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Who may ask; anyone on this machine, where there are none.
    pub tokens: Tokens,
    /// Names, beside `localhost` and plain addresses, under which it may be reached: what `Host` may say.
    pub hosts: Vec<String>,
    /// Origins of other pages that may ask, as a browser writes them: `https://desk.example`.
    pub origins: Vec<String>,
    /// Where conversations are kept; nowhere, if it is not given.
    pub state: Option<PathBuf>,
    /// How much of everything.
    pub limits: Limits,
}

/// How much is served at once, and for how long. None of it is zero.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections; more wait to be accepted.
    pub connections: usize,
    /// Requests at once; more are refused with 503.
    pub requests: usize,
    /// Plans and answers at once; more are refused with 429.
    pub runs: usize,
    /// Sessions of MCP clients at once; more are refused with 503.
    pub sessions: usize,
    /// How long such a session lives when its client says nothing and does not listen.
    pub session_idle: Duration,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// How long a client may take to send the head of a request, or to begin the next one.
    pub head_time: Duration,
    /// How long it may take to send the body.
    pub body_time: Duration,
    /// How long a tool may take.
    pub call_time: Duration,
    /// How long a plan or an answer may take; then it is cancelled.
    pub run_time: Duration,
    /// How long a plan or an answer goes on when nobody follows it any more, so that a page can be reloaded.
    pub linger: Duration,
    /// How often a stream says that it is alive.
    pub heartbeat: Duration,
    /// How long a handle lives.
    pub handle_life: Duration,
    /// How many plans and answers are kept, and how many long results.
    pub handles: usize,
    /// How long what runs may go on when the server is told to stop.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 1_024,
            requests: 512,
            runs: 256,
            sessions: 512,
            session_idle: Duration::from_secs(300),
            body_bytes: 1024 * 1024,
            head_time: Duration::from_secs(15),
            body_time: Duration::from_secs(15),
            call_time: Duration::from_secs(60),
            run_time: Duration::from_secs(300),
            linger: Duration::from_secs(10),
            heartbeat: Duration::from_secs(15),
            handle_life: Duration::from_secs(30 * 60),
            handles: 500,
            grace: Duration::from_secs(10),
        }
    }
}
