//! Queries through the engine: joins, subsets, built queries, failures and cancellation.

use std::sync::Arc;

use prospector_engine::options::{EngineOptions, Limits};
use prospector_engine::{Engine, Source};

mod arithmetic;
mod budgets;
mod built;
mod dotted;
mod fields;
mod joined;
mod large;
mod named;
mod scoped;
mod servers;
mod streamed;
mod structs;
pub(crate) mod tables;
mod warehouse;
mod wrong;

/// Creates an engine that computes in this process.
fn over(sources: Vec<Source>) -> Arc<Engine> {
    Engine::new(sources)
}

/// Creates an engine with limits.
fn limited(sources: Vec<Source>, limits: Limits) -> Arc<Engine> {
    Engine::with(sources, EngineOptions { limits, ..EngineOptions::default() })
}
