//! A question as a client asks it.

use prospector_agent::{Limits, Models, Request, ask::Platform, event::Observe};
use prospector_llm::purpose::Mode;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{error::Refusal, sessions};

/// Bytes of a question.
const MAX_QUESTION_BYTES: usize = 10_000;

/// What is asked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
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

impl Question {
    /// The same without white space around it.
    ///
    /// # Errors
    /// A refusal that says what is wrong with it.
    pub(crate) fn validate(mut self) -> Result<Self, Refusal> {
        self.question = self.question.trim().to_owned();
        if self.question.is_empty() {
            return Err(Refusal::invalid("the question is empty").advise("say what you want to know"));
        }
        if self.question.len() > MAX_QUESTION_BYTES {
            let message = format!("the question has more than {MAX_QUESTION_BYTES} bytes");
            return Err(Refusal::invalid(message).advise("ask in fewer words"));
        }
        if self.max_rounds.is_some_and(|rounds| rounds < 2) || self.max_calls == Some(0) {
            let message = "max_rounds must be 2 or more, and max_calls 1 or more";
            return Err(Refusal::invalid(message));
        }
        if let Some(session) = &self.session {
            sessions::check_name(session)?;
        }
        Ok(self)
    }

    /// The same for the planner. It may cost what is usual with these models, or less.
    pub(crate) fn request<'a>(
        &self,
        models: &Models,
        cancel: CancellationToken,
        observe: &'a Observe<'a>,
    ) -> Request<'a> {
        let usual = models.limits();
        let limits = Limits {
            rounds: self.max_rounds.unwrap_or(usual.rounds).min(usual.rounds),
            calls: self.max_calls.unwrap_or(usual.calls).min(usual.calls),
            ..usual
        };
        Request {
            mode: self.mode,
            limits: Some(limits),
            platform: self.platform.unwrap_or_default(),
            cancel,
            observe,
            ..Request::new(&self.question)
        }
    }
}
