//! Data types of skills.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

/// A folder with a `SKILL.md`, following the Agent Skills specification.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Skill {
    /// Its name: lower-case letters, digits and hyphens.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// Its folder.
    pub path: PathBuf,
    /// Its licence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Its requirements: programs, network, a certain agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// Further fields of its front matter.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The tools that it may use without confirmation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// The instructions: `SKILL.md` without its front matter.
    pub content: String,
    /// The links in the instructions, in order, except images and links within the same file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<SkillLink>,
    /// Of a prompt of an MCP server: the server. What it says is never part of a system prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

/// A link in the instructions of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SkillLink {
    /// The link text.
    pub text: String,
    /// The target as written.
    pub target: String,
    /// Whether the target is a URL.
    pub is_url: bool,
    /// Its line in `SKILL.md`, from 1.
    pub line_number: usize,
}
