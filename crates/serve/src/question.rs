//! A question as a client asks it.

use std::time::Duration;

use prospector_agent::{Limits, Request, ask::Platform, event::Observe};
use prospector_llm::purpose::Mode;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{error::Refusal, options, sessions};

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
    /// Which of the models that are offered answers; the usual one, where it is not said.
    pub(crate) model: Option<String>,
    /// At most this many rounds with the model.
    pub(crate) max_rounds: Option<u32>,
    /// At most this many tool calls.
    pub(crate) max_calls: Option<u32>,
    /// At most this many seconds.
    pub(crate) max_seconds: Option<u32>,
    /// Whether an answer comes with questions that could be asked next; yes, where it is not said.
    pub(crate) follow_ups: Option<bool>,
    /// The conversation that it goes on with, where it is to be answered.
    pub(crate) session: Option<String>,
    /// Where the answer is read.
    pub(crate) platform: Option<Platform>,
    /// How it is to be formatted, in the place of what is known of the platform.
    pub(crate) formatting: Option<String>,
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
        if self.max_rounds.is_some_and(|rounds| rounds < 2) || self.max_calls == Some(0) || self.max_seconds == Some(0)
        {
            let message = "max_rounds must be 2 or more, max_calls and max_seconds 1 or more";
            return Err(Refusal::invalid(message));
        }
        if let Some(session) = &self.session {
            sessions::check_name(session)?;
        }
        Ok(self)
    }

    /// Whether it says how an answer is to be made, which a plan is not.
    pub(crate) fn is_of_an_answer(&self) -> bool {
        let is_formatted = self.platform.is_some() || self.formatting.is_some();
        self.session.is_some() || is_formatted || self.follow_ups.is_some()
    }

    /// The same for the planner. It may cost what the server allows, or less.
    pub(crate) fn request<'a>(
        &self,
        usual: Limits,
        allowed: &options::Limits,
        cancel: CancellationToken,
        observe: &'a Observe<'a>,
    ) -> Request<'a> {
        let least = |asked: Option<u32>, allowed: u32| asked.unwrap_or(allowed).min(allowed);
        let seconds = self.max_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        let limits = Limits {
            rounds: least(self.max_rounds, allowed.rounds.unwrap_or(usual.rounds)),
            calls: least(self.max_calls, allowed.calls.unwrap_or(usual.calls)),
            calls_at_once: allowed.calls_at_once.unwrap_or(usual.calls_at_once),
            run_time: seconds.unwrap_or(usual.run_time).min(usual.run_time),
            ..usual
        };
        Request {
            mode: self.mode,
            limits: Some(limits),
            platform: self.platform.unwrap_or_default(),
            formatting: self.formatting.clone(),
            follow_ups: self.follow_ups.unwrap_or(true),
            cancel,
            observe,
            ..Request::new(&self.question)
        }
    }
}
