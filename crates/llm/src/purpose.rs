//! What a request is for, as data. A language model reads its messages and never sees this; a model that is a program
//! reads this, so that it does not have to recognise its task by the wording of a prompt.

mod mode;

pub use mode::Mode;

/// What a request asks for. Whoever makes a request sets it; providers ignore it.
///
/// Places are indices into [`ChatRequest::messages`](crate::ChatRequest::messages).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Purpose {
    /// Whatever the messages say.
    #[default]
    Unspecified,
    /// A plan as JSON, or calls that lead to it.
    Plan {
        /// The question that is to be planned.
        question: String,
        /// Whether the plan is due now: no further calls are made.
        finish: bool,
    },
    /// An answer in text, or calls that lead to it.
    Ask {
        /// The question, as the user asked it.
        question: String,
        /// What the answer is to rest on.
        mode: Mode,
        /// The turn of the conversation before this one.
        previous: Option<PreviousTurn>,
        /// The place of the question; the messages before it are of earlier turns.
        begins_at: usize,
        /// Whether the answer is due now: no further calls are made.
        finish: bool,
    },
    /// An answer written anew from the results of queries.
    Summarize {
        /// The answer as it was drafted.
        draft: String,
    },
    /// The next step in a phase of a workflow: calls, or a text for the user.
    Phase {
        /// The name of the workflow.
        workflow: String,
        /// The name of the phase; none when the workflow is over.
        phase: Option<String>,
        /// The place of the message that announced the phase.
        begins_at: usize,
        /// What the user said so far, oldest first.
        said: Vec<Utterance>,
    },
    /// The facts that a text states, as JSON.
    ExtractFacts,
}

/// A turn of a conversation that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviousTurn {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
    /// Whether a query of the turn gave rows.
    pub has_data: bool,
}

/// Something that the user said in a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Utterance {
    /// The place of the message that holds it.
    pub place: usize,
    /// The user's words.
    pub text: String,
}
