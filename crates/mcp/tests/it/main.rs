//! Servers that are started for real: this binary is the server too, see [`scripted`].

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod behaviours;
mod calls;
mod elicitation;
mod endings;
mod hostile;
mod http;
mod oauth;
mod provider;
mod sessions;
mod table;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use prospector_mcp::{
    Definition, McpError, Record, Server, ServerSessions,
    spec::{Command, Reach},
};
use prospector_test_support::mcp::{SCRIPT, serve};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// How long a server may take here.
const LIMIT: Duration = Duration::from_secs(20);

/// A server with a script.
pub(crate) struct Scripted {
    folder: TempDir,
    pub(crate) server: Server,
}

impl Scripted {
    pub(crate) fn new(script: Value) -> Self {
        Scripted::within(script, LIMIT)
    }

    /// With a time limit of its own.
    pub(crate) fn within(script: Value, limit: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("script.json"), script.to_string()).unwrap();
        let server = Server::new("scripted", reach(folder.path()), limit, folder.path().join("records"));
        Scripted { folder, server }
    }

    /// The server of a catalog that is opened again.
    pub(crate) fn reopen(&self, sessions: &ServerSessions, reach: Reach) -> Server {
        sessions.server("scripted", reach, LIMIT, self.records())
    }

    /// Replaces the script: what the server lists next.
    pub(crate) fn rewrite(&self, script: Value) {
        std::fs::write(self.folder.path().join("script.json"), script.to_string()).unwrap();
    }

    pub(crate) fn record(&self) -> Record {
        Record::read(&self.records(), "scripted").unwrap()
    }

    pub(crate) fn records(&self) -> PathBuf {
        self.folder.path().join("records")
    }

    /// The folder that the process works in.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The names of the tools that can be used.
    pub(crate) fn names(&self) -> Vec<String> {
        self.record().tools().map(|tool| tool.name().to_owned()).collect()
    }

    /// Calls a tool with the definition that is pinned.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, McpError> {
        self.call_on(&self.server, tool, arguments).await
    }

    /// As [`Scripted::call`], on another server with the same record.
    pub(crate) async fn call_on(&self, server: &Server, tool: &str, arguments: Value) -> Result<Value, McpError> {
        let record = self.record();
        let tool = record.tools().find(|known| known.name() == tool).unwrap_or_else(|| panic!("no tool {tool}"));
        let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
        server.call(tool, arguments).await.map(|result| result.value)
    }
}

/// This binary as a server: the test harness runs the test `acts_as_server` alone. Its own output is not JSON, and is ignored.
pub(crate) fn reach(folder: &Path) -> Reach {
    let script = folder.join("script.json").to_string_lossy().into_owned();
    let args = ["--exact", "acts_as_server", "--nocapture", "--test-threads=1"];
    Reach::Command(Command {
        program: std::env::current_exe().unwrap().to_string_lossy().into_owned(),
        args: args.map(str::to_owned).into(),
        environment: vec![(SCRIPT.to_owned(), script)],
        folder: folder.to_owned(),
    })
}

/// A tool of this name without arguments.
pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "description": "A tool", "inputSchema": {"type": "object"}})
}

pub(crate) fn define(tool: Value) -> Definition {
    Definition::new(tool).unwrap()
}

#[test]
fn acts_as_server() {
    // The harness has begun a line.
    println!();
    serve();
}
