//! The fields of what `plan`, `ask` and `fetch` answer, for their output schemas.
#![allow(dead_code, reason = "only the schemas are used: the runs make the answers")]

use prospector_llm::purpose::Mode;
use schemars::JsonSchema;
use serde_json::{Map, Value};

/// Of `plan`.
#[derive(JsonSchema)]
pub(super) struct PlanFields {
    question: String,
    /// How much the plan takes for granted.
    #[schemars(with = "String", extend("enum" = Mode::ALL.map(Mode::as_str)))]
    mode: Mode,
    model: String,
    /// Why the plan is as it is.
    reasoning: String,
    /// The names that the plan rests on, by kind.
    discovered_context: Map<String, Value>,
    /// The steps, and how they depend on each other.
    plan: Map<String, Value>,
    /// What the user should be asked.
    clarifications: Vec<Value>,
    /// What was looked up and exists.
    verification: Map<String, Value>,
    metrics: Map<String, Value>,
    /// How the run ended.
    ended: String,
}

/// Of `ask`.
#[derive(JsonSchema)]
pub(super) struct AskFields {
    question: String,
    #[schemars(with = "String", extend("enum" = Mode::ALL.map(Mode::as_str)))]
    mode: Mode,
    model: String,
    answer: String,
    /// Whether the run ended before its answer was complete.
    best_effort: bool,
    /// What the answer was made of: data, knowledge, both (mixed) or neither (conversational, out_of_scope, none).
    classification: String,
    /// The queries, with their rows.
    questions: Vec<Value>,
    /// The chart that shows what they gave, as Vega-Lite.
    chart: Map<String, Value>,
    /// The definitions that it rests on.
    premises: Vec<Value>,
    /// Of an auditable answer: premises, queries, and the sentences that rest on them.
    derivation: Vec<Value>,
    clarifications: Vec<Value>,
    thinking: Vec<String>,
    /// Which numbers of the answer stand in the rows.
    tracing: Map<String, Value>,
    follow_ups: Vec<String>,
    metrics: Map<String, Value>,
    ended: String,
}

/// Of `fetch`: a page of a long answer, or a plan.
#[derive(JsonSchema)]
pub(super) struct FetchFields {
    page: usize,
    pages: usize,
    text: String,
    question: String,
    plan: Map<String, Value>,
    state: String,
}
