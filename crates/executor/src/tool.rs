//! `run_plan`

use std::sync::Arc;

use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::{Effect, Tool, ToolError, ToolOutput, Toolset};
use prospector_discovery::Catalog;
use prospector_engine::Engine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    executor::{Executor, RunOptions},
    read::read_plan,
    record::Run,
};

/// The tool that runs plans over a catalog. What their steps found stays in that session of its engine, as tables.
pub fn tools(catalog: &Arc<Catalog>, session: &Arc<Engine>) -> Toolset {
    Toolset::new().with(RunPlan(Executor::in_session(catalog.clone(), session.clone())))
}

struct RunPlan(Executor);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunPlanArgs {
    /// The plan: an object with `question` and `plan.steps`.
    #[schemars(with = "serde_json::Map<String, Value>")]
    plan: Value,
    /// Stop after this step.
    #[serde(default)]
    until: Option<u32>,
}

/// What a run found.
#[derive(Clone, Serialize, JsonSchema)]
struct RunAnswer {
    #[serde(flatten)]
    #[schemars(with = "RunFields")]
    run: Run,
}

/// The fields of a [`Run`] that tell most.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct RunFields {
    question: String,
    ok: bool,
    steps: Vec<Value>,
    result: Option<u32>,
    derivation: Vec<Value>,
    unapplied: Vec<String>,
    stopped: Option<String>,
}

impl Tool for RunPlan {
    const NAME: &'static str = "run_plan";
    const DESCRIPTION: &'static str =
        "Runs a plan step by step. What step N found is scoped.step_N_results afterwards.";
    const MORE: &'static str = "query scoped.step_N_results, or call again with a larger max_tokens";
    const EFFECT: Effect = Effect::CallsOut;
    type Args = RunPlanArgs;
    type Output = RunAnswer;

    async fn call(&self, args: RunPlanArgs) -> Result<RunAnswer, ToolError> {
        let plan = read_plan(&args.plan.to_string()).map_err(|error| {
            ToolError::invalid(error.to_string(), Some("pass what the plan tool answered as `plan`".to_owned()))
        })?;
        let run = self.0.run(plan, RunOptions { until: args.until, ..RunOptions::default() }).await;
        Ok(RunAnswer { run: run.truncate() })
    }
}

impl ToolOutput for RunAnswer {
    fn reveals(&self) -> Vec<Resource> {
        let tables = self.run.steps.iter().flat_map(|step| &step.tables);
        tables.map(|name| Resource::new(ResourceKind::Table, name)).collect()
    }
}
