//! Plans: what a model drafts, how it is parsed and verified, and what is returned.
//!
//! A step is one action: a SQL statement, a query over metrics, a verified query, a call of an operation, or something to read.
//! A plan is run exactly as it was verified.
//!
//! A plan is text and not a tool call, so that models without tools take the same path. Failures are returned to the model in the format of
//! tool errors.

mod definitions;
mod goal;
mod instructions;
mod labels;
mod parse;
pub mod statement;
pub mod step;
pub mod verification;
mod verify;

use prospector_core::record::ResourceKind;
use prospector_llm::purpose::Mode;
use serde::{Deserialize, Serialize};

pub use crate::metrics::{CallRecord, Durations, Ended, Metrics, RoundEnd, RoundRecord, ToolMetrics};
pub use crate::request::Review;
pub use goal::PlanOutcome;
pub use instructions::INSTRUCTIONS;
pub use step::{Action, Step};
pub use verification::{Finding, Verification};
pub use verify::{verify, verify_plan};

/// A definition that a plan is based on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanFact {
    /// What is defined.
    pub term: String,
    /// What it means.
    pub definition: String,
    /// Its source: a document, a table, a user.
    pub source: String,
    /// From 0 to 1.
    pub confidence: f64,
}

/// The discovered entries that the question needs.
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
    /// Names of metrics.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
}

impl DiscoveredContext {
    /// Returns its lists of names by kind.
    fn lists(&mut self) -> [(ResourceKind, &mut Vec<String>); 5] {
        [
            (ResourceKind::Table, &mut self.tables),
            (ResourceKind::Api, &mut self.apis),
            (ResourceKind::Document, &mut self.documents),
            (ResourceKind::Skill, &mut self.skills),
            (ResourceKind::Metric, &mut self.metrics),
        ]
    }
}

/// The steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Steps {
    /// In order.
    pub steps: Vec<Step>,
}

/// A plan as a model writes it, before it is verified.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// The reason for this plan, or for no plan.
    pub reasoning: String,
    /// What it is based on.
    pub discovered_context: DiscoveredContext,
    /// The steps.
    pub plan: Steps,
    /// Clarifying questions to the user.
    pub clarifications: Vec<String>,
    /// What the question may mean, if it is ambiguous: each is a question that can be planned instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
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
    /// The reason for this plan, or for no plan.
    pub reasoning: String,
    /// What it is based on.
    pub discovered_context: DiscoveredContext,
    /// The steps.
    pub plan: Steps,
    /// Clarifying questions to the user.
    pub clarifications: Vec<String>,
    /// What the question may mean, if it is ambiguous: each is a question that can be planned instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The verdict on the plan.
    pub verification: Verification,
    /// Cost and durations.
    pub metrics: Metrics,
    /// Why the run ended.
    pub ended: Ended,
}

impl Plan {
    /// Returns the question and the unverified draft.
    pub fn into_draft(self) -> (String, Draft) {
        let Plan { question, reasoning, discovered_context, plan, clarifications, choices, .. } = self;
        (question, Draft { reasoning, discovered_context, plan, clarifications, choices })
    }
}
