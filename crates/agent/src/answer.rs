//! An answer, and what it rests on.

use prospector_llm::purpose::Mode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    metrics::{Ended, Metrics},
    plan::PlanFact,
};

/// What an answer was made of, inferred from what the run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Classification {
    /// Queries over data.
    Data,
    /// Facts, documents or skills.
    Knowledge,
    /// Both.
    Mixed,
    /// Neither.
    #[default]
    None,
}

/// A data question: a query that ran, and what it gave.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DataQuestion {
    /// Its number: `Q1`.
    pub id: String,
    /// What it asks.
    pub question: String,
    /// The query; the derivation that can be run again with `planner sql`.
    pub sql: String,
    /// The database, where the query names tables without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// The databases that were read.
    pub databases: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows as they were shown.
    pub rows: Vec<Vec<Value>>,
    /// Whether there are more.
    pub has_more: bool,
    /// Why it failed; then there are no rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The earlier result that it shows again: `t2.Q1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reused: Option<String>,
}

/// A sentence with what it rests on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Claim {
    /// The sentence.
    pub text: String,
    /// The queries that it cites.
    pub references: Vec<String>,
    /// The numbers that are not values of a result themselves, and how they follow from them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derived: Vec<String>,
    /// Why it could not be traced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// What was checked in an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tracing {
    /// Whether every factual sentence could be traced.
    pub ok: bool,
    /// How many references and numbers were checked.
    pub checked: usize,
    /// The factual sentences.
    pub claims: Vec<Claim>,
}

/// What `planner ask` prints.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Answered {
    /// The question.
    pub question: String,
    /// How it was answered.
    pub mode: Mode,
    /// The model that answered it.
    pub model: String,
    /// The answer; what could not be traced is marked in it.
    pub answer: String,
    /// Whether the run ended before the model had an answer; then this is what the data showed until then.
    pub best_effort: bool,
    /// What it was made of.
    pub classification: Classification,
    /// The data questions, `Q1` first.
    pub questions: Vec<DataQuestion>,
    /// What it rests on beside data: definitions with source and confidence.
    pub premises: Vec<PlanFact>,
    /// What is asked back.
    pub clarifications: Vec<String>,
    /// The model's thoughts, in order.
    pub thinking: Vec<String>,
    /// What was checked in the answer.
    pub tracing: Tracing,
    /// What may be asked next.
    pub follow_ups: Vec<String>,
    /// What it cost, summary and follow-ups included.
    pub metrics: Metrics,
    /// Why the run ended.
    pub ended: Ended,
}
