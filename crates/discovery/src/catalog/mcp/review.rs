//! The state of MCP servers for their operator, and approval of changed definitions.

use std::path::Path;

use prospector_core::Problem;
use prospector_mcp::Record;
use serde::Serialize;
use serde_json::Value;

use super::{FOLDER, load::describe_failure};
use crate::Catalog;

/// One MCP server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServerState {
    /// Its name.
    pub name: String,
    /// The protocol version of the last session.
    pub protocol: String,
    /// Number of usable tools.
    pub tools: usize,
    /// Number of resources and templates.
    pub resources: usize,
    /// Number of prompts.
    pub prompts: usize,
    /// When it was last listed (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<String>,
    /// Why the latest listing failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// How to fix the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Tools quarantined because their definitions changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quarantined: Vec<ToolChange>,
}

/// A tool whose definition changed since it was approved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolChange {
    /// The tool.
    pub tool: String,
    /// The hash of the new definition, so that only what was shown can be approved.
    pub hash: String,
    /// The changed parts, as approved and as now listed by the server.
    pub changes: Vec<PartChange>,
}

/// A changed part of a definition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartChange {
    /// `description`, `inputSchema`, ...
    pub part: String,
    /// The approved value.
    pub approved: Value,
    /// The value that the server lists now.
    pub now: Value,
}

impl Catalog {
    /// Returns the MCP servers, by name, as they were when they were last listed.
    pub fn servers(&self) -> Vec<ServerState> {
        self.caller.servers.records().into_iter().map(|(name, record)| describe(name, record)).collect()
    }
}

impl ServerState {
    /// Returns whether a problem of the catalog reports the failure of this server.
    pub fn has_failure(&self, problem: &Problem) -> bool {
        let Some(reason) = &self.failure else { return false };
        let reported = Problem::error(&problem.place, describe_failure(&self.name, reason));
        problem.reason.starts_with(&reported.reason)
    }
}

/// Approves changed definitions as shown, and returns the approved tools. A definition that has changed again is not approved.
///
/// # Errors
/// If the record cannot be read or written.
pub fn approve(state: &Path, server: &str, shown: &[ToolChange]) -> std::io::Result<Vec<String>> {
    let folder = state.join(FOLDER);
    let mut record = Record::read(&folder, server).map_err(std::io::Error::other)?;
    let approved: Vec<String> = shown
        .iter()
        .filter(|change| record.approve(&change.tool, &change.hash))
        .map(|change| change.tool.clone())
        .collect();
    if !approved.is_empty() {
        record.write(&folder)?;
    }
    Ok(approved)
}

fn describe(name: &str, record: &Record) -> ServerState {
    let changes = record.changes().map(|(approved, now)| {
        let (before, after) = (approved.sanitize(), now.sanitize());
        let change = |part: &str| PartChange {
            part: part.to_owned(),
            approved: before.get(part).cloned().unwrap_or_default(),
            now: after.get(part).cloned().unwrap_or_default(),
        };
        ToolChange {
            tool: approved.name().to_owned(),
            hash: now.hash().to_owned(),
            changes: approved.changed_parts(now).into_iter().map(change).collect(),
        }
    });
    ServerState {
        name: name.to_owned(),
        protocol: record.protocol().to_owned(),
        tools: record.tools().count(),
        resources: record.resources.len(),
        prompts: record.prompts.len(),
        last_seen: record.last_seen(),
        failure: record.failure().map(|(reason, _)| reason.to_owned()),
        advice: record.failure().map(|(_, advice)| advice.to_owned()),
        quarantined: changes.collect(),
    }
}
