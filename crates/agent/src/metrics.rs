//! How a run ended, and what it cost.

use std::collections::BTreeMap;

use prospector_llm::{message::Usage, models::model_info};
use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The model gave what was asked of it.
    #[default]
    Completed,
    /// The rounds were used up before there was a plan.
    RoundLimit,
    /// Every tool call of a round failed, in a way that the model could not repair.
    AllToolsFailed,
    /// The model answered, but not with a plan, and not after being asked again.
    NoPlan,
    /// The same for an answer.
    NoAnswer,
    /// A phase failed, and its policy is to stop.
    Stopped,
    /// The time was used up.
    TimeLimit,
    /// The provider of the model failed.
    ProviderFailed,
    /// The user, or the program, cancelled.
    Cancelled,
}

impl Ended {
    /// The reason in a few words.
    pub fn reason(self) -> &'static str {
        match self {
            Ended::Completed => "it was completed",
            Ended::RoundLimit => "the rounds were used up",
            Ended::AllToolsFailed => "every tool call of a round failed",
            Ended::NoPlan => "the model gave no plan",
            Ended::NoAnswer => "the model gave no answer",
            Ended::Stopped => "a phase failed",
            Ended::TimeLimit => "the time was used up",
            Ended::ProviderFailed => "the provider of the model failed",
            Ended::Cancelled => "it was cancelled",
        }
    }
}

/// Where the time went, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Durations {
    /// Waiting for the model.
    pub model: u64,
    /// Running tools.
    pub tools: u64,
    /// The whole run.
    pub total: u64,
}

/// What the calls of one tool cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolMetrics {
    /// How often it ran.
    pub calls: u32,
    /// How often it failed.
    pub failed: u32,
    /// How long it took in all, in milliseconds; calls of one round run at once.
    pub milliseconds: u64,
}

/// How a round with the model ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundEnd {
    /// The run was stopped in it.
    #[default]
    Stopped,
    /// Calls were made, and the model is told what they gave.
    Calls,
    /// Every call failed.
    AllToolsFailed,
    /// The model gave its result, which holds.
    Result,
    /// The model gave a result that does not hold, and is asked again.
    SentBack,
    /// The model gave a result that does not hold, and is not asked again.
    Unusable,
    /// The provider of the model failed.
    ProviderFailed,
}

/// A call of a tool, as a round notes it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CallRecord {
    /// The tool.
    pub tool: String,
    /// Whether it failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The size of what the model was told, in bytes.
    pub bytes: usize,
    /// How long it took; calls of one round run at once.
    pub milliseconds: u64,
}

/// A round with the model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RoundRecord {
    /// Which one, from 1.
    pub number: u32,
    /// The calls that were made, in the order of the calls.
    pub calls: Vec<CallRecord>,
    /// How many calls were refused.
    #[serde(skip_serializing_if = "is_zero")]
    pub refused: u32,
    /// Tokens of its input, as the provider counted them.
    pub input_tokens: u64,
    /// Tokens of its output.
    pub output_tokens: u64,
    /// How long the model took.
    pub milliseconds: u64,
    /// How it ended.
    pub ended: RoundEnd,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What a run cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Metrics {
    /// Rounds with the model.
    pub model_calls: u32,
    /// Tool calls that ran.
    pub tool_calls: u32,
    /// Those of them that failed.
    #[serde(default)]
    pub failed_calls: u32,
    /// The calls of each tool.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolMetrics>,
    /// Queries that ran, one by one: a call may run several.
    #[serde(default)]
    pub queries: u32,
    /// Those of them that failed.
    #[serde(default)]
    pub failed_queries: u32,
    /// Input tokens of all rounds, as the provider counted them (`offline`: o200k).
    pub input_tokens: u64,
    /// Output tokens of all rounds.
    pub output_tokens: u64,
    /// Those of the input that came from the provider's cache.
    pub cached_tokens: u64,
    /// What the tokens cost in US dollars, by the prices that are known of the models; none where one has no known price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_dollars: Option<f64>,
    /// Where the time went.
    pub durations_ms: Durations,
    /// Tokens of one prompt with all metadata of the catalog and no tools (o200k).
    pub tokens_full_prompt: u64,
    /// The share of `tokens_full_prompt` by which all rounds together, input and output, were smaller. Negative where discovery
    /// cost more, as it does for small catalogs; 0 where the model reports no tokens.
    pub saved: f64,
    /// The rounds, in order.
    #[serde(default)]
    pub rounds: Vec<RoundRecord>,
}

/// The price of tokens in US dollars, to a millionth; none where the model has no known price.
pub(crate) fn cost_dollars(model: &str, usage: Usage) -> Option<f64> {
    let cost = model_info(model)?.cost(usage)?;
    Some((cost * 1e6).round() / 1e6)
}
