//! What a skill is: a folder with instructions for a task.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

/// A folder with a `SKILL.md`, as the Agent Skills specification has it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Skill {
    /// Its name: small letters, digits and hyphens.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// Its folder.
    pub path: PathBuf,
    /// Under what licence it may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What it needs: programs, network, a certain agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// Whatever else its author says about it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The tools that it may use without being asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// The instructions: `SKILL.md` without its front matter.
    pub content: String,
    /// The links in the instructions, in order; images and links to places in the same file are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<SkillLink>,
    /// Of a prompt of an MCP server: the server. What it says is never part of a system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// A link in the instructions of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SkillLink {
    /// What it is called.
    pub text: String,
    /// Where it leads, as it is written.
    pub target: String,
    /// Whether that is a URL, and not a file.
    pub is_url: bool,
    /// Its line in `SKILL.md`, from 1.
    pub line_number: usize,
}
