//! Calls of HTTP APIs through the guarded fetcher, and of tools through their servers.

use std::{collections::HashMap, path::Path, sync::Arc};

use async_trait::async_trait;
use prospector_api::{
    Api, ApiKind, Operation,
    invoke::{Call, Caller, Message, NotCalled, Reply},
};
use prospector_core::{
    record::ResourceKind,
    tool::{Toolset, client::current_client},
};
use prospector_mcp::{Definition, McpError, Record, Server, ServerSessions};

use super::{FOLDER, entry::Permission};
use crate::{Catalog, catalog::apis::invoke::HttpCaller};

/// A server of the catalog, with its available tools.
#[derive(Debug)]
pub(super) struct Connected {
    pub(super) server: Server,
    /// By name: whether the catalog allows calls, and the approved definition.
    pub(super) tools: HashMap<String, (bool, Definition)>,
    pub(super) invoke: Permission,
    /// The record as of the opening of the catalog.
    pub(super) record: Record,
}

/// The MCP servers of a catalog.
#[derive(Debug, Default)]
pub(in crate::catalog) struct McpServers {
    servers: HashMap<String, Connected>,
}

impl McpServers {
    pub(super) fn new(servers: HashMap<String, Connected>) -> Self {
        McpServers { servers }
    }

    /// Returns the records of the servers, by name.
    pub(in crate::catalog) fn records(&self) -> Vec<(&str, &Record)> {
        let mut all: Vec<(&str, &Record)> =
            self.servers.iter().map(|(name, one)| (name.as_str(), &one.record)).collect();
        all.sort_by_key(|(name, _)| *name);
        all
    }

    /// Returns a server by name.
    pub(super) fn server(&self, name: &str) -> Option<&Connected> {
        self.servers.get(name)
    }

    /// Ends the sessions of servers that this catalog no longer has.
    pub(in crate::catalog) fn end_others(&self, sessions: &ServerSessions, state: &Path) {
        let kept: Vec<&Server> = self.servers.values().map(|one| &one.server).collect();
        sessions.end_others(&state.join(FOLDER), &kept);
    }

    /// Returns the servers with any callable tool.
    fn names(&self) -> impl Iterator<Item = &String> {
        self.servers.iter().filter(|(_, one)| one.invoke != Permission::Nothing).map(|(name, _)| name)
    }

    fn find(&self, api: &str, tool: &str) -> Result<(&Server, &Definition), NotCalled> {
        let refuse = |reason: String, advice: String| NotCalled { reason, advice };
        let Some(connected) = self.servers.get(api) else {
            return Err(refuse(format!("unknown MCP server `{api}`"), "use it as a step of the plan".to_owned()));
        };
        match connected.tools.get(tool) {
            Some((true, definition)) => Ok((&connected.server, definition)),
            Some((false, _)) => {
                let reason = format!("the catalog does not allow calls of `{api}.{tool}`");
                let advice = match connected.invoke {
                    Permission::Reading => format!(
                        "`invoke: read` allows tools that are annotated as read-only and named in `tools`; write `invoke: [{tool}]` for others"
                    ),
                    _ => format!("write `invoke: [{tool}]` for `{api}` in the catalog"),
                };
                Err(refuse(reason, advice))
            }
            None => Err(refuse(format!("`{api}` has no tool `{tool}`"), "search again".to_owned())),
        }
    }
}

/// Calls operations of HTTP APIs and tools of MCP servers.
#[derive(Debug)]
pub(in crate::catalog) struct CatalogCaller {
    pub(in crate::catalog) http: Arc<HttpCaller>,
    pub(in crate::catalog) servers: Arc<McpServers>,
}

impl CatalogCaller {
    /// Returns the names of the APIs with any callable operation.
    pub(in crate::catalog) fn names(&self) -> Vec<String> {
        let mut names = self.http.names();
        names.extend(self.servers.names().cloned());
        names.sort();
        names
    }
}

#[async_trait]
impl Caller for CatalogCaller {
    async fn call(&self, call: &Call) -> Result<Reply, NotCalled> {
        let Message::Tool { name, arguments } = &call.message else { return self.http.call(call).await };
        let (server, tool) = self.servers.find(&call.api, name)?;
        let failed = |error: McpError| NotCalled {
            reason: format!("`{}.{name}`: {}", call.api, error.without_output()),
            advice: error.advice(),
        };
        let result = server.call(tool, arguments.clone()).await.map_err(failed)?;
        if let Some(client) = current_client() {
            let documents = result.links.iter().filter_map(|uri| self.servers.find_document(&call.api, uri));
            documents.for_each(|name| client.link(ResourceKind::Document, &name));
        }
        Ok(Reply { answer: result.value, url: format!("mcp:{}", call.api) })
    }

    fn permits(&self, api: &Api, operation: &Operation) -> Result<(), NotCalled> {
        match api.kind {
            ApiKind::Mcp => self.servers.find(&api.name, &operation.path).map(drop),
            _ if self.http.names().contains(&api.name) => Ok(()),
            _ => Err(NotCalled {
                reason: format!("the catalog does not allow calls of `{}`", api.name),
                advice: format!("write `invoke: true` for `{}` in the catalog", api.name),
            }),
        }
    }
}

impl Catalog {
    /// Returns the tool that calls operations; empty if no API may be called.
    pub(crate) fn calls(&self) -> Toolset {
        self.apis.calling(&self.caller.names(), self.caller.clone()).with_redactor(self.redactor.clone())
    }

    /// Returns whether the catalog allows calls of an operation.
    ///
    /// # Errors
    /// If the catalog does not allow it, with what to write in the catalog.
    pub fn permits_call(&self, api: &Api, operation: &Operation) -> Result<(), NotCalled> {
        self.caller.permits(api, operation)
    }
}
