//! What happens in a run, as it happens: one stream for terminals and servers alike.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::metrics::{Ended, Metrics};

/// A function that is called with each event of a run, as it happens.
pub type Observe<'a> = dyn Fn(Event) + Send + Sync + 'a;

/// One thing that happened. As JSON, `type` is the name of the variant in lower case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The model is asked.
    Round {
        /// Which round, from 1.
        number: u32,
    },
    /// A phase of a workflow begins.
    Phase {
        /// Its name; `end` after the last.
        name: String,
        /// Why it begins, where that is not that the one before is done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The model writes. What it has said in the end is told whole, as a thought or as the answer.
    Text {
        /// The next piece.
        text: String,
    },
    /// The model thinks aloud, before or beside its calls.
    Thinking {
        /// Its words.
        text: String,
    },
    /// A tool is called.
    Tool {
        /// The tool.
        name: String,
        /// Its arguments.
        arguments: Value,
    },
    /// A query is run.
    Executing {
        /// Its number in the answer: `Q1`.
        id: String,
        /// What it answers.
        question: String,
        /// The query.
        sql: String,
    },
    /// A tool answered.
    Result {
        /// The tool.
        name: String,
        /// Whether it failed.
        failed: bool,
        /// Why, as the model is told, at most 300 characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// How large the answer is.
        bytes: usize,
        /// What each query of the call gave.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        queries: Vec<QueryRan>,
    },
    /// The draft was checked.
    Verified {
        /// Whether all of it holds.
        ok: bool,
        /// How many names, steps or claims failed.
        failed: usize,
    },
    /// The answer.
    Answer {
        /// Its text.
        text: String,
        /// Whether the run ended before the model had one.
        best_effort: bool,
    },
    /// What may be asked next.
    Followups {
        /// The questions.
        questions: Vec<String>,
    },
    /// Something went wrong that ends the run or leaves a part of it out.
    Error {
        /// A stable word.
        code: String,
        /// What is wrong.
        message: String,
    },
    /// The run is over; nothing follows.
    Done {
        /// Why it ended.
        ended: Ended,
        /// What it cost.
        metrics: Box<Metrics>,
    },
}

/// What one query gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryRan {
    /// Its number in the answer: `Q1`.
    pub id: String,
    /// What it answers.
    #[serde(default)]
    pub question: String,
    /// How many rows are shown; none where it failed.
    pub rows: Option<usize>,
    /// Whether there are more.
    #[serde(default)]
    pub has_more: bool,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
