//! What a run found, step by step.

use prospector_agent::{
    ask::DerivationStep,
    plan::{DiscoveredContext, Plan, PlanFact, Step, Steps, Verification},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// So many rows of a step are printed; the rest is kept with the run.
pub const MAX_SHOWN: usize = 50;

/// A plan that was run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// What it is called in the state folder; empty where it is not kept.
    pub id: String,
    /// The question.
    pub question: String,
    /// What the plan rests on.
    pub discovered_context: DiscoveredContext,
    /// The steps of the plan, also those that were not run. A run that is printed has none: each step has its own part.
    #[serde(skip_serializing_if = "has_no_steps")]
    pub plan: Steps,
    /// Clarifying questions of the plan to the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clarifications: Vec<String>,
    /// Whether the plan is verified and every step was done.
    pub ok: bool,
    /// The steps, as far as the run came.
    pub steps: Vec<StepRun>,
    /// The number of the step whose rows are the result: the last that has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<u32>,
    /// The derivation of the result: definitions, and queries with what each is based on.
    pub derivation: Vec<DerivationStep>,
    /// The verdict on the plan.
    pub verification: Verification,
    /// Why the run ended before the last step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stop>,
    /// What differs from an earlier run that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<crate::comparison::Comparison>,
}

/// Why a run ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// A step failed.
    Failed,
    /// It was to end there.
    Asked,
    /// It was cancelled.
    Cancelled,
    /// The plan failed verification: nothing was run.
    NotVerified,
    /// The plan only names resources: nothing was run.
    NotExecutable,
    /// The plan has no steps: nothing was run.
    NoSteps,
}

/// One step that was run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepRun {
    /// The number of its query where an answer cites it: `Q1`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The step as the plan has it.
    pub step: Step,
    /// What became of it.
    pub status: StepStatus,
    /// Whether it was taken from an earlier run instead of being run again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reused: bool,
    /// The query, and the database in whose SQL it is; without one it is DataFusion's, which `planner sql` runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
    /// The one database that the query reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// The tables that were read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
    /// The names of the columns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
    /// How many rows there are, also where fewer are printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_count: Option<usize>,
    /// Whether the source had more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// Definitions and passages that it rests on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub premises: Vec<PlanFact>,
    /// What a skill tells whoever writes the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// How the step was read where the plan leaves it open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
}

fn has_no_steps(plan: &Steps) -> bool {
    plan.steps.is_empty()
}

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// It was run, or there was nothing to run.
    #[default]
    Done,
    /// It failed.
    Failed,
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepError {
    /// The reason, for a program.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl Run {
    /// The run with at most [`MAX_SHOWN`] rows of each step, each of which has its part of the plan.
    pub fn truncate(&self) -> Run {
        let mut cut = Run { plan: Steps::default(), ..self.clone() };
        cut.steps.iter_mut().for_each(|step| step.rows.truncate(MAX_SHOWN));
        cut
    }

    /// The plan that was run.
    pub fn plan(&self) -> Plan {
        Plan {
            question: self.question.clone(),
            discovered_context: self.discovered_context.clone(),
            plan: self.plan.clone(),
            clarifications: self.clarifications.clone(),
            ..Plan::default()
        }
    }

    /// The step whose rows are the result.
    pub fn result_step(&self) -> Option<&StepRun> {
        self.steps.iter().find(|step| Some(step.step.number) == self.result)
    }
}

impl StepRun {
    /// Whether it left rows.
    pub fn has_rows(&self) -> bool {
        self.row_count.is_some()
    }

    pub(crate) fn fail(&mut self, code: impl Into<String>, message: impl Into<String>, suggestion: Option<String>) {
        self.status = StepStatus::Failed;
        self.error = Some(StepError { code: code.into(), message: message.into(), suggestion });
    }
}
