//! `read_question`

use std::sync::Arc;

use prospector_core::record::Resource;
use prospector_core::tool::{Effect, Part, Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;

use super::query_metrics::explain;
use crate::SemanticModel;
use crate::reading::{Glossary, QueryStep};

pub(super) struct ReadQuestion {
    pub(super) model: Arc<SemanticModel>,
    pub(super) glossary: Arc<dyn Glossary>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The question in words.
    question: String,
}

impl Tool for ReadQuestion {
    const NAME: &'static str = "read_question";
    const DESCRIPTION: &'static str = "What a question in words computes over which metrics or tables, where every word of it is \
        understood. Nothing is run.";
    const MORE: &'static str = "ask a shorter question";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = QueryStep;

    async fn call(&self, Args { question }: Args) -> Result<QueryStep, ToolError> {
        let vocabulary = self.glossary.find(&question).await;
        let tables = self.glossary.tables();
        let read = self.model.read_step(&question, &vocabulary, &tables).map_err(explain)?;
        let defined = self.glossary.define(&question).await;
        match defined.iter().find(|term| read.metrics.is_empty() && term.is_in(&question)) {
            Some(term) => Err(ToolError::invalid(format!("`{}` has a definition of its own", term.term), None)),
            None => Ok(read),
        }
    }
}

impl ToolOutput for QueryStep {
    fn reveals(&self) -> Vec<Resource> {
        self.resources()
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        Vec::new()
    }
}
