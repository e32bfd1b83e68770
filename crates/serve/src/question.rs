//! A client's question.

use std::time::Duration;

use prospector_agent::{Limits, Request, ask::Platform, event::Observe};
use prospector_llm::purpose::Mode;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::{error::Refusal, options, sessions};

/// Limit on the length of a question, in bytes.
const MAX_QUESTION_BYTES: usize = 10_000;

/// A question with its options.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// The question.
    pub(crate) question: String,
    /// How to answer; if absent, chosen from the wording of the question.
    pub(crate) mode: Option<Mode>,
    /// The offered model that answers; if absent, the default one.
    pub(crate) model: Option<String>,
    /// Limit on rounds with the model.
    pub(crate) max_rounds: Option<u32>,
    /// Limit on tool calls.
    pub(crate) max_calls: Option<u32>,
    /// Limit on time, in seconds.
    pub(crate) max_seconds: Option<u32>,
    /// Whether to suggest follow-up questions; `true` if absent.
    pub(crate) follow_ups: Option<bool>,
    /// The conversation to continue; answers only.
    pub(crate) session: Option<String>,
    /// The platform on which the answer is read.
    pub(crate) platform: Option<Platform>,
    /// Formatting instructions that override those of the platform.
    pub(crate) formatting: Option<String>,
}

impl Question {
    /// Trims the question and validates it.
    ///
    /// # Errors
    /// If the question is empty or too long, or a limit is too low.
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

    /// Whether it has options that only answers support.
    pub(crate) fn is_of_an_answer(&self) -> bool {
        let is_formatted = self.platform.is_some() || self.formatting.is_some();
        self.session.is_some() || is_formatted || self.follow_ups.is_some()
    }

    /// Converts the question for the planner, within the limits of the server.
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
