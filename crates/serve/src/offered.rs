//! The workflows that clients may start.

use std::{fmt, path::PathBuf, sync::Arc};

use prospector_core::tool::Toolset;
use prospector_engine::Engine;
use prospector_workflow::UserWords;

/// Creates the tools of a workflow from an engine session, an output folder, and the user's messages.
type WorkflowTools = dyn Fn(&Arc<Engine>, PathBuf, UserWords) -> Toolset + Send + Sync;

/// A workflow that clients may start.
#[derive(Clone)]
pub struct OfferedWorkflow {
    /// The name of the workflow.
    pub name: &'static str,
    /// The definition in YAML: see [`prospector_workflow::Workflow::read`].
    pub definition: &'static str,
    /// Creates the workflow's own tools.
    pub tools: Arc<WorkflowTools>,
}

impl fmt::Debug for OfferedWorkflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the workflow {}", self.name)
    }
}
