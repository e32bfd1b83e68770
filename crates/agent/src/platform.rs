//! How an answer is formatted for where it is read. The text is static and stands last in the system prompt, so that all
//! before it stays cached whatever the platform.

use serde::{Deserialize, Serialize};

/// Where an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Platform {
    /// Plain text.
    Plain,
    /// Markdown.
    #[default]
    Markdown,
    /// Slack's own marks.
    Slack,
}

impl Platform {
    /// Every platform.
    pub const ALL: [Platform; 3] = [Platform::Plain, Platform::Markdown, Platform::Slack];

    /// The word for it in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Platform::Plain => "plain",
            Platform::Markdown => "markdown",
            Platform::Slack => "slack",
        }
    }

    /// What a model is told.
    pub(crate) fn instruction(self) -> &'static str {
        match self {
            Platform::Plain => "Format: plain text. No Markdown; lists as lines that begin with `- `.",
            Platform::Markdown => "Format: Markdown. Tables for more than three rows; no headings in a short answer.",
            Platform::Slack => {
                "Format: Slack mrkdwn, concise, without emoji. *bold* with single asterisks, lists with `• `, no tables, no headings, links as \
                 <url|text>."
            }
        }
    }
}
