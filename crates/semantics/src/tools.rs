//! What a model may call: metrics are listed, shown and computed.

mod metrics;
mod query_metrics;
mod question;

use std::sync::Arc;

use prospector_core::tool::{Tool, Toolset};
use prospector_engine::Engine;

use crate::{SemanticModel, candidates::Glossary};
use metrics::{GetMetric, ListMetrics};
use query_metrics::QueryMetrics;

impl SemanticModel {
    /// The name of the tool that computes metrics, where there is an engine.
    pub const QUERY_TOOL: &'static str = QueryMetrics::NAME;

    /// The names of the tools that list metrics, and that show one.
    pub const LIST_TOOL: &'static str = ListMetrics::NAME;
    /// See [`SemanticModel::LIST_TOOL`].
    pub const SHOW_TOOL: &'static str = GetMetric::NAME;

    /// The tools that list and show metrics. An engine leaves out the dimensions that it refuses to tell a metric by.
    pub fn tools(self: &Arc<Self>, engine: Option<Arc<Engine>>) -> Toolset {
        Toolset::new().with(ListMetrics(self.clone())).with(GetMetric { model: self.clone(), engine })
    }

    /// The tool that computes metrics, and questions in words, in that session of an engine.
    pub fn query_tools(self: &Arc<Self>, engine: &Arc<Engine>, glossary: &Arc<dyn Glossary>) -> Toolset {
        Toolset::new().with(QueryMetrics { model: self.clone(), engine: engine.clone(), glossary: glossary.clone() })
    }
}
