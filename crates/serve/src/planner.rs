//! A question, planned over the catalog that is served.

use std::sync::Arc;

use prospector_agent::{
    INSTRUCTIONS, Limits, Mode, Outcome, Task,
    ask::{ASK_INSTRUCTIONS, Ask, AskOutcome, Platform},
    event::Event,
    run,
    session::Session,
};
use prospector_core::compute;
use prospector_discovery::{DiscoveryTools, Instructions, PromptBuilder};
use prospector_llm::{ChatModel, models::ModelInfo};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{error::Refusal, estate::Served, sessions};

/// A longer question is no question.
const LONGEST_QUESTION: usize = 10_000;

/// The model that plans and answers, and what one question may cost.
#[derive(Clone)]
pub struct Planner {
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// The model that writes an answer and the questions that could follow; where there is none, the first one does.
    pub summary: Option<Arc<dyn ChatModel>>,
    /// What is known of the first one.
    pub info: ModelInfo,
    /// What one question may cost; a caller may ask for less.
    pub limits: Limits,
}

impl Planner {
    /// A planner with this model, and as many rounds and calls as are usual.
    pub fn new(model: Arc<dyn ChatModel>, info: ModelInfo) -> Self {
        let limits = Limits { context_tokens: Limits::context_of(info.context), ..Limits::default() };
        Planner { model, summary: None, info, limits }
    }
}

/// What is asked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// The question.
    pub(crate) question: String,
    /// How to answer; by the words of the question, where it is not said.
    pub(crate) mode: Option<Mode>,
    /// At most this many rounds with the model.
    pub(crate) max_rounds: Option<u32>,
    /// At most this many tool calls.
    pub(crate) max_calls: Option<u32>,
    /// The conversation that it goes on with, where it is to be answered.
    pub(crate) session: Option<String>,
    /// Where the answer is read.
    pub(crate) platform: Option<Platform>,
}

impl Asked {
    /// The same with what is wrong with it said.
    pub(crate) fn checked(mut self) -> Result<Self, Refusal> {
        self.question = self.question.trim().to_owned();
        if self.question.is_empty() {
            return Err(Refusal::new("invalid_arguments", "the question is empty").advise("say what you want to know"));
        }
        if self.question.len() > LONGEST_QUESTION {
            let message = format!("the question has more than {LONGEST_QUESTION} bytes");
            return Err(Refusal::new("invalid_arguments", message).advise("ask in fewer words"));
        }
        if self.max_rounds.is_some_and(|rounds| rounds < 2) || self.max_calls == Some(0) {
            let message = "max_rounds must be 2 or more, and max_calls 1 or more";
            return Err(Refusal::new("invalid_arguments", message));
        }
        if let Some(session) = &self.session {
            sessions::named(session)?;
        }
        Ok(self)
    }

    /// What it may cost: what is usual, or less.
    pub(crate) fn limits(&self, usual: Limits) -> Limits {
        Limits {
            rounds: self.max_rounds.unwrap_or(usual.rounds).min(usual.rounds),
            calls: self.max_calls.unwrap_or(usual.calls).min(usual.calls),
            ..usual
        }
    }
}

impl Planner {
    /// Plans a question to its end, which `cancel` may bring about.
    pub(crate) async fn plan(
        &self,
        served: &Arc<Served>,
        asked: &Asked,
        cancel: &CancellationToken,
        observe: &(dyn Fn(Event) + Send + Sync),
    ) -> Outcome {
        let mode = asked.mode.unwrap_or_else(|| Mode::of(&asked.question));
        let task = self.task(served, &served.tools, INSTRUCTIONS, &asked.question, mode).await;
        let limits = asked.limits(self.limits);
        run(self.model.as_ref(), &served.tools, &served.catalog, task, limits, cancel, observe).await
    }

    /// Answers a question as the next turn of a conversation. Queries run in an engine of their own.
    pub(crate) async fn answer(
        &self,
        served: &Arc<Served>,
        asked: &Asked,
        session: &mut Session,
        cancel: &CancellationToken,
        observe: &(dyn Fn(Event) + Send + Sync),
    ) -> AskOutcome {
        let tools = served.tools.clone().with_engine(&served.catalog.engine());
        let mode = asked.mode.unwrap_or_else(|| session.mode(&asked.question));
        let task = self.task(served, &tools, ASK_INSTRUCTIONS, &asked.question, mode).await;
        let ask = Ask {
            model: self.model.as_ref(),
            summary: self.summary.as_deref(),
            limits: asked.limits(self.limits),
            platform: asked.platform.unwrap_or_default(),
            follow_ups: true,
        };
        ask.answer(&tools, &served.catalog, task, session, cancel, observe).await
    }

    async fn task(
        &self,
        served: &Arc<Served>,
        tools: &DiscoveryTools,
        instructions: Instructions<'static>,
        question: &str,
        mode: Mode,
    ) -> Task {
        let (served, tools, info, asked) = (served.clone(), tools.clone(), self.info, question.to_owned());
        let prompt =
            compute(move || PromptBuilder::new(&served.catalog, &tools, instructions).build(&info, &asked)).await;
        Task {
            mode,
            question: question.to_owned(),
            system: prompt.system,
            with_tools: prompt.with_tools,
            revealed: prompt.revealed,
            tokens_full_prompt: prompt.tokens.full_prompt as u64,
        }
    }
}
