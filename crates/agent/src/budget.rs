//! What a run may use, and what it has used.

use std::{collections::HashMap, time::Duration};

/// What one question may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Rounds with the model; one round before the end it is told to finish.
    pub rounds: u32,
    /// Tool calls.
    pub calls: u32,
    /// Calls of one round that run at the same time; the others wait for them.
    pub calls_at_once: u32,
    /// Failed calls of one tool, after which it is out: further calls are refused. Its definition stays in the request,
    /// because a changed list of tools would lose the provider's cache.
    pub failures_per_tool: u32,
    /// Tokens of the whole conversation, prompt and tools included, beyond which old results are shortened to the names in
    /// them. Less than the model's context by what it may answer.
    pub context_tokens: u32,
    /// Tokens that the model may answer in one round.
    pub output_tokens: u32,
    /// How long one tool call may take.
    pub call_time: Duration,
    /// How long all of it may take; when four fifths of it are over, the model is told to finish.
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
    /// What is usual for an answer: more rounds and calls than for a plan, since its queries come on top.
    pub fn of_answers() -> Self {
        Limits { rounds: 12, calls: 40, ..Limits::default() }
    }

    /// The `context_tokens` for a model of this context: three quarters, since other tokenizers than the one that is
    /// counted by need more, and the answer has to fit.
    pub fn context_of(context: u32) -> u32 {
        context / 4 * 3
    }

    /// The same limits for a model of this context, of which an answer may take a quarter at the most.
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

    /// Takes one call out of the budget; false when there is none left.
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

    /// Whether a tool has used up its failures.
    pub(crate) fn is_out(&self, tool: &str) -> bool {
        self.failures.get(tool).is_some_and(|failures| *failures >= self.limits.failures_per_tool)
    }
}
