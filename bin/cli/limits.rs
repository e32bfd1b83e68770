//! Limits on the cost of a question: the same flags and variables for every command that asks one.

use std::time::Duration;

use clap::Args;

/// The flags; an absent one is read from the environment.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct LimitArgs {
    /// Maximum number of rounds with the model [default: 10; for answers 12, for reconcile 30]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub(crate) max_rounds: Option<u32>,
    /// Maximum number of tool calls [default: 15; for answers 40, for reconcile 60]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) max_calls: Option<u32>,
    /// Maximum time in seconds [default: 900; for reconcile 1800, for serve and mcp 300]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) max_seconds: Option<u32>,
    /// Maximum number of parallel calls in a round [default: 32]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) calls_at_once: Option<u32>,
}

impl LimitArgs {
    /// Returns the time limit.
    pub(crate) fn run_time(&self) -> Option<Duration> {
        self.max_seconds.map(|seconds| Duration::from_secs(seconds.into()))
    }
}
