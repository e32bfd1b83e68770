//! Executes plans of runs.

use prospector_core::Owner;
use prospector_executor::{Executor, RunOptions, read_plan};
use serde_json::{Value, json};

use crate::{
    error::{Refusal, RefusalCode},
    run::Task,
    server::Server,
};

impl Server {
    /// Executes the plan that a run produced, and returns the result of each step. The plan was made by the server, so no right to run
    /// queries is needed.
    ///
    /// # Errors
    /// - If the run has no plan or is not finished.
    /// - If this owner has reached the limit of concurrent runs.
    pub(crate) async fn execute(&self, owner: &Owner, handle: &str) -> Result<Value, Refusal> {
        let run = self.runs.get(handle, owner)?;
        if run.task != Task::Plan {
            return Err(Refusal::invalid("the run has no plan").advise("pass the handle of a plan"));
        }
        let end = run.require_end()?;
        let plan = read_plan(&end.result.to_string()).map_err(|error| Refusal::invalid(error.to_string()))?;
        let _admission = self.admit(owner)?;
        let view = self.catalog.view(owner);
        let cancel = self.closing.child_token();
        let _cancelled = cancel.clone().drop_guard();
        let executor = Executor::new(view.catalog.clone());
        let options = RunOptions { cancel, ..RunOptions::default() };
        match tokio::time::timeout(self.options.limits.run_time, executor.run(plan, options)).await {
            Ok(done) => Ok(json!(done.truncate())),
            Err(_) => {
                Err(Refusal::new(RefusalCode::RequestTimeout, "the plan took too long").advise("run fewer steps"))
            }
        }
    }
}
