//! What happens in a run, as it happens.

use serde::Serialize;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The model is asked.
    Round {
        /// Which round, from 1.
        number: u32,
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
        arguments: serde_json::Value,
    },
    /// A tool answered.
    Result {
        /// The tool.
        name: String,
        /// Whether it failed.
        failed: bool,
        /// How large the answer is.
        bytes: usize,
    },
    /// The draft was checked.
    Verified {
        /// Whether all of it holds.
        ok: bool,
        /// How many names and steps failed.
        failed: usize,
    },
}
