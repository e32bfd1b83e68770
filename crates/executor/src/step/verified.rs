//! A step that runs a query which a person has checked.

use prospector_agent::plan::Step;
use prospector_engine::{Failure, FailureCode};

use super::{StepRunner, query::MAX_ROWS};
use crate::record::StepRun;

impl StepRunner<'_> {
    /// Runs the verified query of a step with the values that the step gives.
    pub(super) async fn run_verified(&self, step: &Step, done: &mut StepRun) -> Result<(), Failure> {
        let Some(call) = &step.query else { return Ok(()) };
        let verified = &self.catalog.verified;
        let query = verified.resolve(&call.name).ok_or_else(|| {
            Failure::new(FailureCode::InvalidArguments, format!("there is no verified query `{}`", call.name))
        })?;
        let run = verified.run(query, &call.parameters, self.engine, MAX_ROWS).await;
        let run = run.map_err(|error| Failure::new(FailureCode::InvalidArguments, error.to_string()))?;
        done.sql = Some(run.sql);
        done.database.clone_from(&query.database);
        done.tables = run.tables;
        done.columns = run.rows.columns;
        done.row_count = Some(run.rows.rows.len());
        done.has_more = run.rows.has_more;
        done.rows = run.rows.rows;
        Ok(())
    }
}
