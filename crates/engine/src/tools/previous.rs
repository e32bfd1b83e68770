//! `get_previous_results`

use std::sync::Arc;

use prospector_core::{Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Engine;

pub(super) struct GetPreviousResults(pub(super) Arc<Engine>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The id of an answer of `execute_sql`; without it the last ones are listed.
    #[serde(default)]
    id: Option<String>,
}

impl Tool for GetPreviousResults {
    const NAME: &'static str = "get_previous_results";
    const DESCRIPTION: &'static str = "Shows an earlier answer of execute_sql again, or lists the last ones.";
    type Args = Args;
    type Output = Value;

    async fn call(&self, args: Args) -> Result<Value, ToolError> {
        let kept = self.0.history.all();
        if let Some(id) = args.id {
            let names = kept.iter().map(|(name, _)| name.as_str());
            let missing = ToolError::not_found("result", &id, names);
            return kept.into_iter().find(|(name, _)| *name == id).map(|(_, answer)| answer).ok_or(missing);
        }
        let line = |(name, answer): (String, Value)| {
            json!({
                "id": name,
                "question": answer.get("question"),
                "row_count": answer.get("row_count"),
                "error": answer.get("error"),
            })
        };
        let without_nulls = |mut line: Value| {
            if let Some(fields) = line.as_object_mut() {
                fields.retain(|_, value| !value.is_null());
            }
            line
        };
        let lines: Vec<Value> = kept.into_iter().rev().map(line).map(without_nulls).collect();
        Ok(lines.into())
    }
}
