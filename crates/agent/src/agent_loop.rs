//! The agent loop: model, tool calls and results, until the goal is reached or the run ends for another reason.
//!
//! The list of tools stays the same during a run: a changed list invalidates the prompt cache of the provider, and models that sign their
//! reasoning reject it. A tool that failed too often is refused instead. Failures are returned to the model; consecutive rounds in which
//! every call failed end the run.

mod calls;
mod recover;

use std::{
    collections::{BTreeSet, HashSet},
    mem,
    time::{Duration, Instant},
};

use prospector_core::record::Resource;
use prospector_core::tool::ToolSpec;
use prospector_discovery::prompt::Prompt;
use prospector_llm::{ChatModel, ChatRequest, ChatResponse, LlmError, Message, message::Usage};
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
    history::History,
    metrics::{Durations, Ended, Metrics, RoundEnd, RoundRecord, cost_dollars},
    spans,
};
use calls::CallResult;
use recover::Recovery;

/// Minimum size of a streamed text event, in bytes, within a line and at the end of one.
const MIN_PIECE_BYTES: usize = 160;
const MIN_LINE_BYTES: usize = 40;

/// The number of consecutive rounds in which every call failed that ends a run.
const MAX_FAILED_ROUNDS: u32 = 3;

/// The share of the time limit after which the model is asked to finish.
const LATE: f64 = 0.8;

/// A model, its tools and the names that exist. Each run has one [`Goal`].
pub struct AgentLoop<'a, T> {
    /// The model.
    pub model: &'a dyn ChatModel,
    /// The tools.
    pub tools: &'a T,
    /// The names that exist. Revealed names are recorded in their canonical spelling.
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
    /// The names that the results revealed.
    pub found: BTreeSet<Resource>,
    /// Calls, tokens, time and cost of the run.
    pub metrics: Metrics,
    /// The whole conversation, including the initial messages. Every call has exactly one result, whatever ended the run.
    pub messages: Vec<Message>,
    /// The tracing span of the run, for steps that follow it.
    pub(crate) span: Span,
}

impl<T: Tools> AgentLoop<'_, T> {
    /// Runs until the goal is reached, a limit is reached, or the run fails or is cancelled.
    ///
    /// `messages` is the conversation so far and ends with the question. Only the limits, the cancellation token and the observer of the
    /// request are used.
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
    /// The names that the prompt and the results revealed.
    seen: HashSet<Resource>,
    /// The names that results revealed.
    found: BTreeSet<Resource>,
    budget: Budget,
    history: History,
    /// Whether the model was asked to finish.
    finish: bool,
    /// How far recovery from provider failures has advanced.
    recovery: Recovery,
    /// The results of the current round, by the indexes of their calls.
    arrived: Vec<(usize, CallResult)>,
    usage: Usage,
    metrics: Metrics,
    model_time: Duration,
    tools_time: Duration,
    started: Instant,
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
            found: BTreeSet::new(),
            budget: Budget::new(limits),
            history: History::new(messages, fixed, limits.context_tokens, agent.model.reads_data()),
            finish: false,
            recovery: Recovery::default(),
            arrived: Vec::new(),
            usage: Usage::default(),
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
        let mut failed_rounds = 0;
        while self.metrics.model_calls < self.limits.rounds {
            self.metrics.model_calls += 1;
            let number = self.metrics.model_calls;
            self.observe(Event::Round { number });
            self.metrics.rounds.push(RoundRecord { number, ..RoundRecord::default() });
            let span = spans::round(number);
            let response = match self.ask_model().instrument(span.clone()).await {
                Ok(response) => response,
                Err(error) => {
                    self.end_round(RoundEnd::ProviderFailed);
                    if self.recover(&error) {
                        continue;
                    }
                    return Err(error);
                }
            };
            if !response.text.trim().is_empty() && !response.calls.is_empty() {
                self.observe(Event::Thinking { text: response.text.clone() });
            }
            self.history.assistant(response.text.clone(), response.calls.clone());
            if !response.calls.is_empty() {
                let all_failed = self.run_calls(&response.calls).instrument(span).await;
                self.end_round(if all_failed { RoundEnd::AllToolsFailed } else { RoundEnd::Calls });
                failed_rounds = if all_failed { failed_rounds + 1 } else { 0 };
                let failed = failed_rounds == MAX_FAILED_ROUNDS;
                if let Some(ended) = self.goal.end_after_round(failed.then_some(Ended::AllToolsFailed)) {
                    return Ok(ended);
                }
                if let Some(text) = self.goal.announce_after_round() {
                    self.history.say(text);
                }
                self.remind_to_finish();
                continue;
            }
            let reply = Reply { text: &response.text, cut: response.cut, seen: &self.seen };
            match self.goal.judge(reply, self.request.observe).await {
                Judgement::Accepted => {
                    self.end_round(RoundEnd::Result);
                    return Ok(Ended::Completed);
                }
                Judgement::GivenUp(ended) => {
                    self.end_round(RoundEnd::Unusable);
                    return Ok(ended);
                }
                Judgement::Again(complaint) => {
                    self.end_round(RoundEnd::SentBack);
                    self.history.say(complaint);
                }
            }
        }
        // A result that was returned for correction is better than none.
        Ok(if self.goal.has_result() { Ended::Completed } else { Ended::RoundLimit })
    }

    fn end_round(&mut self, ended: RoundEnd) {
        if let Some(round) = self.metrics.rounds.last_mut() {
            round.ended = ended;
            let (number, calls) = (round.number, round.calls.len());
            let (input_tokens, output_tokens) = (round.input_tokens, round.output_tokens);
            tracing::info!(number, calls, input_tokens, output_tokens, ?ended, "round finished");
        }
    }

    async fn ask_model(&mut self) -> Result<ChatResponse, LlmError> {
        let request = ChatRequest {
            purpose: self.goal.purpose(self.history.messages(), self.finish),
            system: self.prompt.system.clone(),
            messages: self.history.messages().to_vec(),
            tools: if self.recovery.is_last() { Vec::new() } else { self.specs.clone() },
            max_output_tokens: self.limits.output_tokens,
        };
        let started = Instant::now();
        let (observe, mut piece) = (self.request.observe, String::new());
        let mut send = |text: &str| {
            piece.push_str(text);
            if piece.len() >= MIN_PIECE_BYTES || (piece.len() >= MIN_LINE_BYTES && piece.ends_with('\n')) {
                observe(Event::Text { text: mem::take(&mut piece) });
            }
        };
        let response = spans::complete_aloud(self.agent.model, &request, &mut send).await;
        if !piece.is_empty() {
            observe(Event::Text { text: piece });
        }
        self.model_time += started.elapsed();
        if let Some(round) = self.metrics.rounds.last_mut() {
            round.milliseconds = milliseconds(started.elapsed());
        }
        let response = response?;
        if let Some(round) = self.metrics.rounds.last_mut() {
            (round.input_tokens, round.output_tokens) = (response.usage.input_tokens, response.usage.output_tokens);
        }
        self.usage += response.usage;
        Ok(response)
    }

    /// Asks the model to finish before the last round, late in the time limit, or when no calls are left.
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
        // A run that was stopped within a round keeps the results that arrived, and every call gets a result.
        let open = self.history.open_calls();
        if !open.is_empty() {
            self.record_results(&open);
        }
        let (full, used) = (self.metrics.tokens_full_prompt, self.usage.input_tokens + self.usage.output_tokens);
        // Without token counts nothing is known to be saved.
        let saved = if full == 0 || used == 0 { 0.0 } else { 1.0 - used as f64 / full as f64 };
        let metrics = Metrics {
            tool_calls: self.budget.calls(),
            input_tokens: self.usage.input_tokens,
            output_tokens: self.usage.output_tokens,
            cached_tokens: self.usage.cached_tokens,
            cost_dollars: cost_dollars(self.agent.model.name(), self.usage),
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
            "run finished"
        );
        LoopResult {
            ended,
            failure,
            seen: self.seen,
            found: self.found,
            metrics,
            messages: self.history.into_messages(),
            span,
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
