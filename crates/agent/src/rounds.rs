//! The loop: model, tool calls, results, until the goal is reached, or there is a reason why it is not.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use futures::{StreamExt, stream::FuturesUnordered};
use prospector_core::{Answer, Resource, ToolError, ToolErrorCode, ToolSpec};
use prospector_llm::{ChatModel, ChatRequest, ChatResponse, LlmError, Message, SystemBlock, ToolCall, Usage};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use crate::{
    Limits,
    budget::Budget,
    event::Event,
    goal::{Goal, Judgement, Observe, Ran, Said},
    history::{Given, History},
    mend,
    plan::{Durations, Ended, Metrics, ToolMetrics},
    run::Tools,
    spans,
    verify::Names,
};

/// The reason why a call failed is told in so many characters.
const LONGEST_REASON: usize = 300;

/// What a run begins with.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The system prompt, static text first.
    pub system: Vec<SystemBlock>,
    /// The conversation so far; the last one is the question.
    pub messages: Vec<Message>,
    /// Whether the model is given the tools.
    pub with_tools: bool,
    /// The names that the prompt itself shows.
    pub revealed: Vec<Resource>,
    /// Tokens of one prompt with all metadata, for the comparison in the metrics.
    pub tokens_full_prompt: u64,
}

/// Runs until the goal is reached, a limit is, or something ends it. Whatever the model does, it ends within the limits and
/// with a reason, and every call has one result.
#[allow(clippy::too_many_arguments, reason = "what is pursued, by whom, with what, how far, and who is told")]
pub async fn pursue(
    goal: &mut (dyn Goal + '_),
    model: &dyn ChatModel,
    tools: &impl Tools,
    names: &(dyn Names + Sync),
    start: Start,
    limits: Limits,
    cancel: &CancellationToken,
    observe: &Observe<'_>,
) -> Ran {
    let specs = if start.with_tools { tools.specs() } else { Vec::new() };
    let mut fixed: Vec<String> = start.system.iter().map(|block| block.text.clone()).collect();
    if start.with_tools {
        fixed.push(serde_json::to_string(&specs).unwrap_or_default());
    }
    let mut run = Run {
        goal,
        model,
        tools,
        specs,
        names,
        limits,
        observe,
        seen: start.revealed.iter().cloned().collect(),
        budget: Budget::new(limits),
        history: History::new(start.messages, fixed, limits.context_tokens),
        system: start.system,
        with_tools: start.with_tools,
        arrived: Vec::new(),
        usage: Usage::default(),
        largest_round: 0,
        metrics: Metrics { tokens_full_prompt: start.tokens_full_prompt, ..Metrics::default() },
        model_time: Duration::ZERO,
        tools_time: Duration::ZERO,
        started: Instant::now(),
    };
    let span = spans::run(run.goal.name(), model.name());
    let ended = tokio::select! {
        biased;
        () = cancel.cancelled() => Ok(Ended::Cancelled),
        ended = timeout(limits.run_time, run.rounds()).instrument(span.clone()) => {
            ended.unwrap_or(Ok(Ended::TimeLimit))
        }
    };
    let (ended, failure) = match ended {
        Ok(ended) => (ended, None),
        Err(error) => (Ended::ProviderFailed, Some(error)),
    };
    spans::ended(&span, ended);
    run.finish(ended, failure, span)
}

struct Run<'a, T> {
    goal: &'a mut (dyn Goal + 'a),
    model: &'a dyn ChatModel,
    tools: &'a T,
    specs: Vec<ToolSpec>,
    names: &'a (dyn Names + Sync),
    limits: Limits,
    observe: &'a Observe<'a>,
    seen: HashSet<Resource>,
    budget: Budget,
    history: History,
    system: Vec<SystemBlock>,
    with_tools: bool,
    /// The answers of the round that runs, by the places of their calls.
    arrived: Vec<(usize, Arrived)>,
    usage: Usage,
    /// Input and output tokens of the largest round: every distinct token once.
    largest_round: u64,
    metrics: Metrics,
    model_time: Duration,
    tools_time: Duration,
    started: Instant,
}

/// What came of one call.
struct Arrived {
    given: Result<Answer, (Failed, Value)>,
    took: Duration,
}

/// How a call failed.
#[derive(PartialEq, Eq)]
enum Failed {
    /// It was not made; other calls may be.
    Refused,
    /// Other arguments would mend it.
    Mendable,
    ForGood,
    /// It did not come to its end: in its time, or by a defect.
    Unfinished,
}

/// How a round of tool calls went.
#[derive(PartialEq, Eq)]
enum Round {
    SomeWorked,
    /// All failed, but each in a way that other calls would mend.
    AllMendable,
    AllFailed,
}

impl<T: Tools> Run<'_, T> {
    async fn rounds(&mut self) -> Result<Ended, LlmError> {
        let mut failed_before = false;
        while self.metrics.model_calls < self.limits.rounds {
            self.metrics.model_calls += 1;
            let number = self.metrics.model_calls;
            (self.observe)(Event::Round { number });
            let span = spans::round(number);
            let response = self.ask().instrument(span.clone()).await?;
            if !response.text.trim().is_empty() && !response.calls.is_empty() {
                (self.observe)(Event::Thinking { text: response.text.clone() });
            }
            self.history.assistant(response.text.clone(), response.calls.clone());
            if !response.calls.is_empty() {
                let round = self.call_all(&response.calls).instrument(span).await;
                // Wrong arguments are worth one more round: the answer says how to mend them.
                let failed = round == Round::AllFailed || (round == Round::AllMendable && failed_before);
                if let Some(ended) = self.goal.ends(failed.then_some(Ended::AllToolsFailed)) {
                    return Ok(ended);
                }
                failed_before = round == Round::AllMendable;
                if let Some(text) = self.goal.after_round() {
                    self.history.say(text);
                }
                self.guide();
                continue;
            }
            let said = Said { text: &response.text, cut: response.cut, seen: &self.seen };
            match self.goal.judge(said, self.observe) {
                Judgement::Accepted => return Ok(Ended::Completed),
                Judgement::GivenUp(ended) => return Ok(ended),
                Judgement::Again(complaint) => self.history.say(complaint),
            }
        }
        // A result that waits for its repair is still the best that is known.
        Ok(if self.goal.has_result() { Ended::Completed } else { Ended::RoundLimit })
    }

    async fn ask(&mut self) -> Result<ChatResponse, LlmError> {
        let request = ChatRequest {
            system: self.system.clone(),
            messages: self.history.messages().to_vec(),
            tools: self.specs.clone(),
            max_output_tokens: self.limits.output_tokens,
        };
        let started = Instant::now();
        let response = spans::complete(self.model, &request).await;
        self.model_time += started.elapsed();
        let response = response?;
        self.usage += response.usage;
        self.largest_round = self.largest_round.max(response.usage.input_tokens + response.usage.output_tokens);
        Ok(response)
    }

    /// Why a call is not made.
    fn refusal(&mut self, call: &ToolCall) -> Option<(&'static str, String)> {
        let due = "no more calls: finish from what you know";
        if !self.with_tools {
            Some(("no_tools", "there are no tools in this conversation: answer without".into()))
        } else if self.metrics.model_calls >= self.limits.rounds {
            Some(("no_rounds_left", due.into()))
        } else if self.budget.is_out(&call.name) {
            Some(("tool_removed", "this tool failed too often and was removed: go on without it".into()))
        } else if let Some(reason) = self.goal.refuses(call) {
            Some(("refused", reason))
        } else if !self.budget.take_call() {
            Some(("no_calls_left", due.into()))
        } else {
            None
        }
    }

    /// Runs the calls of one round at once; the results stand in the order of the calls, one for each.
    async fn call_all(&mut self, calls: &[ToolCall]) -> Round {
        let started = Instant::now();
        let last_round = self.metrics.model_calls >= self.limits.rounds;
        let mut pending = FuturesUnordered::new();
        for (at, call) in calls.iter().enumerate() {
            let mended = self.mended(call);
            let refusal = self.refusal(&mended);
            if refusal.is_none() {
                (self.observe)(Event::Tool { name: mended.name.clone(), arguments: mended.arguments.clone() });
                self.goal.calling(&mended, self.observe);
            }
            if let Some((code, message)) = refusal {
                let given = Err((Failed::Refused, json!({"error": code, "message": message})));
                self.arrived.push((at, Arrived { given, took: Duration::ZERO }));
                continue;
            }
            let (tools, time_limit) = (self.tools, self.limits.call_time);
            let span = spans::tool(self.specs.iter().find(|spec| spec.name == mended.name).map(|spec| &*spec.name));
            let marked = span.clone();
            let work = async move {
                let started = Instant::now();
                let given = called(tools, mended, time_limit).await;
                if let Err((_, error)) = &given {
                    spans::failed(&marked, error["error"].as_str().unwrap_or("_OTHER"));
                }
                (at, Arrived { given, took: started.elapsed() })
            };
            pending.push(work.instrument(span));
        }
        while let Some((at, arrived)) = pending.next().await {
            // At once, since the run may be cancelled while it waits for the others.
            if let Ok(answer) = &arrived.given {
                // A tool may repeat a name as the model spelled it.
                let names = self.names;
                self.seen.extend(answer.reveals.iter().map(|resource| {
                    let id = names.resolve(resource.kind, &resource.id).unwrap_or_else(|| resource.id.clone());
                    Resource::new(resource.kind, id)
                }));
            }
            self.arrived.push((at, arrived));
        }
        drop(pending);
        let (worked, mendable) = self.settle(calls);
        self.tools_time += started.elapsed();
        if worked > 0 || last_round || self.budget.calls_left() == 0 {
            Round::SomeWorked
        } else if mendable == calls.len() {
            Round::AllMendable
        } else {
            Round::AllFailed
        }
    }

    fn mended(&self, call: &ToolCall) -> ToolCall {
        let name = mend::name(&call.name, &self.specs).to_owned();
        let arguments = match self.specs.iter().find(|spec| spec.name == name) {
            Some(spec) => mend::arguments(call.arguments.clone(), &spec.input_schema),
            None => call.arguments.clone(),
        };
        ToolCall { id: call.id.clone(), name, arguments }
    }

    /// Gives every call of the round its result: what arrived, or that it was cancelled. Returns how many worked, and how
    /// many failed in a way that can be mended.
    fn settle(&mut self, calls: &[ToolCall]) -> (usize, usize) {
        let mut arrived: Vec<Option<Arrived>> = calls.iter().map(|_| None).collect();
        for (at, one) in self.arrived.drain(..) {
            if let Some(place) = arrived.get_mut(at) {
                *place = Some(one);
            }
        }
        let (mut worked, mut mendable) = (0, 0);
        let mut given = Vec::with_capacity(calls.len());
        let mut ran = Vec::with_capacity(calls.len());
        let mut failures: Vec<Option<Option<String>>> = Vec::with_capacity(calls.len());
        for (call, arrived) in calls.iter().zip(arrived) {
            let Arrived { given: one, took } = arrived.unwrap_or_else(|| Arrived {
                given: Err((Failed::Unfinished, json!({"error": "cancelled", "message": "the run ended before it"}))),
                took: Duration::ZERO,
            });
            // What the loop says itself is meant to be followed.
            let by_tool = matches!(&one, Err((Failed::Mendable | Failed::ForGood, _)));
            let mended = self.mended(call);
            let made = !matches!(&one, Err((Failed::Refused, _)));
            let mut one = one.map_err(|(failed, error)| {
                mendable += usize::from(matches!(failed, Failed::Refused | Failed::Mendable));
                if made {
                    self.budget.failed(&mended.name);
                }
                error
            });
            worked += usize::from(one.is_ok());
            if made {
                let metrics: &mut ToolMetrics = self.metrics.tools.entry(mended.name.clone()).or_default();
                metrics.calls += 1;
                metrics.failed += u32::from(one.is_err());
                metrics.milliseconds += milliseconds(took);
                self.metrics.failed_calls += u32::from(one.is_err());
            }
            ran.push(self.goal.answered(&mended, &mut one));
            failures.push(one.as_ref().err().map(reason_of));
            let one = match one {
                Ok(answer) => Given::Answer(answer),
                Err(error) if by_tool => Given::Failed(error),
                Err(error) => Given::Refused(error),
            };
            given.push((call, one));
        }
        let sizes = self.history.results(given);
        for ((call, queries), (failure, bytes)) in calls.iter().zip(ran).zip(failures.into_iter().zip(sizes)) {
            let (name, failed) = (call.name.clone(), failure.is_some());
            (self.observe)(Event::Result { name, failed, reason: failure.flatten(), bytes, queries });
        }
        (worked, mendable)
    }

    /// Tells the model to finish, one round before the end, or when the time is nearly over.
    fn guide(&mut self) {
        let left = self.limits.rounds - self.metrics.model_calls;
        let late = self.started.elapsed() > self.limits.run_time.mul_f64(0.8);
        if left == 1 || late || self.budget.calls_left() == 0 {
            self.history.say(self.goal.finish());
        } else if left == 2 {
            let text = "One more round with tools is possible, then you must finish. ";
            self.history.say(format!("{text}If you can, do it now: {}", self.goal.finish()));
        }
    }

    fn finish(mut self, ended: Ended, failure: Option<LlmError>, span: Span) -> Ran {
        // A run that was stopped in the middle of a round keeps what had arrived, and a conversation that holds.
        let open = self.history.open_calls();
        if !open.is_empty() {
            self.settle(&open);
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
        Ran { ended, failure, seen: self.seen, metrics, messages: self.history.into_messages(), span }
    }
}

async fn called(tools: &impl Tools, call: ToolCall, time_limit: Duration) -> Result<Answer, (Failed, Value)> {
    match timeout(time_limit, tools.call(&call.name, call.arguments)).await {
        Ok(Ok(answer)) => Ok(answer),
        Err(_) => {
            let message = format!("no answer within {} s", time_limit.as_secs());
            Err((Failed::Unfinished, json!({"error": "timeout", "message": message})))
        }
        Ok(Err(error)) => {
            let failed = match &error {
                ToolError::Fatal { source } => {
                    tracing::error!(tool = call.name, %source, "a tool failed");
                    Failed::Unfinished
                }
                ToolError::Respond {
                    code: ToolErrorCode::NotFound | ToolErrorCode::InvalidArguments | ToolErrorCode::UnknownTool,
                    ..
                } => Failed::Mendable,
                ToolError::Respond { .. } => Failed::ForGood,
            };
            Err((failed, error.to_json()))
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Why a call failed, in short.
fn reason_of(error: &Value) -> Option<String> {
    error["message"].as_str().map(|message| message.chars().take(LONGEST_REASON).collect())
}
