//! `get_previous_results`

use std::sync::Arc;

use prospector_core::tool::{Budget, Cut, Effect, Page, Part, Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::answer::{QueryAnswer, QueryResult};

pub(super) struct GetPreviousResults(pub(super) Arc<Engine>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The id of an answer of `execute_sql`; without it the last ones are listed.
    #[serde(default)]
    id: Option<String>,
}

/// One answer in full, or a line for each.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub(super) enum Previous {
    One(QueryAnswer),
    All(Page<Line>),
}

/// What an earlier answer was about.
#[derive(Clone, Serialize)]
pub(super) struct Line {
    id: String,
    question: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_count: Option<usize>,
    /// The code of the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl From<QueryAnswer> for Line {
    fn from(answer: QueryAnswer) -> Self {
        let (row_count, error) = match answer.result {
            QueryResult::Rows { shown, .. } => (Some(shown.row_count), None),
            QueryResult::Failed(failure) => (None, Some(failure.code.to_string())),
        };
        Line { id: answer.id, question: answer.question, row_count, error }
    }
}

impl Engine {
    /// The name of the tool that shows results again. Whoever keeps more of them may put a tool of its own in its place.
    pub const RESULTS_TOOL: &'static str = GetPreviousResults::NAME;
}

impl Tool for GetPreviousResults {
    const NAME: &'static str = "get_previous_results";
    const DESCRIPTION: &'static str = "Shows an earlier answer of execute_sql again, or lists the last ones.";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = Previous;

    async fn call(&self, args: Args) -> Result<Previous, ToolError> {
        let kept = self.0.history.all();
        if let Some(id) = args.id {
            let missing = ToolError::not_found("result", &id, kept.iter().map(|answer| answer.id.as_str()));
            return kept.into_iter().find(|answer| answer.id == id).map(Previous::One).ok_or(missing);
        }
        Ok(Previous::All(Page::whole(kept.into_iter().rev().map(Line::from).collect())))
    }
}

impl ToolOutput for Line {
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("question", Part::Text(&mut self.question))]
    }
}

impl ToolOutput for Previous {
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        match self {
            Previous::One(answer) => answer.parts(),
            Previous::All(_) => Vec::new(),
        }
    }

    fn fit(&mut self, budget: Budget<'_>) -> Cut {
        match self {
            Previous::One(answer) => answer.fit(budget),
            Previous::All(lines) => lines.fit(budget),
        }
    }
}
