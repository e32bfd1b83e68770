//! The end of a run, and its cost.

use std::collections::BTreeMap;

use prospector_llm::{message::Usage, models::model_info};
use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The goal was reached.
    #[default]
    Completed,
    /// The round limit was reached without a result.
    RoundLimit,
    /// Every tool call of several consecutive rounds failed.
    AllToolsFailed,
    /// The model gave no plan, even after correction.
    NoPlan,
    /// The model gave no answer, even after correction.
    NoAnswer,
    /// A phase failed, and its policy is to stop.
    Stopped,
    /// The time limit was reached.
    TimeLimit,
    /// The provider of the model failed.
    ProviderFailed,
    /// The user or the program cancelled the run.
    Cancelled,
}

impl Ended {
    /// Returns the reason as a phrase.
    pub fn reason(self) -> &'static str {
        match self {
            Ended::Completed => "it was completed",
            Ended::RoundLimit => "the round limit was reached",
            Ended::AllToolsFailed => "every tool call of the last rounds failed",
            Ended::NoPlan => "the model gave no plan",
            Ended::NoAnswer => "the model gave no answer",
            Ended::Stopped => "a phase failed",
            Ended::TimeLimit => "the time limit was reached",
            Ended::ProviderFailed => "the provider of the model failed",
            Ended::Cancelled => "it was cancelled",
        }
    }
}

/// Durations, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Durations {
    /// Waiting for the model.
    pub model: u64,
    /// Running tools.
    pub tools: u64,
    /// The whole run.
    pub total: u64,
}

/// The calls of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolMetrics {
    /// The number of calls that ran.
    pub calls: u32,
    /// The number of failed calls.
    pub failed: u32,
    /// Total duration in milliseconds; calls of one round run concurrently.
    pub milliseconds: u64,
}

/// How a round with the model ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundEnd {
    /// The run ended within the round.
    #[default]
    Stopped,
    /// Calls ran, and the model gets their results.
    Calls,
    /// Every call failed.
    AllToolsFailed,
    /// The result of the model was accepted.
    Result,
    /// The result of the model was returned for correction.
    SentBack,
    /// The result of the model was rejected.
    Unusable,
    /// The provider of the model failed.
    ProviderFailed,
}

/// A tool call in the record of a round.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CallRecord {
    /// The tool.
    pub tool: String,
    /// Whether it failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The size of the result for the model, in bytes.
    pub bytes: usize,
    /// Duration in milliseconds; calls of one round run concurrently.
    pub milliseconds: u64,
}

/// A round with the model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RoundRecord {
    /// The number of the round, from 1.
    pub number: u32,
    /// The calls that were made, in the order of the calls.
    pub calls: Vec<CallRecord>,
    /// The number of refused calls.
    #[serde(skip_serializing_if = "is_zero")]
    pub refused: u32,
    /// Tokens of its input, as the provider counted them.
    pub input_tokens: u64,
    /// Tokens of its output.
    pub output_tokens: u64,
    /// The duration of the model call, in milliseconds.
    pub milliseconds: u64,
    /// How it ended.
    pub ended: RoundEnd,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_not_positive(number: &f64) -> bool {
    *number <= 0.0
}

/// The cost of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Metrics {
    /// Rounds with the model.
    pub model_calls: u32,
    /// Executed tool calls.
    pub tool_calls: u32,
    /// Failed tool calls.
    pub failed_calls: u32,
    /// The calls of each tool.
    pub tools: BTreeMap<String, ToolMetrics>,
    /// Queries that ran; a call may run several.
    pub queries: u32,
    /// Failed queries.
    pub failed_queries: u32,
    /// Input tokens of all rounds, as the provider counted them (`offline`: o200k).
    pub input_tokens: u64,
    /// Output tokens of all rounds.
    pub output_tokens: u64,
    /// Input tokens from the cache of the provider.
    pub cached_tokens: u64,
    /// The cost of the tokens in US dollars; `None` if the price of a model is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_dollars: Option<f64>,
    /// Durations.
    pub durations_ms: Durations,
    /// Tokens of one prompt with all metadata of the catalog and no tools (o200k).
    pub tokens_full_prompt: u64,
    /// `1 - (input tokens + output tokens) / tokens_full_prompt` over all rounds. Negative where discovery costs more, as with small
    /// catalogs; 0 where the model reports no tokens. Serialized only if positive.
    #[serde(skip_serializing_if = "is_not_positive")]
    pub saved: f64,
    /// The rounds, in order.
    pub rounds: Vec<RoundRecord>,
}

/// Returns the price of tokens in US dollars, rounded to a millionth; `None` if the model has no known price.
pub(crate) fn cost_dollars(model: &str, usage: Usage) -> Option<f64> {
    let cost = model_info(model)?.cost(usage)?;
    Some((cost * 1e6).round() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn savings_are_serialized_only_if_positive() {
        let written = |saved: f64| serde_json::to_value(Metrics { saved, ..Metrics::default() }).unwrap_or_default();
        assert_eq!(written(0.5)["saved"], 0.5);
        for saved in [0.0, -2.7] {
            assert!(written(saved).get("saved").is_none(), "{saved}");
        }
    }
}
