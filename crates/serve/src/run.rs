//! A question that is being planned or answered: what happened so far, who follows, and how it ended. Whoever comes back
//! with the number of the last event that it saw gets the rest.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use prospector_agent::{
    ask::Classification,
    event::Event,
    plan::{Ended, Metrics},
};
use prospector_core::Owner;
use prospector_discovery::Catalog;
use prospector_llm::LlmError;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::error::{Refusal, RefusalCode};

/// More is not kept of one run; of what a model writes as it writes it, half of that.
const MAX_EVENTS: usize = 5_000;
const MAX_TEXT_EVENTS: usize = MAX_EVENTS / 2;

/// One thing that happened.
#[derive(Debug, Clone)]
pub(crate) struct RunEvent {
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
    /// A turn of a workflow.
    Workflow,
}

impl Task {
    /// What can be done with a question alone.
    pub(crate) const OF_QUESTIONS: [Task; 2] = [Task::Plan, Task::Ask];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Task::Plan => "plan",
            Task::Ask => "ask",
            Task::Workflow => "workflow",
        }
    }
}

/// What a plan or an answer cost.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunCost {
    /// What an answer was made of; none for a plan.
    pub(crate) classification: Option<Classification>,
    pub(crate) metrics: Metrics,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub(crate) struct End {
    /// The plan or the answer, as far as it came.
    pub(crate) result: Arc<Value>,
    /// Why it is not whole.
    pub(crate) failure: Option<Refusal>,
    /// What it cost.
    pub(crate) cost: RunCost,
}

impl End {
    /// Of a run that has no result.
    pub(crate) fn without_result(failure: Refusal) -> End {
        End { result: Arc::new(Value::Null), failure: Some(failure), cost: RunCost::default() }
    }
}

/// One question on its way.
pub(crate) struct Run {
    pub(crate) handle: String,
    pub(crate) owner: Owner,
    pub(crate) task: Task,
    pub(crate) question: String,
    /// The handle of the workflow that it is a turn of.
    pub(crate) workflow: Option<String>,
    pub(crate) cancel: CancellationToken,
    events: Mutex<Vec<RunEvent>>,
    /// How many events there are, and whether there will be more.
    seen: watch::Sender<(usize, bool)>,
    end: OnceLock<End>,
    /// Why it was cancelled; the first reason counts.
    reason: OnceLock<&'static str>,
    followers: AtomicUsize,
}

impl Run {
    pub(crate) fn new(handle: String, owner: Owner, task: Task, question: String) -> Self {
        Run {
            handle,
            owner,
            task,
            question,
            workflow: None,
            cancel: CancellationToken::new(),
            events: Mutex::default(),
            seen: watch::Sender::new((0, false)),
            end: OnceLock::new(),
            reason: OnceLock::new(),
            followers: AtomicUsize::new(0),
        }
    }

    /// The same as a turn of a workflow.
    pub(crate) fn of_workflow(self, workflow: &str) -> Self {
        Run { workflow: Some(workflow.to_owned()), ..self }
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
    pub(crate) async fn wait(&self) -> End {
        let mut seen = self.seen.subscribe();
        // The sender lives as long as the run.
        let _ = seen.wait_for(|(_, over)| *over).await;
        let nothing = || End::without_result(Refusal::new(RefusalCode::Internal, "it ended without a result"));
        self.end.get().cloned().unwrap_or_else(nothing)
    }

    /// Notes an event, and tells those who follow.
    pub(crate) fn record(&self, name: &str, data: Value) {
        let count = {
            let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            if events.len() < MAX_EVENTS {
                events.push(RunEvent { name: name.to_owned(), data: Arc::new(data) });
            }
            events.len()
        };
        self.seen.send_replace((count, false));
    }

    /// Notes a piece of what a model writes, as long as it leaves room for everything else.
    fn record_text(&self, text: &str) {
        if self.seen.borrow().0 < MAX_TEXT_EVENTS {
            self.record("text", json!({"text": text}));
        }
    }

    /// Ends it.
    pub(crate) fn over(&self, end: End) {
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
    pub(crate) async fn next(&mut self) -> Option<(usize, RunEvent)> {
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

/// That the provider of the model failed, as the clients of this catalog are shown it.
pub(crate) fn refuse_provider(catalog: &Catalog, failure: &LlmError) -> Refusal {
    Refusal::new(RefusalCode::ProviderFailed, catalog.redact(&failure.to_string()))
}

impl Run {
    /// An event of the agent, under its name. How it ended is said once, at the end, by [`Run::finish`].
    pub(crate) fn observe(&self, event: &Event) {
        match event {
            Event::Done { .. } => {}
            Event::Text { text } => self.record_text(text),
            Event::Error { code, .. } if code == RefusalCode::ProviderFailed.as_str() => {}
            Event::Error { code, message } => self.record("error", json!({"error": code, "message": message})),
            event => {
                let mut data = serde_json::to_value(event).unwrap_or_default();
                let name = data.as_object_mut().and_then(|fields| fields.shift_remove("type"));
                self.record(name.as_ref().and_then(Value::as_str).unwrap_or("event"), data);
            }
        }
    }

    /// The result, told under its name, and why it is not whole.
    pub(crate) fn finish(
        &self,
        name: &str,
        result: &impl Serialize,
        (ended, cost): (Ended, RunCost),
        failure: Option<Refusal>,
    ) -> End {
        let failure = match (failure, ended) {
            (Some(failure), _) => Some(failure),
            (None, Ended::Cancelled) => Some(Refusal::new(
                RefusalCode::Cancelled,
                self.reason.get().copied().unwrap_or("the client cancelled it"),
            )),
            _ => None,
        };
        if let Some(failure) = &failure {
            self.record("error", failure.to_json());
        }
        let mut result = serde_json::to_value(result).unwrap_or_default();
        // A workflow has a handle of its own.
        if let Some(fields) = result.as_object_mut() {
            fields.entry("handle").or_insert_with(|| self.handle.clone().into());
        }
        self.record(name, result.clone());
        End { result: Arc::new(result), failure, cost }
    }
}
