//! A run: its events so far, its followers, and how it ended. A client that reconnects with the number of the last event it received gets
//! the rest.

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

/// Limit on the events stored per run; streamed model text may take half of it.
const MAX_EVENTS: usize = 5_000;
const MAX_TEXT_EVENTS: usize = MAX_EVENTS / 2;

/// An event of a run.
#[derive(Debug, Clone)]
pub(crate) struct RunEvent {
    /// Name of the event: `round`, `tool`, `plan`, ...
    pub(crate) name: String,
    /// Data of the event.
    pub(crate) data: Arc<Value>,
}

/// The kind of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Plan,
    Ask,
    /// A turn of a workflow.
    Workflow,
}

impl Task {
    /// The tasks that need only a question.
    pub(crate) const OF_QUESTIONS: [Task; 2] = [Task::Plan, Task::Ask];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Task::Plan => "plan",
            Task::Ask => "ask",
            Task::Workflow => "workflow",
        }
    }
}

/// The cost of a plan or an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunCost {
    /// The classification of an answer; `None` for a plan.
    pub(crate) classification: Option<Classification>,
    pub(crate) metrics: Metrics,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub(crate) struct End {
    /// The plan or the answer, possibly partial.
    pub(crate) result: Arc<Value>,
    /// Why the result is incomplete.
    pub(crate) failure: Option<Refusal>,
    pub(crate) cost: RunCost,
}

impl End {
    /// Creates the end of a run without a result.
    pub(crate) fn without_result(failure: Refusal) -> End {
        End { result: Arc::new(Value::Null), failure: Some(failure), cost: RunCost::default() }
    }
}

pub(crate) struct Run {
    pub(crate) handle: String,
    pub(crate) owner: Owner,
    pub(crate) task: Task,
    pub(crate) question: String,
    /// The handle of the workflow whose turn it is.
    pub(crate) workflow: Option<String>,
    pub(crate) cancel: CancellationToken,
    events: Mutex<Vec<RunEvent>>,
    /// Number of events, and whether the run has ended.
    seen: watch::Sender<(usize, bool)>,
    end: OnceLock<End>,
    /// Why it was cancelled; the first reason is kept.
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

    /// Marks the run as a turn of a workflow.
    pub(crate) fn of_workflow(self, workflow: &str) -> Self {
        Run { workflow: Some(workflow.to_owned()), ..self }
    }

    /// Cancels the run with a reason. A finished run is unchanged.
    pub(crate) fn stop(&self, reason: &'static str) {
        if self.end.get().is_none() {
            let _ = self.reason.set(reason);
            self.cancel.cancel();
        }
    }

    /// Returns how it ended; `None` while it is running.
    pub(crate) fn end(&self) -> Option<&End> {
        self.end.get()
    }

    /// Returns how it ended. It is refused while it is running.
    pub(crate) fn require_end(&self) -> Result<&End, Refusal> {
        self.end.get().ok_or_else(|| Refusal::new(RefusalCode::Conflict, "the run has not ended yet"))
    }

    /// Waits for the end.
    pub(crate) async fn wait(&self) -> End {
        let mut seen = self.seen.subscribe();
        // The sender lives as long as the run.
        let _ = seen.wait_for(|(_, over)| *over).await;
        let nothing = || End::without_result(Refusal::new(RefusalCode::Internal, "the run ended without a result"));
        self.end.get().cloned().unwrap_or_else(nothing)
    }

    /// Records an event and notifies followers.
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

    /// Records a piece of streamed model text, as long as that leaves room for other events.
    fn record_text(&self, text: &str) {
        if self.seen.borrow().0 < MAX_TEXT_EVENTS {
            self.record("text", json!({"text": text}));
        }
    }

    /// Ends the run.
    pub(crate) fn over(&self, end: End) {
        let _ = self.end.set(end);
        self.seen.send_modify(|(_, over)| *over = true);
    }

    /// Follows the run from the event after `after`. The run is cancelled when it has had no follower for `linger`.
    pub(crate) fn follow(self: &Arc<Self>, after: usize, linger: Duration) -> Follower {
        self.followers.fetch_add(1, Ordering::SeqCst);
        Follower { run: self.clone(), seen: self.seen.subscribe(), next: after, linger }
    }
}

/// Cancels a run whose client disconnects while it waits for the end.
pub(crate) struct StopOnDrop(pub(crate) Arc<Run>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop("the client disconnected");
    }
}

/// A follower of a run.
pub(crate) struct Follower {
    run: Arc<Run>,
    seen: watch::Receiver<(usize, bool)>,
    next: usize,
    linger: Duration,
}

impl Follower {
    /// Returns the next event with its number, from 1; `None` after the last one.
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
                run.stop("the client disconnected");
            }
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(left);
        }
    }
}

/// Returns a failure of the model provider in the form that clients of this catalog may see.
pub(crate) fn refuse_provider(catalog: &Catalog, failure: &LlmError) -> Refusal {
    Refusal::new(RefusalCode::ProviderFailed, catalog.redact(&failure.to_string()))
}

impl Run {
    /// Records an event of the agent. The end is recorded once, by [`Run::finish`].
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

    /// Records the result, and returns it with the reason if it is incomplete.
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
                self.reason.get().copied().unwrap_or("cancelled by the client"),
            )),
            _ => None,
        };
        if let Some(failure) = &failure {
            self.record("error", failure.to_json());
        }
        let mut result = serde_json::to_value(result).unwrap_or_default();
        // A workflow has its own handle.
        if let Some(fields) = result.as_object_mut() {
            fields.entry("handle").or_insert_with(|| self.handle.clone().into());
        }
        self.record(name, result.clone());
        End { result: Arc::new(result), failure, cost }
    }
}
