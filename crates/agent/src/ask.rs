//! Answering a question: data and knowledge in the loop, an answer whose claims are traced, and what may be asked next.

mod answered;
mod goal;
pub(crate) mod instructions;
mod ledger;
mod platform;
mod summary;
mod tools;
pub(crate) mod trace;

use prospector_llm::{ChatModel, LlmError, SystemBlock, Usage};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

pub use answered::{Answered, Classification, DataQuestion};
pub use instructions::ASK_INSTRUCTIONS;
pub use platform::Platform;
pub use trace::{Claim, Tracing};

use crate::{
    Limits,
    event::Event,
    goal::{Observe, Ran},
    plan::Ended,
    rounds::{Start, pursue},
    run::{Task, Tools},
    session::Session,
    verify::Names,
};
use goal::{AnswerGoal, clarifications};
use summary::Material;
use tools::AskTools;

/// How questions are answered.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The model that finds out.
    pub model: &'a dyn ChatModel,
    /// The model that writes the answer and the follow-up questions; where there is none, the first one does.
    pub summary: Option<&'a dyn ChatModel>,
    /// What one question may cost. The calls for the summary and for follow-up questions come on top of the rounds.
    pub limits: Limits,
    /// Where the answer is read.
    pub platform: Platform,
    /// Whether follow-up questions are asked for.
    pub follow_ups: bool,
}

/// An answer, and the provider's failure if that is why it is not whole.
#[derive(Debug)]
pub struct AskOutcome {
    /// What is known; `ended` says how it came about.
    pub answered: Answered,
    /// Set with [`Ended::ProviderFailed`].
    pub failure: Option<LlmError>,
}

impl Ask<'_> {
    /// Answers a question as the next turn of a session, which keeps it. The last event is always [`Event::Done`].
    ///
    /// The system prompt of the task is made with [`ASK_INSTRUCTIONS`]; the platform's section is added to it here.
    pub async fn answer(
        &self,
        tools: &impl Tools,
        names: &(dyn Names + Sync),
        task: Task,
        session: &mut Session,
        cancel: &CancellationToken,
        observe: &Observe<'_>,
    ) -> AskOutcome {
        let mut system = task.system;
        system.iter_mut().for_each(|block| block.cache = false);
        if let Some(last) = system.last_mut() {
            last.cache = true;
        }
        system.push(SystemBlock { text: self.platform.instruction().to_owned(), cache: false });
        let mut messages = session.history(self.limits.context_tokens / 2);
        let opening = format!("{}\n\nQuestion: {}", instructions::mode_instruction(task.mode), task.question);
        messages.push(prospector_llm::Message::User { text: opening });
        let before = messages.len() - 1;
        let start = Start {
            system,
            messages,
            with_tools: task.with_tools,
            revealed: task.revealed,
            tokens_full_prompt: task.tokens_full_prompt,
        };
        let mut goal = AnswerGoal::new(&task.question, task.mode, session.previous(), before);
        let tools = AskTools::new(tools, session);
        let ran = pursue(&mut goal, self.model, &tools, names, start, self.limits, cancel, observe).await;
        let Ran { ended, failure, mut metrics, messages, span, .. } = ran;
        let mut usage = Usage::default();
        let mut best_effort = false;
        let (mut tracing, mut answer) = match goal.answer.take() {
            Some((marked, tracing)) => (tracing, marked),
            None => {
                best_effort = true;
                goal.traced(&best(ended, &goal.ledger.so_far()))
            }
        };
        let finished = ended == Ended::Completed;
        let has_data = goal.ledger.questions.iter().any(|question| question.error.is_none());
        if let Some(model) = self.summary.filter(|_| finished && has_data) {
            let material = Material { question: &task.question, questions: &goal.ledger.questions, draft: &answer };
            let step = summary::summarise(model, &material, self.platform, self.limits.output_tokens);
            if let Some((text, used)) = self.step("summary", step.instrument(span.clone()), cancel, observe).await {
                usage += used;
                metrics.model_calls += 1;
                let (traced, marked) = goal.traced(&text);
                // A summary that says more than the data stays out.
                if traced.ok || !tracing.ok {
                    (tracing, answer) = (traced, marked);
                }
            }
        }
        observe(Event::Answer { text: answer.clone(), best_effort });
        let mut follow_ups = Vec::new();
        if self.follow_ups && finished && has_data {
            let material = Material { question: &task.question, questions: &goal.ledger.questions, draft: &answer };
            let model = self.summary.unwrap_or(self.model);
            let step = summary::follow_ups(model, &material);
            if let Some((questions, used)) =
                self.step("follow_ups", step.instrument(span.clone()), cancel, observe).await
            {
                usage += used;
                metrics.model_calls += 1;
                follow_ups = questions;
            }
            if !follow_ups.is_empty() {
                observe(Event::Followups { questions: follow_ups.clone() });
            }
        }
        metrics.input_tokens += usage.input_tokens;
        metrics.output_tokens += usage.output_tokens;
        metrics.cached_tokens += usage.cached_tokens;
        let classification = goal.ledger.classification(&answer);
        let premises = goal.ledger.premises(&task.question, &answer);
        let answered = Answered {
            clarifications: clarifications(&answer),
            question: task.question,
            mode: task.mode,
            model: self.model.name().to_owned(),
            answer,
            best_effort,
            classification,
            premises,
            questions: goal.ledger.questions,
            thinking: goal.ledger.thinking,
            tracing,
            follow_ups,
            metrics,
            ended,
        };
        if let Err(error) = session.keep(&answered, messages.into_iter().skip(before).collect()).await {
            observe(Event::Error { code: "not_kept".into(), message: error.to_string() });
        }
        if let Some(failure) = &failure {
            observe(Event::Error { code: "provider_failed".into(), message: failure.to_string() });
        }
        observe(Event::Done { ended, metrics: Box::new(answered.metrics.clone()) });
        AskOutcome { answered, failure }
    }

    /// A call beside the loop, which may fail without harm.
    async fn step<T>(
        &self,
        name: &'static str,
        step: impl Future<Output = Result<T, LlmError>>,
        cancel: &CancellationToken,
        observe: &Observe<'_>,
    ) -> Option<T> {
        let done = tokio::select! {
            biased;
            () = cancel.cancelled() => return None,
            done = tokio::time::timeout(self.limits.run_time, step) => done,
        };
        let message = match done {
            Ok(Ok(given)) => return Some(given),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it took too long".to_owned(),
        };
        observe(Event::Error { code: format!("no_{name}"), message });
        None
    }
}

/// The best that can be said without an answer.
fn best(ended: Ended, so_far: &str) -> String {
    let reason = ended.reason();
    if so_far.is_empty() {
        return format!("There is no answer: {reason}, and nothing was found until then.");
    }
    format!("This is no full answer: {reason}. Until then this was found:\n{so_far}")
}
