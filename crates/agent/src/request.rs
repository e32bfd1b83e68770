//! A question, and how it is to be planned or answered.

use std::borrow::Cow;

use prospector_discovery::prompt::PromptForm;
use prospector_llm::purpose::Mode;
use tokio_util::sync::CancellationToken;

use crate::{
    Limits,
    event::{Event, Observe},
    platform::Platform,
};

/// Characters of [`Request::formatting`]; more are left out.
const MAX_FORMATTING_CHARS: usize = 2_000;

/// When a model is shown what its plan computes, to confirm or correct it, in one more request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Review {
    /// Never.
    Off,
    /// Where the plan has warnings.
    #[default]
    Warnings,
    /// Always, with the first rows of each statement.
    Always,
}

/// One question. [`Request::new`] gives every other field its usual value, and a text becomes a request by itself.
#[derive(Clone)]
pub struct Request<'a> {
    /// The question.
    pub question: String,
    /// How it is to be answered; where it is not given, the words of the question decide.
    pub mode: Option<Mode>,
    /// What it may cost; where it is not given, what is usual for the model.
    pub limits: Option<Limits>,
    /// Forces a form of the system prompt, for experiments.
    pub form: Option<PromptForm>,
    /// Where an answer is read.
    pub platform: Platform,
    /// How an answer is to be formatted, in the place of what is known of the platform.
    pub formatting: Option<String>,
    /// Queries that are near the question, as a model is shown them before it; [`Planner::ask`](crate::Planner::ask) finds them
    /// in its catalog where none are given.
    pub examples: Option<String>,
    /// When a plan is reviewed by the model that wrote it.
    pub review: Review,
    /// Whether an answer comes with questions that could be asked next.
    pub follow_ups: bool,
    /// Ends the run when it is cancelled; what is known by then is returned.
    pub cancel: CancellationToken,
    /// Called with each event of the run, as it happens.
    pub observe: &'a Observe<'a>,
}

impl Request<'_> {
    /// A request with usual values, which nobody observes.
    pub fn new(question: impl Into<String>) -> Self {
        Request {
            question: question.into(),
            mode: None,
            limits: None,
            form: None,
            platform: Platform::default(),
            formatting: None,
            examples: None,
            review: Review::default(),
            follow_ups: true,
            cancel: CancellationToken::new(),
            observe: &ignore,
        }
    }

    /// What a model is told of the form of the answer, which does not change what it says.
    pub(crate) fn format_instruction(&self) -> Cow<'static, str> {
        match self.formatting.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            None => self.platform.instruction().into(),
            Some(text) => {
                let end = text.char_indices().nth(MAX_FORMATTING_CHARS).map_or(text.len(), |(end, _)| end);
                format!("Format: {}", &text[..end]).into()
            }
        }
    }

    /// What it may cost.
    pub(crate) fn limits(&self) -> Limits {
        self.limits.unwrap_or_default()
    }
}

impl From<&str> for Request<'_> {
    fn from(question: &str) -> Self {
        Request::new(question)
    }
}

impl From<String> for Request<'_> {
    fn from(question: String) -> Self {
        Request::new(question)
    }
}

fn ignore(_: Event) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_of_the_callers_own_takes_the_place_of_the_platforms() {
        let request = Request { platform: Platform::Slack, ..Request::new("q") };
        assert!(request.format_instruction().contains("mrkdwn"));
        let own = Request { formatting: Some(" one line ".into()), ..request.clone() };
        assert_eq!(own.format_instruction(), "Format: one line");
        let long = Request { formatting: Some("ü".repeat(9_000)), ..request };
        assert_eq!(long.format_instruction().chars().count(), "Format: ".len() + MAX_FORMATTING_CHARS);
    }
}
