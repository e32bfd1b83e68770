//! Runs cases in parallel, with repetitions.

use std::{sync::Arc, time::Instant};

use futures::{StreamExt, stream};
use prospector_agent::{Limits, Planner, Request, session::Session};
use prospector_engine::Engine;
use tokio_util::sync::CancellationToken;

use super::{
    coverage::Coverage,
    file::Case,
    judge::{Observed, judge},
    report::{CaseResult, Report, RunResult},
};

/// Runs cases with one model.
pub struct Tester {
    /// The planner.
    pub planner: Planner,
    /// The name of its model.
    pub model: String,
    /// Limits for an answer and for a plan.
    pub limits: (Limits, Limits),
    /// Number of cases run in parallel.
    pub jobs: usize,
    /// Number of repetitions per case.
    pub repeat: usize,
    /// Cancels the runs.
    pub cancel: CancellationToken,
}

impl Tester {
    /// Runs all cases. The results are in the order of the cases.
    pub async fn run(&self, cases: &[Case]) -> Report {
        let begun = Instant::now();
        let engine = self.planner.catalog().engine();
        let asked = cases.iter().map(|case| self.case(case, &engine));
        let done: Vec<(CaseResult, Vec<Observed>)> = stream::iter(asked).buffered(self.jobs.max(1)).collect().await;
        let coverage = Coverage::of(self.planner.catalog(), done.iter().flat_map(|(_, observed)| observed));
        let results = done.into_iter().map(|(result, _)| result).collect();
        Report { model: self.model.clone(), results, coverage, seconds: begun.elapsed().as_secs_f64() }
    }

    async fn case(&self, case: &Case, engine: &Arc<Engine>) -> (CaseResult, Vec<Observed>) {
        let (mut runs, mut all) = (Vec::new(), Vec::new());
        for _ in 0..self.repeat.max(1) {
            let observed = self.observe(&case.question, case.plan, engine).await;
            runs.push(RunResult {
                failures: judge(case, &observed),
                calls: observed.metrics.tool_calls,
                tokens: observed.metrics.input_tokens + observed.metrics.output_tokens,
                milliseconds: observed.metrics.durations_ms.total,
                verified: observed.verified.clone(),
            });
            all.push(observed);
        }
        (CaseResult::new(case, runs), all)
    }

    /// Runs a question once.
    pub(crate) async fn observe(&self, question: &str, plan: bool, engine: &Engine) -> Observed {
        let limits = if plan { self.limits.1 } else { self.limits.0 };
        let request =
            Request { limits: Some(limits), follow_ups: false, cancel: self.cancel.clone(), ..Request::new(question) };
        if plan {
            return Observed::of_plan(&self.planner.plan(request).await.plan);
        }
        let outcome = self.planner.ask(&mut Session::unkept(), request).await;
        Observed::of_answer(&outcome.answered, engine).await
    }
}
