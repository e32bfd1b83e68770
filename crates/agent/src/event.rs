//! Events of a run, for terminals and servers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::metrics::{Ended, Metrics};

/// A function that receives each event of a run.
pub type Observe<'a> = dyn Fn(Event) + Send + Sync + 'a;

/// An event. In JSON, `type` is the name of the variant in lower case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A round starts: the model is called.
    Round {
        /// The number of the round, from 1.
        number: u32,
    },
    /// A phase of a workflow starts.
    Phase {
        /// Its name; `end` after the last.
        name: String,
        /// The reason, unless the previous phase was completed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A piece of streamed text. The complete text follows as `Thinking` or `Answer`.
    Text {
        /// The next piece.
        text: String,
    },
    /// The model reasons, before or along with its calls.
    Thinking {
        /// The reasoning.
        text: String,
    },
    /// A tool call starts.
    Tool {
        /// The tool.
        name: String,
        /// Its arguments.
        arguments: Value,
    },
    /// A query starts.
    Executing {
        /// Its number in the answer: `Q1`.
        id: String,
        /// The question that it answers.
        question: String,
        /// The query.
        sql: String,
    },
    /// A tool call ended.
    Result {
        /// The tool.
        name: String,
        /// Whether it failed.
        failed: bool,
        /// The error message, at most 300 characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The size of the result.
        bytes: usize,
        /// The outcome of each query of the call.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        queries: Vec<QueryRan>,
    },
    /// The draft was checked.
    Verified {
        /// Whether nothing failed.
        ok: bool,
        /// The number of failed names, steps or claims.
        failed: usize,
    },
    /// The answer.
    Answer {
        /// Its text.
        text: String,
        /// Whether the run ended before the model answered.
        best_effort: bool,
    },
    /// Suggested follow-up questions.
    Followups {
        /// The questions.
        questions: Vec<String>,
    },
    /// An error that ends the run or skips a part of it.
    Error {
        /// A stable code.
        code: String,
        /// The error message.
        message: String,
    },
    /// The run ended. It is the last event.
    Done {
        /// Why it ended.
        ended: Ended,
        /// Cost and durations.
        metrics: Box<Metrics>,
    },
}

/// The outcome of one query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryRan {
    /// Its number in the answer: `Q1`.
    pub id: String,
    /// The question that it answers.
    #[serde(default)]
    pub question: String,
    /// The number of returned rows; `None` if it failed.
    pub rows: Option<usize>,
    /// Whether there are more.
    #[serde(default)]
    pub has_more: bool,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
