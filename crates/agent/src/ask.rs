//! Answering a question: data and knowledge in the loop, an answer whose claims are traced, and what may be asked next.

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
pub(crate) use examples::render_examples;
pub use instructions::{ASK_INSTRUCTIONS, DECLINED, NEXT, OUT_OF_SCOPE};

use crate::{
    Request,
    agent_loop::{AgentLoop, LoopResult, Tools},
    answer::ProposedChart,
    event::Event,
    metrics::{Ended, Metrics, cost_dollars},
    session::Session,
};
use charts::split_charts;
use derivation::derive;
use follow_ups::split_follow_ups;
use goal::{AcceptedText, AnswerGoal, find_clarifications};
use instructions::FOLLOW_UPS;
use summary::Material;
use tools::AskTools;

/// Kept free for a question, beside the prompt and the turns before.
const QUESTION_TOKENS: usize = 256;

/// An answer, and the provider's failure if that is why it is not whole.
#[derive(Debug)]
pub struct AskOutcome {
    /// What is known; `ended` says how it came about.
    pub answered: Answered,
    /// Set with [`Ended::ProviderFailed`].
    pub failure: Option<LlmError>,
}

impl<T: Tools> AgentLoop<'_, T> {
    /// Answers a question as the next turn of a session, which keeps it. The last event is always [`Event::Done`]; the call
    /// for a summary comes on top of the rounds.
    ///
    /// `prompt` is made with [`ASK_INSTRUCTIONS`]; what the platform wants is added to it here. `summary` is the model that
    /// writes the answer and what may be asked next; where there is none, the model of the loop does.
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
        let opening = format!("{}{examples}\n\nQuestion: {}", instructions::describe_mode(mode), request.question);
        messages.push(Message::User { text: opening });
        let mut goal = AnswerGoal::new(&request.question, mode, session, begins_at);
        let tools = AskTools::new(self.tools, session);
        let agent = AgentLoop { model: self.model, tools: &tools, names: self.names };
        let result = agent.run(&mut goal, &prompt, messages, request).await;
        let LoopResult { ended, failure, metrics, messages, span, .. } = result;

        let mut text = AnswerText::new(&mut goal, ended);
        steps.span = span;
        let is_whole = ended == Ended::Completed && goal.ledger.has_data();
        if let Some(model) = summary.filter(|_| is_whole) {
            steps.summarize(model, &goal, &mut text).await;
        }
        (request.observe)(Event::Answer { text: text.marked.clone(), best_effort: text.best_effort });
        let classification = goal.ledger.classify(&text.marked, text.best_effort);
        let rests_on_something =
            matches!(classification, Classification::Data | Classification::Knowledge | Classification::Mixed);
        let may_go_on = request.follow_ups && ended == Ended::Completed && rests_on_something;
        let follow_ups = if may_go_on { text.follow_ups } else { Vec::new() };
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
            chart: None,
            dropped_charts: Vec::new(),
            clarifications: find_clarifications(&text.marked),
            question: request.question.clone(),
            mode,
            model: self.model.name().to_owned(),
            classification,
            premises,
            answer: text.marked,
            best_effort: text.best_effort,
            questions: goal.ledger.questions,
            thinking: goal.ledger.thinking,
            tracing: text.tracing,
            follow_ups,
            metrics: steps.add_to(metrics),
            ended,
            status: AnswerStatus::default(),
            caveats: Vec::new(),
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

/// The prompt with the form of the answer. That stands last, so that everything before it is cached whatever the form.
fn with_format(mut prompt: Prompt, format: &str) -> Prompt {
    prompt.system.iter_mut().for_each(|block| block.cache = false);
    if let Some(last) = prompt.system.last_mut() {
        last.cache = true;
    }
    prompt.system.push(SystemBlock { text: format.to_owned(), cache: false });
    prompt
}

/// What a model is told of the form of the text: the platform's, and that what may be asked next is wanted.
fn form_instruction(request: &Request<'_>) -> String {
    let format = request.format_instruction();
    if request.follow_ups { format!("{format}\n{FOLLOW_UPS}") } else { format.into_owned() }
}

/// The text of an answer, with a mark on each sentence that could not be traced.
struct AnswerText {
    marked: String,
    tracing: Tracing,
    follow_ups: Vec<String>,
    /// The charts that it proposes.
    charts: Vec<ProposedChart>,
    /// Whether the run ended before the model had an answer.
    best_effort: bool,
}

impl AnswerText {
    /// The last answer of a run; without one, what was found until it ended.
    fn new(goal: &mut AnswerGoal, ended: Ended) -> AnswerText {
        if let Some(AcceptedText { marked, tracing, follow_ups, charts }) = goal.answer.take() {
            return AnswerText { marked, tracing, follow_ups, charts, best_effort: false };
        }
        let (tracing, marked) = goal.trace(&describe_findings(ended, &goal.ledger.list_findings()));
        AnswerText { marked, tracing, follow_ups: Vec::new(), charts: Vec::new(), best_effort: true }
    }
}

/// The best that can be said without an answer.
fn describe_findings(ended: Ended, findings: &str) -> String {
    let reason = ended.reason();
    if findings.is_empty() {
        return format!("There is no answer: {reason}, and nothing was found until then.");
    }
    format!("This is no full answer: {reason}. Until then this was found:\n{findings}")
}

/// The calls of a model after the loop, each of which may fail without harm.
struct Steps<'a> {
    request: &'a Request<'a>,
    span: Span,
    usage: Usage,
    calls: u32,
    /// In dollars; none where one of the models has no known price.
    cost: Option<f64>,
}

impl Steps<'_> {
    /// What is told of the turns that are too long to be told whole. A language model writes it, anew after every few turns; a
    /// program, or a model that fails, leaves them to be told in a line each.
    async fn condense(&mut self, model: &dyn ChatModel, session: &Session, room: u32) -> Option<Condensed> {
        let known = session.find_condensed().cloned();
        if model.reads_data() {
            return known;
        }
        let Some(material) = session.list_untold(room, known.as_ref()) else { return known };
        let step = summary::condense(model, &material.text);
        match self.call("condensed_history", model, step).await {
            Some(text) if !text.trim().is_empty() => {
                Some(Condensed { turns: material.turns, text: text.trim().to_owned() })
            }
            _ => known,
        }
    }

    /// Writes the answer anew from the results. A text that says more than they hold does not take the place of the draft.
    async fn summarize(&mut self, model: &dyn ChatModel, goal: &AnswerGoal, text: &mut AnswerText) {
        let material = material(self.request, goal, text);
        let tokens = self.request.limits().output_tokens;
        let format = form_instruction(self.request);
        let step = summary::summarize(model, &material, &format, tokens);
        let Some(written) = self.call("summary", model, step).await else { return };
        let (written, follow_ups) = split_follow_ups(&written);
        let (written, charts) = split_charts(written);
        let (tracing, marked) = goal.trace(&written);
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
            Err(_) => "it took too long".to_owned(),
        };
        (self.request.observe)(Event::Error { code: format!("no_{name}"), message });
        None
    }

    /// What the run cost, these calls included.
    fn add_to(self, mut metrics: Metrics) -> Metrics {
        metrics.model_calls += self.calls;
        metrics.input_tokens += self.usage.input_tokens;
        metrics.output_tokens += self.usage.output_tokens;
        metrics.cached_tokens += self.usage.cached_tokens;
        metrics.cost_dollars = metrics.cost_dollars.zip(self.cost).map(|(sum, cost)| sum + cost);
        metrics
    }
}

fn material<'a>(request: &'a Request<'_>, goal: &'a AnswerGoal, text: &'a AnswerText) -> Material<'a> {
    Material { question: &request.question, questions: &goal.ledger.questions, draft: &text.marked }
}
