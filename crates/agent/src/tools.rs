//! The tools that a run may call.

use std::future::Future;

use prospector_core::tool::{Answer, ToolError, ToolSpec};
use prospector_discovery::DiscoveryTools;
use serde_json::Value;

/// The tools that a run may call. The registry of a catalog implements it; so can other tools.
pub trait Tools: Send + Sync {
    /// The specifications, sorted by name.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Calls one of them.
    ///
    /// # Errors
    /// [`ToolError::Respond`] is shown to the model; [`ToolError::Fatal`] is for the operator alone.
    fn call(&self, name: &str, arguments: Value) -> impl Future<Output = Result<Answer, ToolError>> + Send;
}

impl Tools for DiscoveryTools {
    fn specs(&self) -> Vec<ToolSpec> {
        DiscoveryTools::specs(self)
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        DiscoveryTools::call(self, name, arguments).await
    }
}
