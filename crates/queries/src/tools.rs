//! Tools for verified queries.

mod list;
mod run;

use std::sync::Arc;

use prospector_core::tool::{Tool, ToolError, Toolset};
use prospector_engine::Engine;

use crate::{VerifiedQueries, VerifiedQuery};

impl VerifiedQueries {
    /// The name of the tool that lists verified queries.
    pub const LIST_TOOL: &'static str = list::ListVerifiedQueries::NAME;
    /// The name of the tool that returns one.
    pub const GET_TOOL: &'static str = list::GetVerifiedQuery::NAME;
    /// The name of the tool that runs one; its arguments are `name` and `parameters`.
    pub const RUN_TOOL: &'static str = run::RunVerifiedQuery::NAME;

    /// Returns the tools that list and describe verified queries.
    pub fn tools(self: &Arc<Self>) -> Toolset {
        Toolset::new().with(list::ListVerifiedQueries(self.clone())).with(list::GetVerifiedQuery(self.clone()))
    }

    /// Returns the tool that runs a query in the session of an engine.
    pub fn running(self: &Arc<Self>, engine: &Arc<Engine>) -> Toolset {
        Toolset::new().with(run::RunVerifiedQuery(self.clone(), engine.clone()))
    }

    fn find_named(&self, name: &str) -> Result<&VerifiedQuery, ToolError> {
        let names = self.queries().iter().map(|query| query.name.as_str());
        self.resolve(name).ok_or_else(|| ToolError::not_found("verified query", name, names))
    }
}
