//! A question, and how it is to be planned or answered.

use prospector_discovery::prompt::PromptForm;
use prospector_llm::purpose::Mode;
use tokio_util::sync::CancellationToken;

use crate::{
    Limits,
    event::{Event, Observe},
    platform::Platform,
};

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
            follow_ups: true,
            cancel: CancellationToken::new(),
            observe: &ignore,
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
