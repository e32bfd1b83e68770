//! The purpose of a request, as data. Language models never see it; a model that is a program reads it instead of recognising its task from
//! the wording of a prompt.

mod mode;

pub use mode::{Mode, strip_redo};

/// The purpose of a request. Callers set it; providers ignore it.
///
/// Positions are indices into [`ChatRequest::messages`](crate::ChatRequest::messages).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Purpose {
    /// Defined by the messages only.
    #[default]
    Unspecified,
    /// A plan as JSON, or calls that lead to it.
    Plan {
        /// The question to plan.
        question: String,
        /// Whether the plan is due now, without further calls.
        finish: bool,
    },
    /// An answer in text, or calls that lead to it.
    Ask {
        /// The question, as the user asked it.
        question: String,
        /// The mode of the answer.
        mode: Mode,
        /// The previous turn of the conversation.
        previous: Option<PreviousTurn>,
        /// The last turn that was answered: the previous one, or one before turns that failed or were declined.
        answered: Option<PreviousTurn>,
        /// Index of the question; earlier messages belong to earlier turns.
        begins_at: usize,
        /// Whether the answer is due now, without further calls.
        finish: bool,
    },
    /// An answer rewritten from the results of queries.
    Summarize {
        /// The draft of the answer.
        draft: String,
    },
    /// The next step in a phase of a workflow: calls, or a text for the user.
    Phase {
        /// The name of the workflow.
        workflow: String,
        /// Name of the phase; `None` after the end of the workflow.
        phase: Option<String>,
        /// Index of the message that announced the phase.
        begins_at: usize,
        /// The user's messages so far, oldest first.
        said: Vec<Utterance>,
    },
    /// The facts that a text states, as JSON.
    ExtractFacts,
}

/// A completed turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviousTurn {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
    /// Whether a query of the turn returned rows.
    pub has_data: bool,
}

/// A message of the user in a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Utterance {
    /// Index of the message that contains it.
    pub place: usize,
    /// The user's text.
    pub text: String,
}
