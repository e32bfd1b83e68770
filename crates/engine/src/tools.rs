//! The tools that a model may call.

mod execute_sql;
mod load_scoped;
mod metadata;
mod previous;
mod query;
mod sources;
mod validate_query;

use std::sync::Arc;

use prospector_core::record::Resource;
use prospector_core::tool::{Budget, Cut, Page, Part, Tool, ToolOutput, Toolset};
use serde::Serialize;

use crate::Engine;

/// Returns the tools with which a language model queries the sources of an engine: they run, validate and build queries, load
/// subsets, and show earlier answers, sources and their metadata. All of them share the session of `engine`.
pub fn tools(engine: &Arc<Engine>) -> Toolset {
    Toolset::new()
        .with(execute_sql::ExecuteSql(engine.clone()))
        .with(load_scoped::LoadScoped(engine.clone()))
        .with(validate_query::ValidateQuery(engine.clone()))
        .with(previous::GetPreviousResults(engine.clone()))
        .with(query::BuildQuery(engine.clone()))
        .with(query::QueryDatasource(engine.clone()))
        .with(metadata::GetDatasourceMetadata(engine.clone()))
        .with(sources::ListSources(engine.clone()))
        .with(sources::GetSourcePreview(engine.clone()))
}

impl Engine {
    /// The names of tools that a language model does not need in addition to the query tool: failures and warnings report what
    /// they would, and a catalog states the dialect of each source.
    pub const NEEDLESS_TOOLS: [&'static str; 2] = [validate_query::ValidateQuery::NAME, sources::ListSources::NAME];

    /// Returns the tools of [`tools`] that run queries in SQL, validate them, show their results again and list the dialects of
    /// the sources: all that a language model needs in addition to the tools of a catalog.
    pub fn sql_tools(self: &Arc<Self>) -> Toolset {
        Toolset::new()
            .with(execute_sql::ExecuteSql(self.clone()))
            .with(validate_query::ValidateQuery(self.clone()))
            .with(previous::GetPreviousResults(self.clone()))
            .with(sources::ListSources(self.clone()))
    }
}

/// One entry in full, or a list of summaries.
#[derive(Clone, Serialize)]
#[serde(untagged)]
enum Details<T, S> {
    One(Box<T>),
    All(Page<S>),
}

impl<T: ToolOutput, S: ToolOutput> ToolOutput for Details<T, S> {
    fn reveals(&self) -> Vec<Resource> {
        match self {
            Details::One(one) => one.reveals(),
            Details::All(all) => all.reveals(),
        }
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        match self {
            Details::One(one) => one.parts(),
            Details::All(_) => Vec::new(),
        }
    }

    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        match self {
            Details::One(one) => one.fit(budget),
            Details::All(all) => all.fit(budget),
        }
    }
}
