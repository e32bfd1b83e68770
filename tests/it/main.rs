//! Tests of the `planner` binary, in one test binary to link only once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod ask;
#[cfg(target_os = "linux")]
mod attacks;
mod bad_input;
mod bench;
mod chat;
mod cli;
#[cfg(unix)]
mod facts;
mod first_minute;
#[path = "../../crates/reconcile/tests/support/ledger.rs"]
mod ledger;
mod mcp;
mod own_questions;
mod packages;
mod provider;
mod reconcile;
mod report;
#[cfg(unix)]
mod serve;
mod servers;
#[cfg(feature = "mongodb")]
mod sources;
mod sql;
mod state;
mod support;
#[cfg(feature = "otlp")]
mod telemetry;
mod terminal;
mod texts;
mod tools;
mod values;
#[cfg(target_os = "linux")]
mod workers;
