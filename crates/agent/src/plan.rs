//! Plans: what a model drafts, how it is read and verified, and what is returned.

mod alternatives;
mod arithmetic;
mod formula;
mod goal;
mod instructions;
mod metric_step;
mod outputs;
mod parse;
pub mod sense;
mod shape;
mod verify;

use prospector_connect::{
    filter::FilterCondition,
    query::{self, Condition, Group, Measure, Order},
};
use prospector_llm::purpose::Mode;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::{Map, Value};

pub use crate::metrics::{CallRecord, Durations, Ended, Metrics, RoundEnd, RoundRecord, ToolMetrics};
pub use goal::PlanOutcome;
pub use instructions::INSTRUCTIONS;
use sense::{Sense, SenseFinding};
pub use verify::{complete_names, verify, verify_names, verify_plan};

/// What the things of a catalog mean, as far as a plan is judged by it.
pub mod meaning {
    pub use crate::meaning::{ColumnMeaning, DefinedTerm, Meanings, OperationMeaning, QueryMeaning, TableMeaning};
}

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
    /// Names of metrics.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
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
    /// Names of metrics that are computed; `filter`, `group_by`, `order` and `limit` are over their dimensions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
    /// A verified query that answers it, with the values of its parameters.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "read_query")]
    pub query: Option<QueryCall>,
    /// What is computed: [`Measure`].
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "query::read_measures")]
    pub compute: Vec<Measure>,
    /// Conditions, all of which are to be met: on columns (`database.table.column`), on measures by their names, or on what is
    /// computed of groups (`sum(database.table.column)`). A list in `in` may be a column of an earlier output:
    /// `step_1_results.customer_id`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "query::read_conditions")]
    pub filter: Vec<Condition>,
    /// What is grouped by: [`Group`].
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "query::read_groups")]
    pub group_by: Vec<Group>,
    /// What rows are ordered by, most important first.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "query::read_orders")]
    pub order: Vec<Order>,
    /// At most so many rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Whether an operation of the step changes something.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
    /// Outputs of earlier steps that this one uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// What it leaves for later steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
    /// What of it could not be read: a plan that has any does not hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    /// What stands in it under names that no step has: a plan that has any does not hold, since nothing would be done about it.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl Step {
    /// The names of what a plan says in a step.
    pub const FIELDS: [&'static str; 18] = [
        "number",
        "goal",
        "databases",
        "tables",
        "columns",
        "operations",
        "documents",
        "skills",
        "metrics",
        "query",
        "compute",
        "filter",
        "group_by",
        "order",
        "limit",
        "writes",
        "inputs",
        "outputs",
    ];

    /// The single conditions of the step, whichever way they are joined.
    pub fn conditions(&self) -> impl Iterator<Item = &FilterCondition> {
        self.filter.iter().flat_map(|condition| condition.singles())
    }

    /// The conditions of the step as one text; an empty one where there are none.
    pub fn filter_text(&self) -> String {
        match self.filter.as_slice() {
            [only] => only.to_string(),
            all => Condition::All(all.to_vec()).to_string(),
        }
    }
}

/// A text in a step that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Unread {
    /// The field: `filter`.
    pub field: String,
    /// What stands there.
    pub text: String,
    /// Why it cannot be read, and how it is written.
    pub reason: String,
}

/// A verified query, and what it runs with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct QueryCall {
    /// Its name.
    pub name: String,
    /// The values of its parameters by their names; those that are left out have their defaults.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub parameters: Map<String, Value>,
}

/// A call, or the name of a query alone; one without a name, as the form of a plan has it, is none.
fn read_query<'de, D: Deserializer<'de>>(from: D) -> Result<Option<QueryCall>, D::Error> {
    let call = match Value::deserialize(from)? {
        Value::Null => None,
        Value::String(name) => Some(QueryCall { name, parameters: Map::new() }),
        object => Some(serde_json::from_value::<QueryCall>(object).map_err(D::Error::custom)?),
    };
    Ok(call.filter(|call| !call.name.trim().is_empty()))
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

/// The outcome of checking every name and step, and whether they make sense for the question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Verification {
    /// Whether all of it holds, and makes sense.
    pub ok: bool,
    /// How many names and steps were checked.
    pub checked: usize,
    /// What does not hold.
    pub failed: Vec<Failure>,
    /// What the plan would be better without, and may have: definitions that nothing is known to say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Failure>,
    /// Whether it makes sense.
    #[serde(default)]
    pub sense: Sense,
}

impl Verification {
    /// Takes doubts about its sense for considered, as far as they are among what was told.
    fn accept_doubts(&mut self, is_told: impl Fn(&SenseFinding) -> bool) {
        self.sense.accept(is_told);
        self.ok = self.failed.is_empty() && self.sense.ok;
    }
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
    /// Whether every name exists and was discovered, and the steps make sense for the question.
    pub verification: Verification,
    /// What it cost.
    pub metrics: Metrics,
    /// Why the run ended.
    pub ended: Ended,
}

impl Plan {
    /// The question, and the plan as it was before it was verified.
    pub fn into_draft(self) -> (String, Draft) {
        let Plan { question, reasoning, discovered_context, plan, clarifications, .. } = self;
        (question, Draft { reasoning, discovered_context, plan, clarifications })
    }
}
