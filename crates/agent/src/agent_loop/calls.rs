//! The tool calls of a round: which are refused, how they run, and how their results are recorded.

use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use prospector_core::mark::clean;
use prospector_core::record::Resource;
use prospector_core::tool::{
    Answer, ToolError,
    repair::{Repaired, repair_arguments, repair_name},
};
use prospector_llm::message::ToolCall;
use serde_json::{Value, json};
use tokio::time::timeout;
use tracing::Instrument;

use super::{Run, Tools, milliseconds};
use crate::{
    event::Event,
    history::Given,
    metrics::{CallRecord, ToolMetrics},
    spans,
};

/// Characters of the arguments and of the result of a call in a log.
const MAX_LOGGED_CHARS: usize = 2_000;

/// Characters of a failure reason in an event.
const MAX_REASON_CHARS: usize = 300;

/// The outcome of one call.
pub(super) struct CallResult {
    given: Result<Answer, (FailureKind, Value)>,
    took: Duration,
}

/// How a call failed.
#[derive(PartialEq, Eq)]
pub(super) enum FailureKind {
    /// It was refused; other calls may be accepted.
    Refused,
    /// The tool reported an error.
    ByTool,
    /// It timed out, was cancelled, or failed by a defect.
    Unfinished,
}

impl<T: Tools> Run<'_, T> {
    /// Returns why a call is refused, as a code and a message. A call that is accepted is counted.
    fn refuse(&mut self, call: &ToolCall) -> Option<(&'static str, String)> {
        let due = "no calls left: finish with what you know";
        if !self.prompt.with_tools || self.recovery.is_last() {
            Some(("no_tools", "tools are not available in this conversation: answer without them".into()))
        } else if self.metrics.model_calls >= self.limits.rounds {
            Some(("no_rounds_left", due.into()))
        } else if self.budget.is_out(&call.name) {
            Some(("tool_removed", "this tool failed too often and is disabled: continue without it".into()))
        } else if let Some(reason) = self.goal.refuse(call) {
            Some(("refused", reason))
        } else if !self.budget.take_call() {
            Some(("no_calls_left", due.into()))
        } else {
            None
        }
    }

    /// Runs the calls of one round concurrently. Results are recorded in the order of the calls. Returns whether all of them failed although
    /// the model may call again.
    pub(super) async fn run_calls(&mut self, calls: &[ToolCall]) -> bool {
        let started = Instant::now();
        let last_round = self.metrics.model_calls >= self.limits.rounds;
        let mut made = Vec::new();
        for (place, call) in calls.iter().enumerate() {
            let (call, _) = self.repair(call);
            if let Some((code, message)) = self.refuse(&call) {
                let given = Err((FailureKind::Refused, json!({"error": code, "message": message})));
                self.arrived.push((place, CallResult { given, took: Duration::ZERO }));
                continue;
            }
            self.observe(Event::Tool { name: call.name.clone(), arguments: call.arguments.clone() });
            self.goal.before_call(&call, self.request.observe);
            let (tools, time_limit) = (self.agent.tools, self.limits.call_time);
            let span = spans::tool(self.specs.iter().find(|spec| spec.name == call.name).map(|spec| &*spec.name));
            let marked = span.clone();
            let work = async move {
                let started = Instant::now();
                let given = call_tool(tools, call, time_limit).await;
                if let Err((_, error)) = &given {
                    spans::record_failure(&marked, error["error"].as_str().unwrap_or("_OTHER"));
                }
                (place, CallResult { given, took: started.elapsed() })
            };
            made.push(work.instrument(span));
        }
        let mut pending = stream::iter(made).buffer_unordered(self.limits.calls_at_once.max(1) as usize);
        while let Some((place, result)) = pending.next().await {
            // Immediately, since the run may be cancelled while it waits for the others.
            if let Ok(answer) = &result.given {
                self.note_names(answer);
            }
            self.arrived.push((place, result));
        }
        drop(pending);
        let worked = self.record_results(calls);
        self.tools_time += started.elapsed();
        worked == 0 && !last_round && self.budget.calls_left() > 0
    }

    /// Records the names that an answer reveals in the spelling of the catalog. A tool may repeat the spelling of the model.
    fn note_names(&mut self, answer: &Answer) {
        for resource in answer.reveals() {
            let id = self.agent.names.resolve(resource.kind, &resource.id).unwrap_or_else(|| resource.id.clone());
            let named = Resource::new(resource.kind, id);
            self.seen.insert(named.clone());
            self.found.insert(named);
        }
    }

    /// Returns the call with its unambiguous mistakes repaired, and a note on each repair.
    fn repair(&self, call: &ToolCall) -> (ToolCall, Vec<String>) {
        let name = repair_name(&call.name, &self.specs).to_owned();
        let Repaired { arguments, notes } = match self.specs.iter().find(|spec| spec.name == name) {
            Some(spec) => repair_arguments(call.arguments.clone(), &spec.input_schema),
            None => Repaired { arguments: call.arguments.clone(), notes: Vec::new() },
        };
        (ToolCall { id: call.id.clone(), name, arguments }, notes)
    }

    /// Records a result for every call of the round; calls without one are cancelled. Returns the number of successful calls.
    pub(super) fn record_results(&mut self, calls: &[ToolCall]) -> usize {
        let mut results: Vec<Option<CallResult>> = calls.iter().map(|_| None).collect();
        for (place, result) in self.arrived.drain(..) {
            if let Some(slot) = results.get_mut(place) {
                *slot = Some(result);
            }
        }
        let mut worked = 0;
        let mut given = Vec::with_capacity(calls.len());
        let mut events = Vec::with_capacity(calls.len());
        for (call, result) in calls.iter().zip(results) {
            let CallResult { given: result, took } = result.unwrap_or_else(|| CallResult {
                given: Err((
                    FailureKind::Unfinished,
                    json!({"error": "cancelled", "message": "the run ended before this call"}),
                )),
                took: Duration::ZERO,
            });
            let kind = result.as_ref().err().map(|(kind, _)| kind);
            // Errors of the loop are instructions; those of tools may contain untrusted text.
            let by_tool = kind == Some(&FailureKind::ByTool);
            let made = kind != Some(&FailureKind::Refused);
            worked += usize::from(kind.is_none());
            let (repaired, notes) = self.repair(call);
            if made {
                self.count_call(&repaired.name, kind.is_some(), took);
            }
            let mut result = result.map(|answer| answer.with_notes(notes)).map_err(|(_, error)| error);
            let queries = self.goal.after_call(&repaired, &mut result);
            log_call(&repaired, &result);
            let made = made.then_some((repaired.name, took));
            events.push((call.name.clone(), result.as_ref().err().map(read_reason), queries, made));
            let result = match result {
                Ok(answer) => Given::Answer(answer),
                Err(error) if by_tool => Given::Failed(error),
                Err(error) => Given::Refused(error),
            };
            given.push((call, result));
        }
        let sizes = self.history.results(given);
        for ((name, failure, queries, made), bytes) in events.into_iter().zip(sizes) {
            let failed = failure.is_some();
            self.record_call(made.map(|(tool, took)| CallRecord {
                tool,
                failed,
                bytes,
                milliseconds: milliseconds(took),
            }));
            self.metrics.queries += u32::try_from(queries.len()).unwrap_or(u32::MAX);
            self.metrics.failed_queries += queries.iter().map(|query| u32::from(query.error.is_some())).sum::<u32>();
            self.observe(Event::Result { name, failed, reason: failure.flatten(), bytes, queries });
        }
        worked
    }

    /// Adds a call to the record of its round; `None` is a refused call.
    fn record_call(&mut self, made: Option<CallRecord>) {
        let Some(round) = self.metrics.rounds.last_mut() else { return };
        match made {
            Some(call) => round.calls.push(call),
            None => round.refused += 1,
        }
    }

    fn count_call(&mut self, tool: &str, failed: bool, took: Duration) {
        if failed {
            self.budget.count_failure(tool);
        }
        let metrics: &mut ToolMetrics = self.metrics.tools.entry(tool.to_owned()).or_default();
        metrics.calls += 1;
        metrics.failed += u32::from(failed);
        metrics.milliseconds += milliseconds(took);
        self.metrics.failed_calls += u32::from(failed);
    }
}

async fn call_tool(tools: &impl Tools, call: ToolCall, time_limit: Duration) -> Result<Answer, (FailureKind, Value)> {
    match timeout(time_limit, tools.call(&call.name, call.arguments)).await {
        Ok(Ok(answer)) => Ok(answer),
        Err(_) => {
            let message = format!("timed out after {} s", time_limit.as_secs());
            Err((FailureKind::Unfinished, json!({"error": "timeout", "message": message})))
        }
        Ok(Err(error)) => {
            let kind = match &error {
                ToolError::Fatal { source } => {
                    tracing::error!(tool = call.name, %source, "a tool failed");
                    FailureKind::Unfinished
                }
                ToolError::Respond { .. } => FailureKind::ByTool,
            };
            Err((kind, error.to_json()))
        }
    }
}

/// Logs a call at debug level. It may contain data.
fn log_call(call: &ToolCall, result: &Result<Answer, Value>) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let cut = |value: &Value| clean(&value.to_string(), MAX_LOGGED_CHARS);
    let result = result.as_ref().map_or_else(cut, |answer| cut(answer.json()));
    tracing::debug!(tool = call.name, arguments = cut(&call.arguments), result, "tool call");
}

/// Returns the truncated message of an error.
fn read_reason(error: &Value) -> Option<String> {
    error["message"].as_str().map(|message| message.chars().take(MAX_REASON_CHARS).collect())
}
