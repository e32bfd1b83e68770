//! Sign-in to MCP servers with OAuth, for their operator.

use prospector_mcp::McpError;

use crate::Catalog;

impl Catalog {
    /// Signs in to a server with OAuth, and lists its tools; the index contains them when the catalog is opened again. `open` receives the
    /// address that the user opens in a browser on this machine. Returns `false` for an unknown server.
    ///
    /// # Errors
    /// [`McpError`] if the server has no OAuth, the user does not sign in within 5 minutes, or the server cannot be listed afterwards.
    pub async fn sign_in(&self, server: &str, open: impl FnOnce(&str)) -> Result<bool, McpError> {
        let Some(connected) = self.caller.servers.server(server) else { return Ok(false) };
        connected.server.login(open).await?;
        connected.server.refresh().await?;
        Ok(true)
    }

    /// Removes the tokens of a server; returns whether there were any.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn sign_out(&self, server: &str) -> std::io::Result<bool> {
        self.caller.servers.server(server).map_or(Ok(false), |connected| connected.server.logout())
    }
}
