//! Options of the server.

use std::{path::PathBuf, time::Duration};

use prospector_agent::Models;

use crate::{Tokens, offered::OfferedWorkflow};

/// Server options: authorization, host names and limits.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Accepted tokens; without tokens, every client on this machine is accepted.
    pub tokens: Tokens,
    /// Accepted values of `Host`, in addition to `localhost` and plain addresses.
    pub hosts: Vec<String>,
    /// Origins of other pages that may call the server, as a browser writes them: `https://desk.example`.
    pub origins: Vec<String>,
    /// Where conversations are stored; if absent, they are not stored.
    pub state: Option<PathBuf>,
    /// The workflows that clients may start. Their records are stored in the state folder too.
    pub workflows: Vec<OfferedWorkflow>,
    /// Further models that a question may name. Other models are never called.
    pub models: Vec<Models>,
    /// Whether a conversation can be shared by a link with every authorized client.
    pub shares_links: bool,
    /// Limits on concurrency, sizes and times.
    pub limits: Limits,
}

/// Limits on concurrency, sizes and times. None is zero.
///
/// A token identifies an owner. Limits per owner (`..._per_owner`) keep one owner from using up the shared limit; the default is half
/// of the shared limit, or all of it if there is one owner.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Number of connections. At the limit, the connection that has waited longest for a request is evicted.
    pub connections: usize,
    /// Number of connections from one address or IPv6 network (/64); by default half of all. Behind a proxy, from which all connections
    /// come, set it to the number of connections.
    pub connections_per_address: Option<usize>,
    /// Number of additional connections that are reserved for health checks; other requests are refused there.
    pub health_connections: usize,
    /// Number of concurrent requests; more are refused with 503.
    pub requests: usize,
    /// Number of concurrent requests per owner, until their responses are sent; more are refused with 429.
    pub requests_per_owner: Option<usize>,
    /// Number of open event streams per owner, including those of MCP; more are refused with 429.
    pub streams_per_owner: usize,
    /// Number of concurrent plans and answers; more are refused with 429.
    pub runs: usize,
    /// The same per owner; more are refused with 429.
    pub runs_per_owner: Option<usize>,
    /// Number of open MCP sessions, and of open query sessions over HTTP; more are refused with 503.
    pub sessions: usize,
    /// The same per owner; more are refused with 429.
    pub sessions_per_owner: Option<usize>,
    /// Idle time after which a session whose client does not listen is closed.
    pub session_idle: Duration,
    /// Size of a request's body, in bytes.
    pub body_bytes: usize,
    /// Estimated memory of all requests with bodies, in bytes; more are refused with 503.
    pub request_memory: usize,
    /// The same per owner; more are refused with 429.
    pub request_memory_per_owner: Option<usize>,
    /// Time to send the head of a request, or to start the next one.
    pub head_time: Duration,
    /// Time to send the body.
    pub body_time: Duration,
    /// Time limit of a tool call.
    pub call_time: Duration,
    /// Time limit of a plan or an answer, which is then cancelled.
    pub run_time: Duration,
    /// Time limit of a workflow turn, which is then cancelled and discarded.
    pub turn_time: Duration,
    /// Limit on model rounds that a request may ask for; if absent, the agent's default.
    pub rounds: Option<u32>,
    /// The same for tool calls.
    pub calls: Option<u32>,
    /// Number of tool calls of a round that run in parallel; if absent, the agent's default.
    pub calls_at_once: Option<u32>,
    /// How long a plan or an answer continues without a follower, so that a page can be reloaded.
    pub linger: Duration,
    /// Interval of keep-alive messages on streams.
    pub heartbeat: Duration,
    /// Lifetime of a handle.
    pub handle_life: Duration,
    /// Number of stored plans and answers, and of stored long results; at the limit, the oldest of the owner with the most is removed.
    pub handles: usize,
    /// How long running work may continue after the server is asked to stop.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 1_024,
            connections_per_address: None,
            health_connections: 32,
            requests: 512,
            requests_per_owner: None,
            streams_per_owner: 256,
            runs: 256,
            runs_per_owner: None,
            sessions: 512,
            sessions_per_owner: None,
            session_idle: Duration::from_secs(300),
            body_bytes: 1024 * 1024,
            request_memory: 1024 * 1024 * 1024,
            request_memory_per_owner: None,
            head_time: Duration::from_secs(15),
            body_time: Duration::from_secs(15),
            call_time: Duration::from_secs(60),
            run_time: Duration::from_secs(300),
            turn_time: Duration::from_secs(1_800),
            rounds: None,
            calls: None,
            calls_at_once: None,
            linger: Duration::from_secs(10),
            heartbeat: Duration::from_secs(15),
            handle_life: Duration::from_secs(30 * 60),
            handles: 500,
            grace: Duration::from_secs(10),
        }
    }
}

/// A limit that owners share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limited {
    Requests,
    Runs,
    Sessions,
    /// In bytes.
    Memory,
}

impl Limits {
    /// Returns the share of one owner if there are `owners`.
    pub(crate) fn share(&self, of: Limited, owners: usize) -> usize {
        let (all, given) = match of {
            Limited::Requests => (self.requests, self.requests_per_owner),
            Limited::Runs => (self.runs, self.runs_per_owner),
            Limited::Sessions => (self.sessions, self.sessions_per_owner),
            Limited::Memory => (self.request_memory, self.request_memory_per_owner),
        };
        given.unwrap_or(if owners > 1 { all.div_ceil(2) } else { all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_owners_has_half_unless_it_is_said_otherwise() {
        let check = |given: Option<usize>, owners: usize, expected: usize| {
            let limits = Limits { runs: 9, runs_per_owner: given, ..Limits::default() };
            assert_eq!(limits.share(Limited::Runs, owners), expected);
        };
        check(None, 1, 9);
        check(None, 2, 5);
        check(Some(3), 1, 3);
        check(Some(3), 7, 3);
    }
}
