//! The tests of the server, in one binary, so that it is linked once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod apps;
mod busy;
mod changes;
mod damage;
mod elicitation;
mod explore;
mod http;
#[path = "../../../reconcile/tests/support/ledger.rs"]
mod ledger;
mod limits;
mod links;
mod mcp;
mod owners;
mod panics;
mod planted;
mod queries;
mod redaction;
mod refusals;
mod reload;
mod support;
mod workflows;
