//! The loop: model, tool calls, results, until there is a plan that holds, or a reason why there is none.

use std::{
    collections::HashSet,
    future::Future,
    time::{Duration, Instant},
};

use futures::{StreamExt, stream::FuturesUnordered};
use prospector_core::{Answer, Resource, ToolError, ToolSpec};
use prospector_discovery::DiscoveryTools;
use prospector_llm::{ChatModel, ChatRequest, ChatResponse, LlmError, SystemBlock, ToolCall, Usage};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::{
    Limits, Mode,
    budget::Budget,
    event::Event,
    history::History,
    parse,
    plan::{Draft, Durations, Ended, Metrics, Plan, Verification},
    verify::{Names, verify},
};

/// What a model is told when no more calls will be made.
pub(crate) const FINISH: &str = "Output the plan now, as JSON and nothing else, from what you have discovered.";

/// The tools that a run may call. The registry of a catalog is one; tests bring their own.
pub trait Tools: Send + Sync {
    /// The specifications, sorted by name.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Calls one of them.
    fn call(&self, name: &str, arguments: Value) -> impl Future<Output = Result<Answer, ToolError>> + Send;
}

/// What a run begins with.
#[derive(Debug, Clone, Default)]
pub struct Task {
    /// The question.
    pub question: String,
    /// How it is to be answered.
    pub mode: Mode,
    /// The system prompt, static text first.
    pub system: Vec<SystemBlock>,
    /// Whether the model is given the tools.
    pub with_tools: bool,
    /// The names that the prompt itself shows.
    pub revealed: Vec<Resource>,
    /// Tokens of one prompt with all metadata, for the comparison in the metrics.
    pub tokens_full_prompt: u64,
}

/// A plan, and the provider's failure if that is why it is not whole.
#[derive(Debug)]
pub struct Outcome {
    /// What is known; `ended` says how it came about.
    pub plan: Plan,
    /// Set with [`Ended::ProviderFailed`].
    pub failure: Option<LlmError>,
}

/// Runs one question to its end. It always ends within `limits`, with a reason; a cancelled run returns what is known so
/// far.
pub async fn run(
    model: &dyn ChatModel,
    tools: &impl Tools,
    names: &(dyn Names + Sync),
    task: Task,
    limits: Limits,
    cancel: &CancellationToken,
    observe: &(dyn Fn(Event) + Send + Sync),
) -> Outcome {
    let mut fixed: Vec<String> = task.system.iter().map(|block| block.text.clone()).collect();
    if task.with_tools {
        fixed.push(serde_json::to_string(&tools.specs()).unwrap_or_default());
    }
    let mut run = Run {
        model,
        tools,
        names,
        limits,
        observe,
        seen: task.revealed.iter().cloned().collect(),
        budget: Budget::new(limits),
        history: History::new(opening(&task), fixed, limits.context_tokens),
        usage: Usage::default(),
        largest_round: 0,
        rounds: 0,
        model_time: Duration::ZERO,
        tools_time: Duration::ZERO,
        task,
        draft: None,
    };
    let started = Instant::now();
    let ended = tokio::select! {
        biased;
        () = cancel.cancelled() => Ok(Ended::Cancelled),
        ended = run.rounds() => ended,
    };
    let (ended, failure) = match ended {
        Ok(ended) => (ended, None),
        Err(error) => (Ended::ProviderFailed, Some(error)),
    };
    Outcome { plan: run.finish(ended, started.elapsed()), failure }
}

/// The question as the model is asked it; the mode stands here, so that the system prompt stays the same.
fn opening(task: &Task) -> String {
    format!("{}\n\nQuestion: {}", task.mode.instruction(), task.question)
}

struct Run<'a, T> {
    model: &'a dyn ChatModel,
    tools: &'a T,
    names: &'a (dyn Names + Sync),
    limits: Limits,
    observe: &'a (dyn Fn(Event) + Send + Sync),
    seen: HashSet<Resource>,
    budget: Budget,
    history: History,
    usage: Usage,
    /// Input and output tokens of the largest round: every distinct token once.
    largest_round: u64,
    rounds: u32,
    model_time: Duration,
    tools_time: Duration,
    task: Task,
    draft: Option<(Draft, Verification)>,
}

/// How a call failed.
#[derive(PartialEq, Eq)]
enum Failed {
    /// It was not made; other calls may be.
    Refused,
    /// Other arguments would mend it.
    Mendable,
    ForGood,
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
        let mut repaired = false;
        let mut asked_again = false;
        let mut failed_before = false;
        while self.rounds < self.limits.rounds {
            self.rounds += 1;
            (self.observe)(Event::Round { number: self.rounds });
            let response = self.ask().await?;
            if !response.text.trim().is_empty() && !response.calls.is_empty() {
                (self.observe)(Event::Thinking { text: response.text.clone() });
            }
            self.history.assistant(response.text.clone(), response.calls.clone());
            if !response.calls.is_empty() {
                let round = self.call_all(&response.calls).await;
                // Wrong arguments are worth one more round: the answer says how to mend them.
                if round == Round::AllFailed || (round == Round::AllMendable && failed_before) {
                    return Ok(Ended::AllToolsFailed);
                }
                failed_before = round == Round::AllMendable;
                self.guide();
                continue;
            }
            match parse::draft(&response.text) {
                Ok(mut draft) => {
                    let verification = verify(&draft, self.names, Some(&self.seen));
                    crate::verify::spell(&mut draft, self.names);
                    let failed = verification.failed.len();
                    (self.observe)(Event::Verified { ok: verification.ok, failed });
                    let complaint = (!verification.ok).then(|| unverified(&verification));
                    self.draft = Some((draft, verification));
                    let Some(complaint) = complaint.filter(|_| !repaired) else { return Ok(Ended::Completed) };
                    repaired = true;
                    self.history.say(complaint);
                }
                Err(_) if asked_again => return Ok(Ended::NoPlan),
                Err(complaint) => {
                    asked_again = true;
                    let cut = if response.cut { " The answer was cut: make it shorter." } else { "" };
                    let complaint = json!({"error": "no_plan", "message": complaint,
                        "suggestion": format!("output the plan as one JSON object and nothing else.{cut}")});
                    self.history.say(complaint.to_string());
                }
            }
        }
        // A draft that waits for its repair is still the best that is known.
        Ok(if self.draft.is_some() { Ended::Completed } else { Ended::RoundLimit })
    }

    async fn ask(&mut self) -> Result<ChatResponse, LlmError> {
        let tools = if self.task.with_tools { self.tools.specs() } else { Vec::new() };
        let request = ChatRequest {
            system: self.task.system.clone(),
            messages: self.history.messages().to_vec(),
            tools,
            max_output_tokens: self.limits.output_tokens,
        };
        let started = Instant::now();
        let response = self.model.complete(&request).await;
        self.model_time += started.elapsed();
        let response = response?;
        self.usage += response.usage;
        self.largest_round = self.largest_round.max(response.usage.input_tokens + response.usage.output_tokens);
        Ok(response)
    }

    /// Runs the calls of one round at once; the results stand in the order of the calls, one for each.
    async fn call_all(&mut self, calls: &[ToolCall]) -> Round {
        let started = Instant::now();
        let last_round = self.rounds >= self.limits.rounds;
        let mut pending = FuturesUnordered::new();
        for (at, call) in calls.iter().enumerate() {
            let refusal = if !self.task.with_tools {
                Some(("no_tools", "there are no tools in this conversation: output the plan"))
            } else if last_round {
                Some(("no_rounds_left", "no more calls: output the plan now from what you know"))
            } else if self.budget.is_out(&call.name) {
                Some(("tool_removed", "this tool failed too often and was removed: go on without it"))
            } else if !self.budget.take_call() {
                Some(("no_calls_left", "the calls are used up: output the plan now from what you know"))
            } else {
                (self.observe)(Event::Tool { name: call.name.clone(), arguments: call.arguments.clone() });
                None
            };
            let (tools, time_limit) = (self.tools, self.limits.call_time);
            pending.push(async move {
                let answer = match refusal {
                    Some((code, message)) => Err((Failed::Refused, json!({"error": code, "message": message}))),
                    None => match timeout(time_limit, tools.call(&call.name, call.arguments.clone())).await {
                        Ok(Ok(answer)) => Ok(answer),
                        Err(_) => Err((
                            Failed::ForGood,
                            json!({"error": "timeout", "message": format!("no answer within {} s", time_limit.as_secs())}),
                        )),
                        Ok(Err(error)) => {
                            if let ToolError::Fatal { source } = &error {
                                tracing::error!(tool = call.name, %source, "a tool failed");
                            }
                            let mendable = matches!(
                                &error,
                                ToolError::Respond { code: "not_found" | "invalid_arguments" | "unknown_tool", .. }
                            );
                            let failed = if mendable { Failed::Mendable } else { Failed::ForGood };
                            Err((failed, error.to_json()))
                        }
                    },
                };
                (at, answer)
            });
        }
        let mut answers = Vec::with_capacity(calls.len());
        while let Some((at, answer)) = pending.next().await {
            // At once, since the run may be cancelled while it waits for the others.
            if let Ok(answer) = &answer {
                // A tool may repeat a name as the model spelled it.
                let names = self.names;
                self.seen.extend(answer.reveals.iter().map(|resource| {
                    let id = names.resolve(resource.kind, &resource.id).unwrap_or_else(|| resource.id.clone());
                    Resource::new(resource.kind, id)
                }));
            }
            answers.push((at, answer));
        }
        answers.sort_by_key(|(at, _)| *at);
        let (mut worked, mut mendable) = (0, 0);
        let mut given = Vec::with_capacity(calls.len());
        for (call, (_, answer)) in calls.iter().zip(answers) {
            let answer = answer.map_err(|(failed, error)| {
                mendable += usize::from(failed != Failed::ForGood);
                if failed != Failed::Refused {
                    self.budget.failed(&call.name);
                }
                error
            });
            worked += usize::from(answer.is_ok());
            given.push((call, answer));
        }
        let failed: Vec<bool> = given.iter().map(|(_, answer)| answer.is_err()).collect();
        let sizes = self.history.results(given);
        for (call, (failed, bytes)) in calls.iter().zip(failed.into_iter().zip(sizes)) {
            (self.observe)(Event::Result { name: call.name.clone(), failed, bytes });
        }
        self.tools_time += started.elapsed();
        if worked > 0 || last_round || self.budget.calls_left() == 0 {
            Round::SomeWorked
        } else if mendable == calls.len() {
            Round::AllMendable
        } else {
            Round::AllFailed
        }
    }

    /// Tells the model to finish, one round before the end.
    fn guide(&mut self) {
        let left = self.limits.rounds - self.rounds;
        if left == 1 || self.budget.calls_left() == 0 {
            self.history.say(FINISH);
        } else if left == 2 {
            let text = "One more round with tools is possible, then the plan is due. Output the plan now if you can.";
            self.history.say(text);
        }
    }

    fn finish(self, ended: Ended, total: Duration) -> Plan {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let full = self.task.tokens_full_prompt;
        let saved = if full == 0 { 0.0 } else { 1.0 - self.largest_round as f64 / full as f64 };
        let (draft, verification) = self.draft.unwrap_or_else(|| (Draft::default(), Verification::default()));
        let mut plan = Plan {
            question: self.task.question,
            mode: self.task.mode,
            model: self.model.name().to_owned(),
            reasoning: draft.reasoning,
            discovered_context: draft.discovered_context,
            plan: draft.plan,
            clarifications: draft.clarifications,
            verification,
            metrics: Metrics {
                model_calls: self.rounds,
                tool_calls: self.budget.calls(),
                input_tokens: self.usage.input_tokens,
                output_tokens: self.usage.output_tokens,
                cached_tokens: self.usage.cached_tokens,
                durations_ms: Durations {
                    model: milliseconds(self.model_time),
                    tools: milliseconds(self.tools_time),
                    total: milliseconds(total),
                },
                tokens_full_prompt: full,
                saved: (saved * 1000.0).round() / 1000.0,
            },
            ended,
        };
        // A run that was stopped before its plan still says what it found.
        if plan.plan.steps.is_empty() && ended != Ended::Completed {
            crate::verify::list_seen(&mut plan.discovered_context, &self.seen, &self.task.revealed);
        }
        plan
    }
}

fn unverified(verification: &Verification) -> String {
    let complaint = json!({
        "error": "plan_not_verified",
        "message": "these names or steps do not hold",
        "failed": verification.failed,
        "suggestion": "discover what is missing or take it out, then output the whole plan again",
    });
    complaint.to_string()
}

impl Tools for DiscoveryTools {
    fn specs(&self) -> Vec<ToolSpec> {
        DiscoveryTools::specs(self)
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        DiscoveryTools::call(self, name, arguments).await
    }
}
