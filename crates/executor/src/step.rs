//! Runs a single step, depending on its action.

mod call;
mod query;
mod read;

use std::sync::Arc;

use prospector_agent::plan::{Action, PlanFact, Step};
use prospector_discovery::Catalog;
use prospector_engine::Engine;

use crate::{input::Inputs, record::StepRun};

/// Runs single steps of a plan.
pub(crate) struct StepRunner<'a> {
    pub(crate) catalog: &'a Catalog,
    /// The session with the rows of earlier steps.
    pub(crate) engine: &'a Arc<Engine>,
    pub(crate) question: &'a str,
    /// The definitions that the plan is based on.
    pub(crate) facts: &'a [PlanFact],
}

impl StepRunner<'_> {
    /// Runs a step over the rows of earlier ones. A failure is part of the returned value.
    pub(crate) async fn run(&self, step: &Step, inputs: &Inputs) -> StepRun {
        let mut done = StepRun { step: step.clone(), ..StepRun::default() };
        match &step.action {
            Action::Sql(_) | Action::Metrics(_) | Action::VerifiedQuery(_) => self.query(step, inputs, &mut done).await,
            Action::Call(call) => self.call(step, call, inputs, &mut done).await,
            Action::Read(names) => self.read(step, names, &mut done),
            // Verification rejects all other steps.
            _ => done.fail("not_executable", "the step only names resources", None),
        }
        done
    }
}
