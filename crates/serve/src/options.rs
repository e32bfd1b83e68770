//! What whoever serves decides.

use std::{path::PathBuf, time::Duration};

use prospector_agent::Models;

use crate::{Tokens, offered::OfferedWorkflow};

/// How a server is to serve: who may ask, under which names, and how much.
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
    /// The workflows that clients may begin. They are kept in the state folder too.
    pub workflows: Vec<OfferedWorkflow>,
    /// The models that a question may name, beside those of the server. No other model is asked.
    pub models: Vec<Models>,
    /// Whether a conversation can be shown to everyone who is let in, by a link.
    pub shares_links: bool,
    /// How much of everything.
    pub limits: Limits,
}

/// How much is served at once, and for how long. None of it is zero.
///
/// An owner is whoever a token stands for. What one owner may have at most (`..._per_owner`) keeps one from taking what all
/// have; where it is not given it is half of that, or all of it where there is one owner.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections. When there are more, the one that has waited longest for a request gives up its place.
    pub connections: usize,
    /// Those of them from one address, or from one network (/64) of version 6; half of them where it is not given. Behind a
    /// proxy, from which all connections come, as many as there are.
    pub connections_per_address: Option<usize>,
    /// Connections beside those, on which nothing but health is told; everything else is refused there.
    pub health_connections: usize,
    /// Requests at once; more are refused with 503.
    pub requests: usize,
    /// Those of one owner, until their answers have been sent; more are refused with 429.
    pub requests_per_owner: Option<usize>,
    /// Streams of events of one owner that are open at once, those of MCP among them; more are refused with 429.
    pub streams_per_owner: usize,
    /// Plans and answers at once; more are refused with 429.
    pub runs: usize,
    /// Those of one owner; more are refused with 429.
    pub runs_per_owner: Option<usize>,
    /// Sessions of MCP clients at once, and as many sessions of queries over HTTP; more are refused with 503.
    pub sessions: usize,
    /// Those of one owner; more are refused with 429.
    pub sessions_per_owner: Option<usize>,
    /// How long such a session lives when its client says nothing and does not listen.
    pub session_idle: Duration,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Bytes of memory that the requests with bodies may take together, as far as can be said before; more are refused with
    /// 503.
    pub request_memory: usize,
    /// Those of one owner; more are refused with 429.
    pub request_memory_per_owner: Option<usize>,
    /// How long a client may take to send the head of a request, or to begin the next one.
    pub head_time: Duration,
    /// How long it may take to send the body.
    pub body_time: Duration,
    /// How long a tool may take.
    pub call_time: Duration,
    /// How long a plan or an answer may take; then it is cancelled.
    pub run_time: Duration,
    /// How long a turn of a workflow may take; then it is cancelled, and counts as not taken.
    pub turn_time: Duration,
    /// Rounds with the model for a plan or an answer, which a request may ask for; what is usual, where it is not given.
    pub rounds: Option<u32>,
    /// The same for tool calls.
    pub calls: Option<u32>,
    /// How many calls of a round run at once; what is usual, where it is not given.
    pub calls_at_once: Option<u32>,
    /// How long a plan or an answer goes on when nobody follows it any more, so that a page can be reloaded.
    pub linger: Duration,
    /// How often a stream says that it is alive.
    pub heartbeat: Duration,
    /// How long a handle lives.
    pub handle_life: Duration,
    /// How many plans and answers are kept, and how many long results; when there are more, the oldest of the owner who has
    /// the most goes.
    pub handles: usize,
    /// How long what runs may go on when the server is told to stop.
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

/// What all have together, and one owner a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limited {
    Requests,
    Runs,
    Sessions,
    /// In bytes.
    Memory,
}

impl Limits {
    /// How much of it one of so many owners may have.
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
