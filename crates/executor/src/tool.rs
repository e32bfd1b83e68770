//! `run_plan`

use std::sync::{Arc, Mutex, PoisonError};

use prospector_agent::plan::{Action, DiscoveredContext, Step};
use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::finding::{QueryFailure, QueryFinding, QueryRows};
use prospector_core::tool::{Effect, Tool, ToolError, ToolOutput, Toolset};
use prospector_discovery::Catalog;
use prospector_engine::Engine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    executor::{Executor, RunOptions},
    read::read_plan,
    record::{Run, StepRun},
};

/// Returns the tool that runs plans over a catalog. Results of steps are kept in the session as tables, and the tool keeps the last run.
pub fn tools(catalog: &Arc<Catalog>, session: &Arc<Engine>) -> Toolset {
    let executor = Executor::in_session(catalog.clone(), session.clone());
    Toolset::new().with(RunPlan { executor, last: Mutex::default() })
}

struct RunPlan {
    executor: Executor,
    last: Mutex<Option<Run>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunPlanArgs {
    /// {"question", "plan": {"steps": [{"number": 1, "goal", "sql": "SELECT ..."}, {"number": 2, "goal", "sql": "SELECT ... FROM
    /// step_1 ..."}]}}; a step has one of `sql`, `metrics`, `verified_query`, `call` or `read`.
    #[schemars(with = "serde_json::Map<String, Value>")]
    plan: Value,
    /// Stop after this step.
    #[serde(default)]
    until: Option<u32>,
    /// Reuse unchanged steps of the previous run.
    #[serde(default)]
    resume: bool,
    /// List the differences from the previous run.
    #[serde(default)]
    compare: bool,
}

/// The result of a run.
#[derive(Clone, Serialize)]
struct RunAnswer {
    #[serde(flatten)]
    run: Run,
    /// The databases that each step read.
    #[serde(skip)]
    databases: Vec<Vec<String>>,
}

impl Tool for RunPlan {
    const NAME: &'static str = "run_plan";
    const DESCRIPTION: &'static str =
        "Runs a plan step by step. The rows of step N can be queried as step_N afterwards.";
    const MORE: &'static str = "query step_N, or call again with a larger max_tokens";
    const EFFECT: Effect = Effect::CallsOut;
    type Args = RunPlanArgs;
    type Output = RunAnswer;

    async fn call(&self, args: RunPlanArgs) -> Result<RunAnswer, ToolError> {
        let plan = read_plan(&wrap_steps(args.plan).to_string()).map_err(|error| {
            let form = r#"pass {"plan": {"steps": [...]}}, or the result of the `plan` tool, as `plan`"#;
            ToolError::invalid(error.to_string(), Some(form.to_owned()))
        })?;
        let earlier = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if earlier.is_none() && (args.resume || args.compare) {
            let suggestion = Some("omit `resume` and `compare`".to_owned());
            return Err(ToolError::invalid("there is no previous run", suggestion));
        }
        let resume = earlier.clone().filter(|_| args.resume);
        let compare = earlier.filter(|_| args.compare);
        let run =
            self.executor.run(plan, RunOptions { until: args.until, resume, compare, ..RunOptions::default() }).await;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(run.clone());
        Ok(RunAnswer::of(&run))
    }
}

/// Returns the plan, also if a model passes its steps without the enclosing `plan`. The output of a run has `ok` and stays as it is.
fn wrap_steps(plan: Value) -> Value {
    let has_steps = plan["steps"].as_array().is_some_and(|steps| !steps.is_empty());
    let is_bare = has_steps && plan.get("plan").is_none() && plan.get("ok").is_none();
    if is_bare { json!({"plan": {"steps": plan["steps"]}}) } else { plan }
}

impl RunAnswer {
    /// Returns the result of a run, without the caller's own plan.
    fn of(run: &Run) -> RunAnswer {
        let mut run = Run { discovered_context: DiscoveredContext::default(), ..run.truncate() };
        for StepRun { step, .. } in &mut run.steps {
            *step = Step::new(step.number, std::mem::take(&mut step.goal), Action::Named);
        }
        let databases = run.steps.iter().map(list_databases).collect();
        RunAnswer { run, databases }
    }
}

fn list_databases(step: &StepRun) -> Vec<String> {
    let mut names: Vec<String> =
        step.tables.iter().filter_map(|table| Some(table.split_once('.')?.0.to_owned())).collect();
    names.dedup();
    names
}

impl ToolOutput for RunAnswer {
    fn reveals(&self) -> Vec<Resource> {
        let tables = self.run.steps.iter().flat_map(|step| &step.tables);
        tables.map(|name| Resource::new(ResourceKind::Table, name)).collect()
    }

    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        // The caller that numbers the queries derives the result.
        self.run.derivation.clear();
        let steps = self.run.steps.iter_mut().zip(&self.databases);
        let has_query = |(step, _): &(&mut StepRun, &Vec<String>)| step.sql.is_some() || step.has_rows();
        steps.filter(has_query).map(|(step, databases)| tell_query(step, databases)).collect()
    }
}

fn tell_query<'a>(done: &'a mut StepRun, databases: &'a [String]) -> QueryFinding<'a> {
    let StepRun { id, step, sql, database, columns, rows, row_count, has_more, error, .. } = done;
    let rows = match error {
        Some(error) => Err(QueryFailure { code: error.code.clone(), message: error.message.clone() }),
        None => {
            let has_more = *has_more || row_count.is_some_and(|count| rows.len() < count);
            Ok(QueryRows { databases, columns, rows, units: &[], has_more, warnings: &[] })
        }
    };
    let (sql, database) = (sql.as_deref(), database.as_deref());
    QueryFinding { id, question: &step.goal, title: None, sql, database, verified: None, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_need_no_enclosing_plan() {
        let steps = json!([{"number": 1, "goal": "all", "sql": "SELECT 1"}]);
        let whole = json!({"plan": {"steps": steps}});
        assert_eq!(wrap_steps(json!({"steps": steps})), whole);
        assert_eq!(wrap_steps(whole.clone()), whole);
        for other in [json!({"steps": []}), json!({"ok": true, "steps": steps}), json!(null)] {
            assert_eq!(wrap_steps(other.clone()), other);
        }
    }
}
