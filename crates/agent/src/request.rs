//! A question with the options for planning or answering it.

use std::borrow::Cow;

use prospector_discovery::prompt::PromptForm;
use prospector_llm::purpose::Mode;
use tokio_util::sync::CancellationToken;

use crate::{
    Limits,
    event::{Event, Observe},
    platform::Platform,
};

/// Maximum number of characters of [`Request::formatting`]; more are truncated.
const MAX_FORMATTING_CHARS: usize = 2_000;

/// When the model is asked to confirm or correct a verified plan, in one more request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Review {
    /// Never.
    Off,
    /// If the plan has warnings.
    #[default]
    Warnings,
    /// Always, with the first rows of each statement.
    Always,
}

/// One question. [`Request::new`] sets defaults; a string converts into a request.
#[derive(Clone)]
pub struct Request<'a> {
    /// The question.
    pub question: String,
    /// The mode; by default inferred from the question.
    pub mode: Option<Mode>,
    /// The limits; by default those of the model.
    pub limits: Option<Limits>,
    /// Forces a form of the system prompt, for experiments.
    pub form: Option<PromptForm>,
    /// The platform on which an answer is displayed.
    pub platform: Platform,
    /// Format instructions that replace those of the platform.
    pub formatting: Option<String>,
    /// Example queries for the prompt; by default [`Planner::ask`](crate::Planner::ask) selects verified queries similar to the question.
    pub examples: Option<String>,
    /// When the model reviews its plan.
    pub review: Review,
    /// Whether the answer includes follow-up questions.
    pub follow_ups: bool,
    /// Cancels the run, which then returns what is known so far.
    pub cancel: CancellationToken,
    /// Receives each event of the run.
    pub observe: &'a Observe<'a>,
}

impl Request<'_> {
    /// Returns a request with defaults and without an observer.
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

    /// Returns the format instructions for the answer.
    pub(crate) fn format_instruction(&self) -> Cow<'static, str> {
        match self.formatting.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            None => self.platform.instruction().into(),
            Some(text) => {
                let end = text.char_indices().nth(MAX_FORMATTING_CHARS).map_or(text.len(), |(end, _)| end);
                format!("Format: {}", &text[..end]).into()
            }
        }
    }

    /// Returns the limits.
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
    fn custom_formatting_replaces_platform() {
        let request = Request { platform: Platform::Slack, ..Request::new("q") };
        assert!(request.format_instruction().contains("mrkdwn"));
        let own = Request { formatting: Some(" one line ".into()), ..request.clone() };
        assert_eq!(own.format_instruction(), "Format: one line");
        let long = Request { formatting: Some("ü".repeat(9_000)), ..request };
        assert_eq!(long.format_instruction().chars().count(), "Format: ".len() + MAX_FORMATTING_CHARS);
    }
}
