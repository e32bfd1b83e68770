//! Questions that are being planned or answered: what happened so far, who follows, and how it ended. Whoever comes back
//! with the number of the last event that it saw gets the rest.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use prospector_agent::{Planner, event::Event, plan::Ended};
use prospector_core::Owner;
use prospector_llm::LlmError;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    asked::Asked, error::Refusal, estate::Served, options::Limited, server::Server, sessions::Turn, shares::Share,
};

/// The word for a run whose provider failed.
const FAILED: &str = "provider_failed";

/// More is not kept of one run.
const MOST_EVENTS: usize = 5_000;

/// One thing that happened.
#[derive(Debug, Clone)]
pub(crate) struct Happened {
    /// `round`, `tool`, `plan`, ...
    pub(crate) name: String,
    /// What of it there is to say.
    pub(crate) data: Arc<Value>,
}

/// What is done with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Plan,
    Ask,
}

impl Task {
    /// Every task.
    pub(crate) const ALL: [Task; 2] = [Task::Plan, Task::Ask];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Task::Plan => "plan",
            Task::Ask => "ask",
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone)]
pub(crate) struct End {
    /// The plan or the answer, as far as it came.
    pub(crate) result: Arc<Value>,
    /// Why it is not whole.
    pub(crate) failure: Option<Refusal>,
}

/// One question on its way.
pub(crate) struct Run {
    pub(crate) handle: String,
    pub(crate) owner: Owner,
    pub(crate) task: Task,
    pub(crate) question: String,
    pub(crate) cancel: CancellationToken,
    events: Mutex<Vec<Happened>>,
    /// How many events there are, and whether there will be more.
    seen: watch::Sender<(usize, bool)>,
    end: OnceLock<End>,
    /// Why it was cancelled; the first reason counts.
    reason: OnceLock<&'static str>,
    followers: AtomicUsize,
}

impl Run {
    fn new(handle: String, owner: Owner, task: Task, question: String) -> Self {
        Run {
            handle,
            owner,
            task,
            question,
            cancel: CancellationToken::new(),
            events: Mutex::default(),
            seen: watch::Sender::new((0, false)),
            end: OnceLock::new(),
            reason: OnceLock::new(),
            followers: AtomicUsize::new(0),
        }
    }

    /// Stops it, and says why. One that has ended stays as it is.
    pub(crate) fn stop(&self, reason: &'static str) {
        if self.end.get().is_none() {
            let _ = self.reason.set(reason);
            self.cancel.cancel();
        }
    }

    /// How it ended; `None` while it goes on.
    pub(crate) fn end(&self) -> Option<&End> {
        self.end.get()
    }

    /// Waits for the end.
    pub(crate) async fn ended(&self) -> End {
        let mut seen = self.seen.subscribe();
        // The sender lives as long as the run.
        let _ = seen.wait_for(|(_, over)| *over).await;
        self.end.get().cloned().unwrap_or_else(|| End {
            result: Arc::new(Value::Null),
            failure: Some(Refusal::new("internal", "it ended without a result")),
        })
    }

    fn happened(&self, name: &str, data: Value) {
        let count = {
            let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            if events.len() < MOST_EVENTS {
                events.push(Happened { name: name.to_owned(), data: Arc::new(data) });
            }
            events.len()
        };
        self.seen.send_replace((count, false));
    }

    fn over(&self, end: End) {
        let _ = self.end.set(end);
        self.seen.send_modify(|(_, over)| *over = true);
    }

    /// Follows it from the event after `after` on. When nobody has followed for `linger`, it is stopped.
    pub(crate) fn follow(self: &Arc<Self>, after: usize, linger: Duration) -> Follower {
        self.followers.fetch_add(1, Ordering::SeqCst);
        Follower { run: self.clone(), seen: self.seen.subscribe(), next: after, linger }
    }
}

/// Somebody who is told what happens.
pub(crate) struct Follower {
    run: Arc<Run>,
    seen: watch::Receiver<(usize, bool)>,
    next: usize,
    linger: Duration,
}

impl Follower {
    /// The next event with its number, from 1; `None` after the last one.
    pub(crate) async fn next(&mut self) -> Option<(usize, Happened)> {
        loop {
            {
                let events = self.run.events.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(happened) = events.get(self.next) {
                    self.next += 1;
                    return Some((self.next, happened.clone()));
                }
            }
            let (count, over) = *self.seen.borrow_and_update();
            if count > self.next {
                continue;
            }
            if over || self.seen.changed().await.is_err() {
                return None;
            }
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if self.run.followers.fetch_sub(1, Ordering::SeqCst) > 1 || self.run.end.get().is_some() {
            return;
        }
        let (run, linger) = (self.run.clone(), self.linger);
        let left = async move {
            tokio::time::sleep(linger).await;
            if run.followers.load(Ordering::SeqCst) == 0 {
                run.stop("the client went away");
            }
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(left);
        }
    }
}

impl Server {
    /// Begins with a question of this owner; it goes on by itself, and is followed through what is returned.
    pub(crate) fn start(self: &Arc<Self>, owner: &Owner, task: Task, asked: Asked) -> Result<Arc<Run>, Refusal> {
        let asked = asked.checked()?;
        if task == Task::Plan && (asked.session.is_some() || asked.platform.is_some()) {
            let message = "a plan has no session and no platform";
            return Err(Refusal::new("invalid_arguments", message).advise("leave them out, or ask"));
        }
        if self.closing.is_cancelled() {
            return Err(Refusal::new("closing", "the server is shutting down").advise("ask again in a moment"));
        }
        let Ok(permit) = self.runs_left.clone().try_acquire_owned() else {
            self.metrics.refused("runs");
            let message = format!("{} questions are being answered already", self.options.limits.runs);
            return Err(Refusal::new("too_many_requests", message).advise("ask again in a moment"));
        };
        let most = self.share(Limited::Runs);
        let Some(share) = self.runs_of.take(owner, most) else {
            self.metrics.refused("runs");
            let message = format!("{most} questions of yours are being answered already");
            return Err(Refusal::new("too_many_requests", message).advise("ask again in a moment"));
        };
        let turn = asked.session.as_deref().map(|session| self.sessions.take(owner, session)).transpose()?;
        let run = Arc::new(Run::new(self.runs.handle(), owner.clone(), task, asked.question.clone()));
        self.runs.keep(&run.handle, owner, run.clone());
        run.happened("started", json!({"handle": run.handle, "task": task.as_str(), "question": run.question}));
        tokio::spawn(self.clone().go(run.clone(), asked, (permit, share), turn));
        Ok(run)
    }

    /// Sees a run through, whatever happens in it.
    async fn go(
        self: Arc<Self>,
        run: Arc<Run>,
        asked: Asked,
        permits: (OwnedSemaphorePermit, Share),
        turn: Option<Turn>,
    ) {
        let began = Instant::now();
        self.metrics.run_began(run.task);
        let (server, inner) = (self.clone(), run.clone());
        let mut work = tokio::spawn(async move {
            match inner.task {
                Task::Plan => server.plan(&inner, &asked).await,
                Task::Ask => server.ask(&inner, &asked).await,
            }
        });
        let end = tokio::select! {
            ended = &mut work => ended,
            () = tokio::time::sleep(self.options.limits.run_time) => {
                run.stop("it took too long");
                work.await
            }
        };
        // What was learned on the way is listed from now on.
        self.estate.look();
        // A defect of one run is not that of the others.
        let end = end.unwrap_or_else(|error| {
            tracing::error!(%error, "a run broke off");
            let failure = Refusal::new("internal", "it broke off");
            run.happened("error", failure.to_json());
            End { result: Arc::new(Value::Null), failure: Some(failure) }
        });
        let outcome = end.failure.as_ref().map_or("completed", |failure| failure.code);
        let mut done = json!({"handle": run.handle, "ended": outcome});
        if let Some(failure) = &end.failure {
            done["reason"] = failure.message.clone().into();
        }
        if end.result["metrics"].is_object() {
            done["metrics"] = end.result["metrics"].clone();
        }
        run.happened("done", done);
        self.metrics.run_ended(run.task, outcome, began.elapsed(), &end.result);
        run.over(end);
        drop((permits, turn));
    }

    async fn plan(&self, run: &Run, asked: &Asked) -> End {
        let served = self.estate.now(&run.owner);
        let observe = |event: Event| run.observe(&event);
        let request = asked.request(&self.models, run.cancel.clone(), &observe);
        let outcome = self.planner(&served).plan(request).await;
        run.finish("plan", &outcome.plan, outcome.plan.ended, outcome.failure)
    }

    /// A planner over one state of the catalog. Its queries run in an engine of their own.
    fn planner(&self, served: &Served) -> Planner {
        Planner::new(served.catalog.clone(), self.models.clone()).with_tools(served.tools.clone())
    }

    async fn ask(&self, run: &Run, asked: &Asked) -> End {
        let served = self.estate.now(&run.owner);
        let mut session = match self.session(&run.owner, asked.session.as_deref()).await {
            Ok(session) => session,
            Err(refusal) => {
                run.happened("error", refusal.to_json());
                return End { result: Arc::new(Value::Null), failure: Some(refusal) };
            }
        };
        let observe = |event: Event| run.observe(&event);
        let request = asked.request(&self.models, run.cancel.clone(), &observe);
        let outcome = self.planner(&served).ask(&mut session, request).await;
        run.finish("answered", &outcome.answered, outcome.answered.ended, outcome.failure)
    }
}

impl Run {
    /// An event of the agent, under its name. How it ended is said once, at the end, by [`Run::finish`].
    fn observe(&self, event: &Event) {
        match event {
            Event::Done { .. } => {}
            Event::Error { code, .. } if code == FAILED => {}
            Event::Error { code, message } => self.happened("error", json!({"error": code, "message": message})),
            event => {
                let mut data = serde_json::to_value(event).unwrap_or_default();
                let name = data.as_object_mut().and_then(|fields| fields.shift_remove("type"));
                self.happened(name.as_ref().and_then(Value::as_str).unwrap_or("event"), data);
            }
        }
    }

    /// The result, told under its name, and why it is not whole.
    fn finish(&self, name: &str, result: &impl Serialize, ended: Ended, failure: Option<LlmError>) -> End {
        let failure = match (failure, ended) {
            (Some(failure), _) => Some(Refusal::new(FAILED, failure.to_string())),
            (None, Ended::Cancelled) => {
                Some(Refusal::new("cancelled", self.reason.get().copied().unwrap_or("the client cancelled it")))
            }
            _ => None,
        };
        if let Some(failure) = &failure {
            self.happened("error", failure.to_json());
        }
        let mut result = serde_json::to_value(result).unwrap_or_default();
        if let Some(fields) = result.as_object_mut() {
            fields.insert("handle".into(), self.handle.clone().into());
        }
        self.happened(name, result.clone());
        End { result: Arc::new(result), failure }
    }
}
