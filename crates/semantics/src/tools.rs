//! Tools for listing, describing and querying metrics.

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
    /// The name of the tool that queries metrics, which needs an engine.
    pub const QUERY_TOOL: &'static str = QueryMetrics::NAME;

    /// The name of the tool that lists metrics.
    pub const LIST_TOOL: &'static str = ListMetrics::NAME;
    /// The name of the tool that describes a metric.
    pub const SHOW_TOOL: &'static str = GetMetric::NAME;

    /// Returns the tools that list and describe metrics. With an engine, dimensions that it cannot group a metric by are omitted.
    pub fn tools(self: &Arc<Self>, engine: Option<Arc<Engine>>) -> Toolset {
        Toolset::new().with(ListMetrics(self.clone())).with(GetMetric { model: self.clone(), engine })
    }

    /// Returns the tool that computes metrics and answers natural-language questions, in that session of an engine.
    pub fn query_tools(self: &Arc<Self>, engine: &Arc<Engine>, glossary: &Arc<dyn Glossary>) -> Toolset {
        Toolset::new().with(QueryMetrics { model: self.clone(), engine: engine.clone(), glossary: glossary.clone() })
    }
}
