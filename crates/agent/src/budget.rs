//! The limits of a run, and its use of them.

use std::{collections::HashMap, time::Duration};

/// The limits of one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Rounds with the model; before the last one the model is asked to finish.
    pub rounds: u32,
    /// Tool calls.
    pub calls: u32,
    /// Maximum number of concurrent calls in a round.
    pub calls_at_once: u32,
    /// Failed calls of one tool after which further calls are refused. Its definition stays in the request, because a changed list of tools
    /// would invalidate the provider's cache.
    pub failures_per_tool: u32,
    /// Maximum tokens of the conversation, including prompt and tools; beyond it, old results are shortened to their names. It leaves room
    /// in the model's context for the output.
    pub context_tokens: u32,
    /// Maximum output tokens per round.
    pub output_tokens: u32,
    /// The time limit of one tool call.
    pub call_time: Duration,
    /// The time limit of the run; after 80 % of it, the model is asked to finish.
    pub run_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            rounds: 10,
            calls: 15,
            calls_at_once: 32,
            failures_per_tool: 3,
            context_tokens: Limits::context_of(32_768),
            output_tokens: 4_096,
            call_time: Duration::from_secs(60),
            run_time: Duration::from_secs(900),
        }
    }
}

impl Limits {
    /// Returns the default limits of an answer: more rounds and calls than for a plan, since it runs queries.
    pub fn of_answers() -> Self {
        Limits { rounds: 12, calls: 40, ..Limits::default() }
    }

    /// Returns the `context_tokens` for a model with this context: three quarters, since other tokenizers may count more tokens, and the
    /// output has to fit.
    pub fn context_of(context: u32) -> u32 {
        context / 4 * 3
    }

    /// Adapts the limits to a model with this context. The output is limited to a quarter of it.
    pub fn of_context(self, context: u32) -> Self {
        Limits {
            context_tokens: Limits::context_of(context),
            output_tokens: self.output_tokens.min(context / 4),
            ..self
        }
    }
}

/// Counts calls and failures.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    calls: u32,
    failures: HashMap<String, u32>,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Budget { limits, calls: 0, failures: HashMap::new() }
    }

    /// Counts one call; returns `false` if no calls are left.
    pub(crate) fn take_call(&mut self) -> bool {
        let left = self.calls < self.limits.calls;
        self.calls += u32::from(left);
        left
    }

    pub(crate) fn calls(&self) -> u32 {
        self.calls
    }

    pub(crate) fn calls_left(&self) -> u32 {
        self.limits.calls - self.calls
    }

    pub(crate) fn count_failure(&mut self, tool: &str) {
        *self.failures.entry(tool.to_owned()).or_insert(0) += 1;
    }

    /// Returns whether a tool has reached its limit of failures.
    pub(crate) fn is_out(&self, tool: &str) -> bool {
        self.failures.get(tool).is_some_and(|failures| *failures >= self.limits.failures_per_tool)
    }
}
