//! Format instructions per platform. They are static and the last part of the system prompt, so that its prefix is cached for every
//! platform.

use serde::{Deserialize, Serialize};

/// The platform on which an answer is displayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Platform {
    /// Plain text.
    Plain,
    /// Markdown.
    #[default]
    Markdown,
    /// Slack mrkdwn.
    Slack,
}

impl Platform {
    /// Every platform.
    pub const ALL: [Platform; 3] = [Platform::Plain, Platform::Markdown, Platform::Slack];

    /// Returns the name in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Platform::Plain => "plain",
            Platform::Markdown => "markdown",
            Platform::Slack => "slack",
        }
    }

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
