//! The loop: model, tool calls, results, until the goal is reached, or there is a reason why it is not.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use futures::{StreamExt, stream::FuturesUnordered};
use prospector_core::record::Resource;
use prospector_core::tool::{
    Answer, ToolError, ToolErrorCode, ToolSpec,
    repair::{Repaired, repair_arguments, repair_name},
};
use prospector_discovery::prompt::Prompt;
use prospector_llm::{
    ChatModel, ChatRequest, ChatResponse, LlmError, Message,
    message::{ToolCall, Usage},
};
use serde_json::{Value, json};
use tokio::time::timeout;
use tracing::{Instrument, Span};

pub use crate::{
    goal::{Goal, Judgement, Reply},
    names::Names,
    tools::Tools,
};

use crate::{
    Limits, Request,
    budget::Budget,
    event::Event,
    history::{Given, History},
    metrics::{Durations, Ended, Metrics, ToolMetrics},
    spans,
};

/// Characters of the reason why a call failed, as it is told in an event.
const MAX_REASON_CHARS: usize = 300;

/// The share of the time after which a model is told to finish.
const LATE: f64 = 0.8;

/// A model, the tools that it may call, and the names that exist. Each run pursues one [`Goal`].
pub struct AgentLoop<'a, T> {
    /// The model.
    pub model: &'a dyn ChatModel,
    /// The tools.
    pub tools: &'a T,
    /// What exists. The names that a tool reveals are noted as this spells them.
    pub names: &'a (dyn Names + Sync),
}

/// The outcome of [`AgentLoop::run`], whatever ended it.
#[derive(Debug)]
pub struct LoopResult {
    /// Why it ended.
    pub ended: Ended,
    /// Set with [`Ended::ProviderFailed`].
    pub failure: Option<LlmError>,
    /// The names that the prompt and the results revealed.
    pub seen: HashSet<Resource>,
    /// What it cost.
    pub metrics: Metrics,
    /// The whole conversation, the opening included. Every call has exactly one result, whatever ended the run.
    pub messages: Vec<Message>,
    /// What a step after the run belongs to, where runs are traced.
    pub(crate) span: Span,
}

impl<T: Tools> AgentLoop<'_, T> {
    /// Runs until the goal is reached, a limit of the request is, or something ends it. Whatever the model does, it ends
    /// within the limits and with a reason, and every call has one result.
    ///
    /// `messages` is the conversation so far; its last message is what is asked. Of the request, only the limits, the
    /// cancellation and the observer count here.
    pub async fn run(
        &self,
        goal: &mut (dyn Goal + '_),
        prompt: &Prompt,
        messages: Vec<Message>,
        request: &Request<'_>,
    ) -> LoopResult {
        let limits = request.limits();
        let mut run = Run::new(self, goal, prompt, messages, request);
        let span = spans::run(run.goal.name(), self.model.name());
        let ended = tokio::select! {
            biased;
            () = request.cancel.cancelled() => Ok(Ended::Cancelled),
            ended = timeout(limits.run_time, run.run_rounds()).instrument(span.clone()) => {
                ended.unwrap_or(Ok(Ended::TimeLimit))
            }
        };
        let (ended, failure) = match ended {
            Ok(ended) => (ended, None),
            Err(error) => (Ended::ProviderFailed, Some(error)),
        };
        spans::record_end(&span, ended);
        run.into_result(ended, failure, span)
    }
}

/// The state of one run.
struct Run<'a, T> {
    agent: &'a AgentLoop<'a, T>,
    goal: &'a mut (dyn Goal + 'a),
    prompt: &'a Prompt,
    request: &'a Request<'a>,
    limits: Limits,
    specs: Vec<ToolSpec>,
    seen: HashSet<Resource>,
    budget: Budget,
    history: History,
    /// Whether the model was told to finish.
    finish: bool,
    /// The results of the round that runs, by the places of their calls.
    arrived: Vec<(usize, CallResult)>,
    usage: Usage,
    /// Input and output tokens of the largest round: every distinct token once.
    largest_round: u64,
    metrics: Metrics,
    model_time: Duration,
    tools_time: Duration,
    started: Instant,
}

/// What one call gave.
struct CallResult {
    given: Result<Answer, (FailureKind, Value)>,
    took: Duration,
}

/// How a call failed.
#[derive(PartialEq, Eq)]
enum FailureKind {
    /// It was not made; other calls may be.
    Refused,
    /// Other arguments would repair it.
    Repairable,
    /// No arguments would.
    Final,
    /// It did not come to its end: in its time, or by a defect.
    Unfinished,
}

/// How a round of tool calls went.
#[derive(PartialEq, Eq)]
enum RoundOutcome {
    SomeWorked,
    /// All failed, but each in a way that other calls would repair.
    AllRepairable,
    AllFailed,
}

impl<'a, T: Tools> Run<'a, T> {
    fn new(
        agent: &'a AgentLoop<'a, T>,
        goal: &'a mut (dyn Goal + 'a),
        prompt: &'a Prompt,
        messages: Vec<Message>,
        request: &'a Request<'a>,
    ) -> Self {
        let limits = request.limits();
        let specs = if prompt.with_tools { agent.tools.specs() } else { Vec::new() };
        let mut fixed: Vec<String> = prompt.system.iter().map(|block| block.text.clone()).collect();
        if prompt.with_tools {
            fixed.push(serde_json::to_string(&specs).unwrap_or_default());
        }
        Run {
            agent,
            goal,
            prompt,
            request,
            limits,
            specs,
            seen: prompt.revealed.iter().cloned().collect(),
            budget: Budget::new(limits),
            history: History::new(messages, fixed, limits.context_tokens, agent.model.reads_data()),
            finish: false,
            arrived: Vec::new(),
            usage: Usage::default(),
            largest_round: 0,
            metrics: Metrics { tokens_full_prompt: prompt.tokens.full_prompt as u64, ..Metrics::default() },
            model_time: Duration::ZERO,
            tools_time: Duration::ZERO,
            started: Instant::now(),
        }
    }

    fn observe(&self, event: Event) {
        (self.request.observe)(event);
    }

    async fn run_rounds(&mut self) -> Result<Ended, LlmError> {
        let mut failed_before = false;
        while self.metrics.model_calls < self.limits.rounds {
            self.metrics.model_calls += 1;
            let number = self.metrics.model_calls;
            self.observe(Event::Round { number });
            let span = spans::round(number);
            let response = self.ask_model().instrument(span.clone()).await?;
            if !response.text.trim().is_empty() && !response.calls.is_empty() {
                self.observe(Event::Thinking { text: response.text.clone() });
            }
            self.history.assistant(response.text.clone(), response.calls.clone());
            if !response.calls.is_empty() {
                let round = self.run_calls(&response.calls).instrument(span).await;
                // Wrong arguments are worth one more round: the answer says what would be right.
                let failed =
                    round == RoundOutcome::AllFailed || (round == RoundOutcome::AllRepairable && failed_before);
                if let Some(ended) = self.goal.end_after_round(failed.then_some(Ended::AllToolsFailed)) {
                    return Ok(ended);
                }
                failed_before = round == RoundOutcome::AllRepairable;
                if let Some(text) = self.goal.announce_after_round() {
                    self.history.say(text);
                }
                self.remind_to_finish();
                continue;
            }
            let reply = Reply { text: &response.text, cut: response.cut, seen: &self.seen };
            match self.goal.judge(reply, self.request.observe) {
                Judgement::Accepted => return Ok(Ended::Completed),
                Judgement::GivenUp(ended) => return Ok(ended),
                Judgement::Again(complaint) => self.history.say(complaint),
            }
        }
        // A result that waits for its repair is still the best that is known.
        Ok(if self.goal.has_result() { Ended::Completed } else { Ended::RoundLimit })
    }

    async fn ask_model(&mut self) -> Result<ChatResponse, LlmError> {
        let request = ChatRequest {
            purpose: self.goal.purpose(self.history.messages(), self.finish),
            system: self.prompt.system.clone(),
            messages: self.history.messages().to_vec(),
            tools: self.specs.clone(),
            max_output_tokens: self.limits.output_tokens,
        };
        let started = Instant::now();
        let response = spans::complete(self.agent.model, &request).await;
        self.model_time += started.elapsed();
        let response = response?;
        self.usage += response.usage;
        self.largest_round = self.largest_round.max(response.usage.input_tokens + response.usage.output_tokens);
        Ok(response)
    }

    /// Why a call is not made, as a code and a message; none where it is made, and then it is counted.
    fn refuse(&mut self, call: &ToolCall) -> Option<(&'static str, String)> {
        let due = "no more calls: finish from what you know";
        if !self.prompt.with_tools {
            Some(("no_tools", "there are no tools in this conversation: answer without".into()))
        } else if self.metrics.model_calls >= self.limits.rounds {
            Some(("no_rounds_left", due.into()))
        } else if self.budget.is_out(&call.name) {
            Some(("tool_removed", "this tool failed too often and was removed: go on without it".into()))
        } else if let Some(reason) = self.goal.refuse(call) {
            Some(("refused", reason))
        } else if !self.budget.take_call() {
            Some(("no_calls_left", due.into()))
        } else {
            None
        }
    }

    /// Runs the calls of one round at once; the results stand in the order of the calls, one for each.
    async fn run_calls(&mut self, calls: &[ToolCall]) -> RoundOutcome {
        let started = Instant::now();
        let last_round = self.metrics.model_calls >= self.limits.rounds;
        let mut pending = FuturesUnordered::new();
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
            pending.push(work.instrument(span));
        }
        while let Some((place, result)) = pending.next().await {
            // At once, since the run may be cancelled while it waits for the others.
            if let Ok(answer) = &result.given {
                self.note_names(answer);
            }
            self.arrived.push((place, result));
        }
        drop(pending);
        let (worked, repairable) = self.record_results(calls);
        self.tools_time += started.elapsed();
        if worked > 0 || last_round || self.budget.calls_left() == 0 {
            RoundOutcome::SomeWorked
        } else if repairable == calls.len() {
            RoundOutcome::AllRepairable
        } else {
            RoundOutcome::AllFailed
        }
    }

    /// Notes the names that an answer reveals, as the catalog spells them: a tool may repeat a name as the model wrote it.
    fn note_names(&mut self, answer: &Answer) {
        let names = self.agent.names;
        self.seen.extend(answer.reveals().iter().map(|resource| {
            let id = names.resolve(resource.kind, &resource.id).unwrap_or_else(|| resource.id.clone());
            Resource::new(resource.kind, id)
        }));
    }

    /// The call as it was certainly meant, with notes on what was read otherwise.
    fn repair(&self, call: &ToolCall) -> (ToolCall, Vec<String>) {
        let name = repair_name(&call.name, &self.specs).to_owned();
        let Repaired { arguments, notes } = match self.specs.iter().find(|spec| spec.name == name) {
            Some(spec) => repair_arguments(call.arguments.clone(), &spec.input_schema),
            None => Repaired { arguments: call.arguments.clone(), notes: Vec::new() },
        };
        (ToolCall { id: call.id.clone(), name, arguments }, notes)
    }

    /// Gives every call of the round its result: what arrived, or that it was cancelled. Returns how many worked, and how
    /// many failed in a way that can be repaired.
    fn record_results(&mut self, calls: &[ToolCall]) -> (usize, usize) {
        let mut results: Vec<Option<CallResult>> = calls.iter().map(|_| None).collect();
        for (place, result) in self.arrived.drain(..) {
            if let Some(slot) = results.get_mut(place) {
                *slot = Some(result);
            }
        }
        let (mut worked, mut repairable) = (0, 0);
        let mut given = Vec::with_capacity(calls.len());
        let mut events = Vec::with_capacity(calls.len());
        for (call, result) in calls.iter().zip(results) {
            let CallResult { given: result, took } = result.unwrap_or_else(|| CallResult {
                given: Err((
                    FailureKind::Unfinished,
                    json!({"error": "cancelled", "message": "the run ended before it"}),
                )),
                took: Duration::ZERO,
            });
            let kind = result.as_ref().err().map(|(kind, _)| kind);
            // What the loop says itself is meant to be followed.
            let by_tool = matches!(kind, Some(FailureKind::Repairable | FailureKind::Final));
            let made = kind != Some(&FailureKind::Refused);
            worked += usize::from(kind.is_none());
            repairable += usize::from(matches!(kind, Some(FailureKind::Refused | FailureKind::Repairable)));
            let (repaired, notes) = self.repair(call);
            if made {
                self.count_call(&repaired.name, kind.is_some(), took);
            }
            let mut result = result.map(|answer| answer.with_notes(notes)).map_err(|(_, error)| error);
            let queries = self.goal.after_call(&repaired, &mut result);
            events.push((call.name.clone(), result.as_ref().err().map(read_reason), queries));
            let result = match result {
                Ok(answer) => Given::Answer(answer),
                Err(error) if by_tool => Given::Failed(error),
                Err(error) => Given::Refused(error),
            };
            given.push((call, result));
        }
        let sizes = self.history.results(given);
        for ((name, failure, queries), bytes) in events.into_iter().zip(sizes) {
            let failed = failure.is_some();
            self.observe(Event::Result { name, failed, reason: failure.flatten(), bytes, queries });
        }
        (worked, repairable)
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

    /// Tells the model to finish, one round before the end, or when the time is nearly over.
    fn remind_to_finish(&mut self) {
        let left = self.limits.rounds - self.metrics.model_calls;
        let late = self.started.elapsed() > self.limits.run_time.mul_f64(LATE);
        if left == 1 || late || self.budget.calls_left() == 0 {
            self.finish = true;
            self.history.say(self.goal.finish_order());
        } else if left == 2 {
            let text = "One more round with tools is possible, then you must finish. ";
            self.history.say(format!("{text}If you can, do it now: {}", self.goal.finish_order()));
        }
    }

    fn into_result(mut self, ended: Ended, failure: Option<LlmError>, span: Span) -> LoopResult {
        // A run that was stopped in the middle of a round keeps what had arrived, and a conversation that holds.
        let open = self.history.open_calls();
        if !open.is_empty() {
            self.record_results(&open);
        }
        let full = self.metrics.tokens_full_prompt;
        let saved = if full == 0 { 0.0 } else { 1.0 - self.largest_round as f64 / full as f64 };
        let metrics = Metrics {
            tool_calls: self.budget.calls(),
            input_tokens: self.usage.input_tokens,
            output_tokens: self.usage.output_tokens,
            cached_tokens: self.usage.cached_tokens,
            durations_ms: Durations {
                model: milliseconds(self.model_time),
                tools: milliseconds(self.tools_time),
                total: milliseconds(self.started.elapsed()),
            },
            saved: (saved * 1000.0).round() / 1000.0,
            ..self.metrics
        };
        tracing::info!(
            rounds = metrics.model_calls,
            calls = metrics.tool_calls,
            input_tokens = metrics.input_tokens,
            output_tokens = metrics.output_tokens,
            ended = ended.reason(),
            "the run is over"
        );
        LoopResult { ended, failure, seen: self.seen, metrics, messages: self.history.into_messages(), span }
    }
}

async fn call_tool(tools: &impl Tools, call: ToolCall, time_limit: Duration) -> Result<Answer, (FailureKind, Value)> {
    match timeout(time_limit, tools.call(&call.name, call.arguments)).await {
        Ok(Ok(answer)) => Ok(answer),
        Err(_) => {
            let message = format!("no answer within {} s", time_limit.as_secs());
            Err((FailureKind::Unfinished, json!({"error": "timeout", "message": message})))
        }
        Ok(Err(error)) => {
            let kind = match &error {
                ToolError::Fatal { source } => {
                    tracing::error!(tool = call.name, %source, "a tool failed");
                    FailureKind::Unfinished
                }
                ToolError::Respond {
                    code: ToolErrorCode::NotFound | ToolErrorCode::InvalidArguments | ToolErrorCode::UnknownTool,
                    ..
                } => FailureKind::Repairable,
                ToolError::Respond { .. } => FailureKind::Final,
            };
            Err((kind, error.to_json()))
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Why a call failed, in short.
fn read_reason(error: &Value) -> Option<String> {
    error["message"].as_str().map(|message| message.chars().take(MAX_REASON_CHARS).collect())
}
