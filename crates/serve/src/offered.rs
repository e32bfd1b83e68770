//! The workflows that clients may begin.

use std::{fmt, path::PathBuf, sync::Arc};

use prospector_core::tool::Toolset;
use prospector_engine::Engine;
use prospector_workflow::UserWords;

/// Makes the tools of a workflow: over a session of an engine, with a folder for what they write, and with what the user
/// says.
type WorkflowTools = dyn Fn(&Arc<Engine>, PathBuf, UserWords) -> Toolset + Send + Sync;

/// A workflow that clients may begin.
#[derive(Clone)]
pub struct OfferedWorkflow {
    /// By what it is called.
    pub name: &'static str,
    /// What it is, in YAML: see [`prospector_workflow::Workflow::read`].
    pub definition: &'static str,
    /// What makes its own tools.
    pub tools: Arc<WorkflowTools>,
}

impl fmt::Debug for OfferedWorkflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the workflow {}", self.name)
    }
}
