//! The tool `get_previous_results`.

use std::sync::Arc;

use prospector_connect::rows::Rows;
use prospector_core::tool::{Effect, Page, Part, Tool, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Details;
use crate::answer::{QueryAnswer, QueryResult};
use crate::{Engine, Failure};

pub(super) struct GetPreviousResults(pub(super) Arc<Engine>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The id of an answer of `execute_sql`; omit it to list the recent answers.
    #[serde(default)]
    id: Option<String>,
}

/// The summary of an earlier answer.
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
    /// The name of the tool that shows results again. A caller with a longer history can replace the tool.
    pub const RESULTS_TOOL: &'static str = GetPreviousResults::NAME;

    /// Runs the query of a recent answer again and returns up to `limit` of its rows; `None` if no such answer is known.
    ///
    /// # Errors
    /// If the query fails.
    pub async fn run_again(&self, id: &str, limit: usize) -> Result<Option<Rows>, Failure> {
        let Some((sql, database)) = self.history.statement(id) else { return Ok(None) };
        Ok(Some(self.run(&sql, database.as_deref(), limit).await?.rows))
    }
}

impl Tool for GetPreviousResults {
    const NAME: &'static str = "get_previous_results";
    const DESCRIPTION: &'static str = "Returns an earlier answer of execute_sql, or lists the recent ones.";
    const EFFECT: Effect = Effect::Reads;
    type Args = Args;
    type Output = Details<QueryAnswer, Line>;

    async fn call(&self, args: Args) -> Result<Details<QueryAnswer, Line>, ToolError> {
        let kept = self.0.history.all();
        if let Some(id) = args.id {
            let missing = ToolError::not_found("result", &id, kept.iter().map(|answer| answer.id.as_str()));
            let found = kept.into_iter().find(|answer| answer.id == id);
            return found.map(|answer| Details::One(Box::new(answer))).ok_or(missing);
        }
        Ok(Details::All(Page::whole(kept.into_iter().rev().map(Line::from).collect())))
    }
}

impl ToolOutput for Line {
    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![("question", Part::Text(&mut self.question))]
    }
}
