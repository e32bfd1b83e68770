//! Runs the steps of a plan in order.

use std::sync::Arc;

use prospector_agent::{
    ask::{DerivationStep, StepKind},
    plan::{Action, Draft, Plan, Step, verify_plan},
};
use prospector_discovery::Catalog;
use prospector_engine::Engine;
use prospector_state::checksum::read_back;
use tokio_util::sync::CancellationToken;

use crate::{
    comparison::Comparison,
    input::Inputs,
    record::{Run, StepRun, StepStatus, Stop},
    step::StepRunner,
};

/// Runs plans over a catalog.
pub struct Executor {
    catalog: Arc<Catalog>,
    engine: Arc<Engine>,
    /// Whether the results of steps are kept in the session.
    stays: bool,
}

/// Options for running a plan.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Number of the last step to run; `None` runs all.
    pub until: Option<u32>,
    /// An earlier run whose unchanged steps with unchanged inputs are reused.
    pub resume: Option<Run>,
    /// An earlier run to compare with.
    pub compare: Option<Run>,
    /// Stops the run before its next step, and cancels the current query.
    pub cancel: CancellationToken,
    /// Called after each step.
    pub observe: Option<&'a (dyn Fn(&StepRun) + Sync)>,
}

impl Executor {
    /// Creates an executor over this catalog that uses a new engine session per run.
    pub fn new(catalog: Arc<Catalog>) -> Self {
        let engine = catalog.engine();
        Executor { catalog, engine, stays: false }
    }

    /// Creates an executor over this catalog that keeps the results of steps in a session.
    pub fn in_session(catalog: Arc<Catalog>, engine: Arc<Engine>) -> Self {
        Executor { catalog, engine, stays: true }
    }

    /// Runs the steps in order. A plan that failed verification, or that only names resources, is not run.
    pub async fn run(&self, plan: Plan, options: RunOptions<'_>) -> Run {
        let (question, draft, verification) = verify_plan(plan, &self.catalog).await;
        let mut run = Run {
            question,
            discovered_context: draft.discovered_context.clone(),
            plan: draft.plan.clone(),
            clarifications: draft.clarifications.clone(),
            verification,
            ..Run::default()
        };
        match (run.verification.ok, is_named(&draft)) {
            (true, _) if draft.plan.steps.is_empty() => run.stopped = Some(Stop::NoSteps),
            (true, false) => self.run_steps(&draft, &options, &mut run).await,
            (true, true) => run.stopped = Some(Stop::NotExecutable),
            (false, _) => run.stopped = Some(Stop::NotVerified),
        }
        run.result = run.steps.iter().rev().find(|step| step.has_rows()).map(|step| step.step.number);
        run.derivation = derive(&run.steps);
        run.ok = matches!(run.stopped, None | Some(Stop::Asked)) && run.verification.ok && !run.steps.is_empty();
        run.comparison = options.compare.as_ref().map(|earlier| {
            let now = read_back(&run);
            Comparison::of(earlier, now.as_ref().unwrap_or(&run))
        });
        run
    }

    async fn run_steps(&self, draft: &Draft, options: &RunOptions<'_>, run: &mut Run) {
        let engine = if self.stays { self.engine.clone() } else { self.engine.session() };
        let mut inputs = Inputs::new(engine.clone());
        let runner = StepRunner {
            catalog: &self.catalog,
            engine: &engine,
            question: &run.question,
            facts: &draft.discovered_context.facts,
        };
        for step in &draft.plan.steps {
            if options.cancel.is_cancelled() {
                run.stopped = Some(Stop::Cancelled);
                return;
            }
            let known = options.resume.as_ref().and_then(|earlier| find_same(earlier, step, &run.steps));
            let mut done = match known {
                Some(known) => StepRun { reused: true, ..known.clone() },
                None => tokio::select! {
                    done = runner.run(step, &inputs) => done,
                    () = options.cancel.cancelled() => {
                        run.stopped = Some(Stop::Cancelled);
                        return;
                    }
                },
            };
            if let Err(failure) = inputs.keep(&done) {
                done.fail(failure.code.to_string(), failure.message, failure.suggestion);
            }
            if let Some(observe) = options.observe {
                observe(&done);
            }
            let (failed, number) = (done.status == StepStatus::Failed, done.step.number);
            run.steps.push(done);
            if failed {
                run.stopped = Some(Stop::Failed);
                return;
            }
            if options.until == Some(number) && draft.plan.steps.last().is_some_and(|last| last.number != number) {
                run.stopped = Some(Stop::Asked);
                return;
            }
        }
    }
}

/// Whether a step of a draft only names resources.
fn is_named(draft: &Draft) -> bool {
    draft.plan.steps.iter().any(|step| matches!(step.action, Action::Named))
}

/// Returns the same step of an earlier run if all of its inputs were reused too.
fn find_same<'a>(earlier: &'a Run, step: &Step, done: &[StepRun]) -> Option<&'a StepRun> {
    let known = earlier.steps.iter().find(|known| known.step == *step && known.status == StepStatus::Done)?;
    let is_from_there = |input: &String| done.iter().any(|done| done.reused && done.step.outputs.contains(input));
    step.inputs.iter().all(is_from_there).then_some(known)
}

/// Derives the result: definitions used and queries, each with what it is based on.
fn derive(steps: &[StepRun]) -> Vec<DerivationStep> {
    let mut derivation: Vec<DerivationStep> = Vec::new();
    // The derivation ids of each step's result.
    let mut left: Vec<(&StepRun, Vec<String>)> = Vec::new();
    let (mut premises, mut queries) = (0, 0);
    for step in steps {
        let used =
            left.iter().filter(|(earlier, _)| earlier.step.outputs.iter().any(|name| step.step.inputs.contains(name)));
        let used: Vec<String> = used.flat_map(|(_, ids)| ids.clone()).collect();
        let mut own = Vec::new();
        for premise in &step.premises {
            premises += 1;
            own.push(format!("P{premises}"));
            derivation.push(DerivationStep {
                id: format!("P{premises}"),
                kind: StepKind::Premise,
                text: premise.definition.clone(),
                source: premise.source.clone(),
                confidence: Some(premise.confidence),
                ..DerivationStep::default()
            });
        }
        if let Some(sql) = &step.sql {
            queries += 1;
            let problems = step.error.iter().map(|error| error.message.clone());
            derivation.push(DerivationStep {
                id: format!("Q{queries}"),
                kind: StepKind::Query,
                text: step.step.goal.clone(),
                source: sql.clone(),
                rests_on: used.iter().chain(&own).cloned().collect(),
                problems: problems.collect(),
                ..DerivationStep::default()
            });
            own.push(format!("Q{queries}"));
        }
        // A step without its own part passes on its inputs.
        left.push((step, if own.is_empty() { used } else { own }));
    }
    derivation
}
