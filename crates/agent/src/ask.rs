//! Answering questions: the run over data and knowledge, tracing of claims, and follow-up questions.

mod charts;
mod derivation;
mod entries;
mod examples;
mod follow_ups;
mod goal;
mod instructions;
mod judge;
mod ledger;
mod summary;
mod tables;
mod tools;
mod trace;

use prospector_discovery::prompt::Prompt;
use prospector_llm::{
    ChatModel, LlmError, Message,
    message::{SystemBlock, Usage},
    purpose::Mode,
};
use tokio::time::timeout;
use tracing::{Instrument, Span};

pub use crate::answer::{
    AnswerChart, Answered, Claim, Classification, Condensed, DataQuestion, DerivationStep, DroppedChart, StepKind,
    Tracing, VerifiedBy,
};
pub use crate::platform::Platform;
pub use crate::status::AnswerStatus;
pub(crate) use examples::{MAX_EXAMPLES, render_examples};
pub use instructions::{ASK_INSTRUCTIONS, DECLINED, NEXT, OUT_OF_SCOPE};

use crate::{
    Request,
    agent_loop::{AgentLoop, LoopResult, Tools},
    event::Event,
    metrics::{Ended, Metrics, cost_dollars},
    session::Session,
};
use derivation::derive;
use goal::{AnswerGoal, AnswerText, find_clarifications};
use instructions::FOLLOW_UPS;
use tools::AskTools;

/// Tokens reserved for the question, in addition to the prompt and earlier turns.
const QUESTION_TOKENS: usize = 256;

/// An answer, and the provider's failure if it ended the run.
#[derive(Debug)]
pub struct AskOutcome {
    /// The answer as far as it is known; `ended` is why the run ended.
    pub answered: Answered,
    /// Set with [`Ended::ProviderFailed`].
    pub failure: Option<LlmError>,
}

impl<T: Tools> AgentLoop<'_, T> {
    /// Answers a question as the next turn of a session, which stores it. The last event is always [`Event::Done`]; the call for a summary
    /// is not counted as a round.
    ///
    /// `prompt` is made with [`ASK_INSTRUCTIONS`]; the format instructions are added here. `summary` is the model that writes the final
    /// text and the follow-up questions; without one, the model of the loop does.
    pub async fn answer(
        &self,
        prompt: Prompt,
        request: &Request<'_>,
        session: &mut Session,
        summary: Option<&dyn ChatModel>,
    ) -> AskOutcome {
        let mode = request.mode.unwrap_or_else(|| session.mode(&request.question));
        let prompt = with_format(prompt, &form_instruction(request));
        let context = request.limits().context_tokens as usize;
        let room = context.saturating_sub(prompt.tokens.total + QUESTION_TOKENS).min(context / 2);
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let mut steps = Steps { request, span: Span::none(), usage: Usage::default(), calls: 0, cost: Some(0.0) };
        let condensed = steps.condense(summary.unwrap_or(self.model), session, room).await;
        let mut messages = session.history(room, condensed.as_ref());
        let begins_at = messages.len();
        let examples = request.examples.as_deref().unwrap_or_default();
        let (mode_text, today) = (instructions::describe_mode(mode), self.names.today());
        let opening = format!("{mode_text}{examples}\n\nToday: {today}\nQuestion: {}", request.question);
        messages.push(Message::User { text: opening });
        let mut goal = AnswerGoal::new(&request.question, mode, session, begins_at);
        goal.ledger.note_prompt(&prompt);
        let tools = AskTools::new(self.tools, session);
        let agent = AgentLoop { model: self.model, tools: &tools, names: self.names };
        let result = agent.run(&mut goal, &prompt, messages, request).await;
        let LoopResult { ended, failure, metrics, messages, span, .. } = result;

        let best_effort = goal.answer.is_none();
        let mut text = goal.answer.take().unwrap_or_else(|| describe_findings(&goal, ended));
        steps.span = span;
        let is_whole = ended == Ended::Completed && goal.ledger.has_data();
        if let Some(model) = summary.filter(|_| is_whole) {
            steps.summarize(model, &goal, &mut text).await;
        }
        (request.observe)(Event::Answer { text: text.marked.clone(), best_effort });
        let classification = goal.ledger.classify(&text.marked, best_effort);
        let is_supported =
            matches!(classification, Classification::Data | Classification::Knowledge | Classification::Mixed);
        let wants_follow_ups = request.follow_ups && ended == Ended::Completed && is_supported;
        let follow_ups = if wants_follow_ups { text.follow_ups } else { Vec::new() };
        if !follow_ups.is_empty() {
            (request.observe)(Event::Followups { questions: follow_ups.clone() });
        }
        let premises = goal.ledger.used_premises(&request.question, &text.marked);
        let derivation = match mode {
            Mode::Auditable => derive(&premises, &goal.ledger.questions, &text.tracing.claims),
            Mode::Exploratory | Mode::Knowledge => Vec::new(),
        };
        let answered = Answered {
            derivation,
            condensed,
            clarifications: find_clarifications(&text.marked),
            question: request.question.clone(),
            mode,
            model: self.model.name().to_owned(),
            classification,
            premises,
            answer: text.marked,
            best_effort,
            questions: goal.ledger.questions,
            thinking: goal.ledger.thinking,
            tracing: text.tracing,
            follow_ups,
            metrics: steps.add_to(metrics),
            ended,
            ..Answered::default()
        }
        .with_chart(text.charts)
        .with_status();
        if let Err(error) = session.keep(&answered, messages.into_iter().skip(begins_at).collect()).await {
            (request.observe)(Event::Error { code: "not_kept".into(), message: error.to_string() });
        }
        if let Some(failure) = &failure {
            (request.observe)(Event::Error { code: "provider_failed".into(), message: failure.to_string() });
        }
        (request.observe)(Event::Done { ended, metrics: Box::new(answered.metrics.clone()) });
        AskOutcome { answered, failure }
    }
}

/// Appends the format instructions to the prompt. They are last, so that the prefix is cached for every format.
fn with_format(mut prompt: Prompt, format: &str) -> Prompt {
    prompt.system.iter_mut().for_each(|block| block.cache = false);
    if let Some(last) = prompt.system.last_mut() {
        last.cache = true;
    }
    prompt.system.push(SystemBlock { text: format.to_owned(), cache: false });
    prompt
}

/// Returns the format instructions: those of the platform, and those for follow-up questions.
fn form_instruction(request: &Request<'_>) -> String {
    let format = request.format_instruction();
    if request.follow_ups { format!("{format}\n{FOLLOW_UPS}") } else { format.into_owned() }
}

/// Returns the findings of a run without an answer.
fn describe_findings(goal: &AnswerGoal, ended: Ended) -> AnswerText {
    let (reason, findings) = (ended.reason(), goal.ledger.list_findings());
    let text = match findings.as_str() {
        "" => format!("There is no answer: {reason} before anything was found."),
        findings => format!("The answer is incomplete: {reason}. Findings so far:\n{findings}"),
    };
    let (tracing, marked) = goal.trace(&text);
    AnswerText { marked, tracing, follow_ups: Vec::new(), charts: Vec::new() }
}

/// Model calls outside of the loop. A failure of one does not end the run.
struct Steps<'a> {
    request: &'a Request<'a>,
    span: Span,
    usage: Usage,
    calls: u32,
    /// In US dollars; `None` if the price of a model is unknown.
    cost: Option<f64>,
}

impl Steps<'_> {
    /// Returns the summary of the turns that no longer fit, which a language model renews every few turns. With the built-in planner, or if
    /// the model fails, those turns are listed in one line each.
    async fn condense(&mut self, model: &dyn ChatModel, session: &Session, room: u32) -> Option<Condensed> {
        let known = session.find_condensed().cloned();
        if model.reads_data() {
            return known;
        }
        let Some(material) = session.list_unsummarised(room, known.as_ref()) else { return known };
        let step = summary::condense(model, &material.text);
        match self.call("condensed_history", model, step).await {
            Some(text) if !text.trim().is_empty() => {
                Some(Condensed { turns: material.turns, text: text.trim().to_owned() })
            }
            _ => known,
        }
    }

    /// Rewrites the answer from the results. A text with untraced claims does not replace a traced draft.
    async fn summarize(&mut self, model: &dyn ChatModel, goal: &AnswerGoal, text: &mut AnswerText) {
        let request = self.request;
        let (format, tokens) = (form_instruction(request), request.limits().output_tokens);
        let step = summary::summarize(model, &request.question, &goal.ledger.questions, &text.marked, &format, tokens);
        let Some(written) = self.call("summary", model, step).await else { return };
        let (_, AnswerText { marked, tracing, follow_ups, charts }) = goal.read(&written);
        if tracing.ok || !text.tracing.ok {
            (text.tracing, text.marked) = (tracing, marked);
        }
        if !follow_ups.is_empty() {
            text.follow_ups = follow_ups;
        }
        if !charts.is_empty() {
            text.charts = charts;
        }
    }

    async fn call<R>(
        &mut self,
        name: &'static str,
        model: &dyn ChatModel,
        step: impl Future<Output = Result<(R, Usage), LlmError>>,
    ) -> Option<R> {
        let done = tokio::select! {
            biased;
            () = self.request.cancel.cancelled() => return None,
            done = timeout(self.request.limits().run_time, step.instrument(self.span.clone())) => done,
        };
        let message = match done {
            Ok(Ok((given, usage))) => {
                self.usage += usage;
                self.calls += 1;
                self.cost = self.cost.zip(cost_dollars(model.name(), usage)).map(|(sum, cost)| sum + cost);
                return Some(given);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "timed out".to_owned(),
        };
        (self.request.observe)(Event::Error { code: format!("no_{name}"), message });
        None
    }

    /// Returns the metrics of the run, including these calls.
    fn add_to(self, mut metrics: Metrics) -> Metrics {
        metrics.model_calls += self.calls;
        metrics.input_tokens += self.usage.input_tokens;
        metrics.output_tokens += self.usage.output_tokens;
        metrics.cached_tokens += self.usage.cached_tokens;
        metrics.cost_dollars = metrics.cost_dollars.zip(self.cost).map(|(sum, cost)| sum + cost);
        metrics
    }
}
