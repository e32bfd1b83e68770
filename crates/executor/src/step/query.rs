//! Executes the verified statement of a step.

use prospector_agent::plan::{Step, statement::find_statement, step::SqlQuery};
use prospector_engine::{Failure, FailureCode};

use super::StepRunner;
use crate::{input::Inputs, record::StepRun};

/// Limit on the stored rows of a step.
pub(super) const MAX_ROWS: usize = 50_000;

impl StepRunner<'_> {
    /// Runs the statement of the step.
    pub(super) async fn query(&self, step: &Step, inputs: &Inputs, done: &mut StepRun) {
        let outcome = match inputs.find_truncated(&step.inputs) {
            Some(output) => Err(too_many(output)),
            None => self.run_statement(step, done).await,
        };
        if let Err(failure) = outcome {
            done.fail(failure.code.to_string(), failure.message, failure.suggestion);
        }
    }

    async fn run_statement(&self, step: &Step, done: &mut StepRun) -> Result<(), Failure> {
        let SqlQuery { sql, database } = find_statement(step, self.catalog, self.engine).await?;
        done.sql = Some(sql.clone());
        done.database.clone_from(&database);
        let outcome = self.engine.run(&sql, database.as_deref(), MAX_ROWS).await?;
        done.tables = outcome.tables;
        done.row_count = Some(outcome.rows.rows.len());
        done.has_more = outcome.rows.has_more;
        done.columns = outcome.rows.columns;
        done.rows = outcome.rows.rows;
        if done.has_more {
            done.notes.push(format!("only the first {MAX_ROWS} rows are kept: there are more"));
        }
        Ok(())
    }
}

fn too_many(output: &str) -> Failure {
    let message = format!("`{output}` has more than {MAX_ROWS} rows, so results computed from it would be wrong");
    Failure {
        suggestion: Some("add a condition, a group or a limit to that step".to_owned()),
        ..Failure::new(FailureCode::TooLarge, message)
    }
}
