//! The plan: what a model drafts, and what is returned.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Mode;

/// A fact that a plan rests on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanFact {
    /// What is defined.
    pub term: String,
    /// What it means.
    pub definition: String,
    /// Where that stands: a document, a table, a user.
    pub source: String,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
}

/// What was discovered for the question and is needed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DiscoveredContext {
    /// Definitions.
    pub facts: Vec<PlanFact>,
    /// `database.table`
    pub tables: Vec<String>,
    /// Names of APIs.
    pub apis: Vec<String>,
    /// Names of documents.
    pub documents: Vec<String>,
    /// Names of skills.
    pub skills: Vec<String>,
}

/// One step. Names are those that discovery shows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Step {
    /// 1, 2, 3...
    pub number: u32,
    /// What the step finds out or does.
    pub goal: String,
    /// Names of databases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<String>,
    /// `database.table`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
    /// `database.table.column`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// `api.operation`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// Names of documents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
    /// Names of skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Outputs of earlier steps that this one uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// What it leaves for later steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
}

/// The steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Steps {
    /// In order.
    pub steps: Vec<Step>,
}

/// What a model writes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// Why this plan, or why there is none.
    pub reasoning: String,
    /// What it rests on.
    pub discovered_context: DiscoveredContext,
    /// The steps.
    pub plan: Steps,
    /// What is asked back.
    pub clarifications: Vec<String>,
}

/// A name or a step that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Where in the plan: `plan.steps[0].tables`.
    pub place: String,
    /// The name, or the number of the step.
    pub name: String,
    /// What is wrong.
    pub reason: String,
    /// The nearest right names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
}

/// The outcome of checking every name and step.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Verification {
    /// Whether all of it holds.
    pub ok: bool,
    /// How many names and steps were checked.
    pub checked: usize,
    /// What does not hold.
    pub failed: Vec<Failure>,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The model gave what was asked of it.
    #[default]
    Completed,
    /// The rounds were used up before there was a plan.
    RoundLimit,
    /// Every tool call of a round failed, in a way that the model could not mend.
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
    /// All of it.
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
    /// Input tokens of all rounds, as the provider counted them (`offline`: o200k).
    pub input_tokens: u64,
    /// Output tokens of all rounds.
    pub output_tokens: u64,
    /// Those of the input that came from the provider's cache.
    pub cached_tokens: u64,
    /// Where the time went.
    pub durations_ms: Durations,
    /// Tokens of one prompt with all metadata of the catalog and no tools (o200k).
    pub tokens_full_prompt: u64,
    /// The share of `tokens_full_prompt` that the largest round's input, tool definitions and results included, did not
    /// need. Negative where discovery cost more, as it does for small catalogs.
    pub saved: f64,
}

/// What `planner plan` prints.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// The question.
    pub question: String,
    /// How it is answered.
    pub mode: Mode,
    /// The model that drafted it.
    pub model: String,
    /// Why this plan, or why there is none.
    pub reasoning: String,
    /// What it rests on.
    pub discovered_context: DiscoveredContext,
    /// The steps.
    pub plan: Steps,
    /// What is asked back.
    pub clarifications: Vec<String>,
    /// Whether every name exists and was discovered.
    pub verification: Verification,
    /// What it cost.
    pub metrics: Metrics,
    /// Why the run ended.
    pub ended: Ended,
}
