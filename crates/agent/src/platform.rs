//! Format instructions per platform. They are static and the last part of the system prompt, so that its prefix is cached for every
//! platform.

use prospector_core::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// The platform on which an answer is displayed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Platform {
        /// Plain text.
        Plain = "plain",
        /// Markdown.
        #[default]
        Markdown = "markdown",
        /// Slack mrkdwn.
        Slack = "slack",
    }
}

impl Platform {
    /// Returns the format instructions.
    pub(crate) fn instruction(self) -> &'static str {
        match self {
            Platform::Plain => "Format: plain text. No Markdown; lists as lines that start with `- `.",
            Platform::Markdown => "Format: Markdown. Tables for more than three rows; no headings in a short answer.",
            Platform::Slack => {
                "Format: Slack mrkdwn, concise, without emoji. *bold* with single asterisks, lists with `• `, no tables, no headings, links as \
                 <url|text>."
            }
        }
    }
}
