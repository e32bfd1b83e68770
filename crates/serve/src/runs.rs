//! Starts runs of questions and workflow turns, and completes them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use prospector_agent::{Models, Planner, event::Event};
use prospector_core::Owner;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;

use crate::{
    error::{Refusal, RefusalCode},
    options::Limited,
    question::Question,
    run::{End, Run, RunCost, Task, refuse_provider},
    server::Server,
    sessions::Turn,
    shares::Share,
    view::CatalogView,
};

/// What a run occupies until it has ended: a share of the limits, and the conversation that it continues.
pub(crate) struct Admission {
    _permit: OwnedSemaphorePermit,
    _share: Share,
    _turn: Option<Turn>,
}

impl Admission {
    /// Adds the lock of a conversation.
    pub(crate) fn with_turn(self, turn: Option<Turn>) -> Self {
        Admission { _turn: turn, ..self }
    }
}

impl Server {
    /// Starts a run for a question of this owner. It continues by itself; the returned run can be followed.
    pub(crate) fn start(self: &Arc<Self>, owner: &Owner, task: Task, asked: Question) -> Result<Arc<Run>, Refusal> {
        let asked = asked.validate()?;
        if task == Task::Plan && asked.is_of_an_answer() {
            let message = "session, platform, formatting and follow_ups apply to answers only";
            return Err(Refusal::invalid(message).advise("omit them, or ask instead of planning"));
        }
        self.find_models(asked.model.as_deref())?;
        let admission = self.admit(owner)?;
        let turn = asked.session.as_deref().map(|session| self.sessions.take(owner, session)).transpose()?;
        let run = Arc::new(Run::new(self.runs.handle(), owner.clone(), task, asked.question.clone()));
        let (server, inner) = (self.clone(), run.clone());
        let work: BoxFuture<'static, End> = match task {
            Task::Plan => Box::pin(async move { server.plan(&inner, &asked).await }),
            Task::Ask => Box::pin(async move { server.ask(&inner, &asked).await }),
            Task::Workflow => return Err(Refusal::invalid("a workflow turn cannot be started with a question")),
        };
        self.launch(run.clone(), admission.with_turn(turn), self.options.limits.run_time, work);
        Ok(run)
    }

    /// Reserves a run within the shared limit and this owner's limit.
    pub(crate) fn admit(&self, owner: &Owner) -> Result<Admission, Refusal> {
        if self.closing.is_cancelled() {
            return Err(Refusal::new(RefusalCode::Closing, "the server is shutting down").advise("retry in a moment"));
        }
        let Ok(permit) = self.runs_left.clone().try_acquire_owned() else {
            self.metrics.count_refusal("runs");
            let message = format!("the limit of {} concurrent questions is reached", self.options.limits.runs);
            return Err(Refusal::new(RefusalCode::TooManyRequests, message).advise("retry in a moment"));
        };
        let most = self.share(Limited::Runs);
        let Some(share) = self.runs_of.take(owner, most) else {
            self.metrics.count_refusal("runs");
            let message = format!("the limit of {most} concurrent questions for this token is reached");
            return Err(Refusal::new(RefusalCode::TooManyRequests, message).advise("retry in a moment"));
        };
        Ok(Admission { _permit: permit, _share: share, _turn: None })
    }

    /// Stores a run under its handle and starts its work, with a time limit.
    pub(crate) fn launch(
        self: &Arc<Self>,
        run: Arc<Run>,
        admission: Admission,
        time: Duration,
        work: BoxFuture<'static, End>,
    ) {
        self.runs.keep(&run.handle, &run.owner, run.clone());
        let mut started = json!({"handle": run.handle, "task": run.task.as_str(), "question": run.question});
        if let Some(workflow) = &run.workflow {
            started["workflow"] = workflow.as_str().into();
        }
        run.record("started", started);
        tokio::spawn(self.clone().go(run, admission, time, work));
    }

    /// Completes a run, even if its work panics.
    async fn go(self: Arc<Self>, run: Arc<Run>, admission: Admission, time: Duration, work: BoxFuture<'static, End>) {
        let began = Instant::now();
        self.metrics.run_began();
        let mut work = tokio::spawn(work);
        let end = tokio::select! {
            ended = &mut work => ended,
            () = tokio::time::sleep(time) => {
                run.stop("the time limit was exceeded");
                work.await
            }
        };
        // Facts learned during the run are listed from now on.
        self.catalog.look();
        // A panic of one run does not affect others.
        let end = end.unwrap_or_else(|error| {
            tracing::error!(%error, "a run panicked");
            let failure = Refusal::new(RefusalCode::Internal, "the run stopped without a result");
            run.record("error", failure.to_json());
            End::without_result(failure)
        });
        let outcome = end.failure.as_ref().map_or("completed", |failure| failure.code.as_str());
        let mut done = json!({"handle": run.handle, "ended": outcome});
        if let Some(failure) = &end.failure {
            done["reason"] = failure.message.clone().into();
        }
        if end.result["metrics"].is_object() {
            done["metrics"] = end.result["metrics"].clone();
        }
        // Released before the end is announced, so that the client can continue the conversation at once.
        drop(admission);
        run.record("done", done);
        self.metrics.run_ended(run.task, outcome, began.elapsed(), &end.cost);
        run.over(end);
    }

    async fn plan(&self, run: &Run, asked: &Question) -> End {
        let view = self.catalog.view(&run.owner);
        let observe = |event: Event| run.observe(&event);
        let models = match self.find_models(asked.model.as_deref()) {
            Ok(models) => models,
            Err(refusal) => return End::without_result(refusal),
        };
        let request = asked.request(models.limits(), &self.options.limits, run.cancel.clone(), &observe);
        let outcome = self.planner(&view, models).plan(request).await;
        let cost = RunCost { classification: None, metrics: outcome.plan.metrics.clone() };
        let failure = outcome.failure.map(|failure| refuse_provider(&view.catalog, &failure));
        run.finish("plan", &outcome.plan, (outcome.plan.ended, cost), failure)
    }

    /// Returns a planner over one state of the catalog. Its queries and plans run in their own engine.
    fn planner(&self, view: &CatalogView, models: &Models) -> Planner {
        let runs = view.catalog.clone();
        let tools = view.tools.clone().with_session_tools(move |session| prospector_executor::tools(&runs, session));
        // Fact extraction uses the server's own model, whichever model a question names.
        Planner::new(view.catalog.clone(), self.models.clone()).with_models(models.clone()).with_tools(tools)
    }

    async fn ask(&self, run: &Run, asked: &Question) -> End {
        let view = self.catalog.view(&run.owner);
        let mut session = match self.session(&run.owner, asked.session.as_deref()).await {
            Ok(session) => session,
            Err(refusal) => {
                run.record("error", refusal.to_json());
                return End::without_result(refusal);
            }
        };
        let observe = |event: Event| run.observe(&event);
        let models = match self.find_models(asked.model.as_deref()) {
            Ok(models) => models,
            Err(refusal) => return End::without_result(refusal),
        };
        let usual = models.limits_of_answers();
        let request = asked.request(usual, &self.options.limits, run.cancel.clone(), &observe);
        let outcome = self.planner(&view, models).ask(&mut session, request).await;
        let answered = &outcome.answered;
        let cost = RunCost { classification: Some(answered.classification), metrics: answered.metrics.clone() };
        let failure = outcome.failure.map(|failure| refuse_provider(&view.catalog, &failure));
        run.finish("answered", answered, (answered.ended, cost), failure)
    }
}
