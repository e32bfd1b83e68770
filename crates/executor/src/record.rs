//! The record of a run, step by step.

use prospector_agent::{
    ask::DerivationStep,
    plan::{DiscoveredContext, Plan, PlanFact, Step, Steps, Verification},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Limit on the rows of a step that are printed; the stored run has all.
pub const MAX_SHOWN: usize = 50;

/// An executed plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// Its id in the state folder; empty if it is not stored.
    pub id: String,
    /// The question.
    pub question: String,
    /// The definitions that the plan is based on.
    pub discovered_context: DiscoveredContext,
    /// The steps of the plan, including those that were not run. Empty in a printed run: each step has its own part.
    #[serde(skip_serializing_if = "has_no_steps")]
    pub plan: Steps,
    /// Clarifying questions of the plan to the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clarifications: Vec<String>,
    /// Whether the plan is verified and every step up to the requested one was done.
    pub ok: bool,
    /// The steps that were run.
    pub steps: Vec<StepRun>,
    /// Number of the step whose rows are the result: the last one with rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<u32>,
    /// The derivation of the result: definitions, and queries with what each is based on.
    pub derivation: Vec<DerivationStep>,
    /// The verdict on the plan.
    pub verification: Verification,
    /// Why the run stopped early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stop>,
    /// The differences from an earlier run, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<crate::comparison::Comparison>,
}

/// Why a run stopped early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// A step failed.
    Failed,
    /// The requested last step was reached.
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

/// A step that was run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StepRun {
    /// Id of its query in citations: `Q1`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The step of the plan.
    pub step: Step,
    /// The outcome of the step.
    pub status: StepStatus,
    /// Whether it was reused from an earlier run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reused: bool,
    /// The query in the SQL of `database`; without a database, in DataFusion's SQL, as for `planner sql`.
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
    /// Number of rows, including those that are not printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_count: Option<usize>,
    /// Whether the source had more rows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
    /// Definitions and passages that it is based on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub premises: Vec<PlanFact>,
    /// Instructions of skills for writing the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// How ambiguities of the step were resolved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<StepError>,
}

fn has_no_steps(plan: &Steps) -> bool {
    plan.steps.is_empty()
}

/// The outcome of a step.
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
    /// Machine-readable reason.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl Run {
    /// Returns the run with at most [`MAX_SHOWN`] rows per step, each step with its part of the plan.
    pub fn truncate(&self) -> Run {
        let mut cut = Run { plan: Steps::default(), ..self.clone() };
        cut.steps.iter_mut().for_each(|step| step.rows.truncate(MAX_SHOWN));
        cut
    }

    /// Returns the plan that was run.
    pub fn plan(&self) -> Plan {
        Plan {
            question: self.question.clone(),
            discovered_context: self.discovered_context.clone(),
            plan: self.plan.clone(),
            clarifications: self.clarifications.clone(),
            ..Plan::default()
        }
    }

    /// Describes the steps that were not run because the run was to stop before them.
    pub fn describe_skipped(&self) -> Option<String> {
        if self.stopped != Some(Stop::Asked) {
            return None;
        }
        let left = self.plan.steps.iter().filter(|step| self.step(step.number).is_none());
        let left: Vec<String> = left.map(|step| step.number.to_string()).collect();
        let resume = if self.id.is_empty() { String::new() } else { format!(" Continue with --resume {}.", self.id) };
        Some(match left.as_slice() {
            [one] => format!("Stopped as requested: step {one} was not run.{resume}"),
            more => format!("Stopped as requested: steps {} were not run.{resume}", more.join(", ")),
        })
    }

    /// Returns the step whose rows are the result.
    pub fn result_step(&self) -> Option<&StepRun> {
        self.step(self.result?)
    }

    /// Returns the step with this number.
    pub(crate) fn step(&self, number: u32) -> Option<&StepRun> {
        self.steps.iter().find(|step| step.step.number == number)
    }
}

impl StepRun {
    /// Whether it has rows.
    pub fn has_rows(&self) -> bool {
        self.row_count.is_some()
    }

    pub(crate) fn fail(&mut self, code: impl Into<String>, message: impl Into<String>, suggestion: Option<String>) {
        self.status = StepStatus::Failed;
        self.error = Some(StepError { code: code.into(), message: message.into(), suggestion });
    }
}
