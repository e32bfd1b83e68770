//! Queries through the engine: joins, subsets, queries that are built, what goes wrong, and what stops.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use prospector_engine::options::{EngineOptions, Limits};
use prospector_engine::{Engine, Source};

#[path = "run/budgets.rs"]
mod budgets;
#[path = "run/built.rs"]
mod built;
#[path = "run/joined.rs"]
mod joined;
#[path = "run/large.rs"]
mod large;
#[path = "support/recorder.rs"]
mod recorder;
#[path = "run/scoped.rs"]
mod scoped;
#[path = "run/servers.rs"]
mod servers;
mod support;
#[path = "run/tables.rs"]
mod tables;
#[path = "run/warehouse.rs"]
mod warehouse;
#[path = "run/wrong.rs"]
mod wrong;

/// An engine that computes in this process.
fn over(sources: Vec<Source>) -> Arc<Engine> {
    Engine::new(sources)
}

/// The same with limits of its own.
fn limited(sources: Vec<Source>, limits: Limits) -> Arc<Engine> {
    Engine::with(sources, EngineOptions { limits, ..EngineOptions::default() })
}
