//! One step: what it names decides what is done.

mod call;
mod combined;
mod days;
mod metrics;
mod premise;
mod query;
mod verified;

use std::sync::Arc;

use prospector_agent::plan::{PlanFact, Step};
use prospector_discovery::Catalog;
use prospector_engine::Engine;

use crate::{
    input::Inputs,
    record::{StepRun, StepStatus},
};

/// Runs single steps of a plan.
pub(crate) struct StepRunner<'a> {
    pub(crate) catalog: &'a Catalog,
    /// The session that holds what earlier steps left.
    pub(crate) engine: &'a Arc<Engine>,
    pub(crate) question: &'a str,
    /// The definitions that the plan rests on.
    pub(crate) facts: &'a [PlanFact],
}

impl StepRunner<'_> {
    /// Runs a step over what earlier ones left. What goes wrong is in what it returns.
    pub(crate) async fn run(&self, step: &Step, inputs: &Inputs) -> StepRun {
        let mut done = StepRun { step: step.clone(), ..StepRun::default() };
        self.find_premises(step, &mut done);
        self.read_skills(step, &mut done);
        self.call_operations(step, inputs, &mut done).await;
        if done.status == StepStatus::Done {
            self.query(step, inputs, &mut done).await;
        }
        done
    }
}
