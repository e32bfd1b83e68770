//! The tools that an answer has beside those of the catalog: `think`, and the results of earlier turns.

use std::sync::Arc;

use prospector_core::tool::{Answer, Effect, Tool, ToolError, ToolSpec, Toolset};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{session::Session, tools::Tools};

/// The name of the tool for thoughts.
pub(crate) const THINK: &str = "think";
/// The name of the tool for earlier results.
pub(crate) const PREVIOUS: &str = "get_previous_results";

/// Results that are listed.
const MAX_LISTED: usize = 40;

struct Think;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Thought {
    /// What you think.
    #[allow(dead_code, reason = "the loop reads it from the call")]
    thought: String,
}

impl Tool for Think {
    const NAME: &'static str = THINK;
    const DESCRIPTION: &'static str = "Writes down a thought. It finds out nothing, and is no part of the answer.";
    const EFFECT: Effect = Effect::Reads;
    type Args = Thought;
    type Output = Value;

    async fn call(&self, _: Thought) -> Result<Value, ToolError> {
        Ok(json!({"noted": true}))
    }
}

/// Results of the session's earlier turns, as (id, question, whole).
struct Previous(Arc<Vec<(String, Value)>>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The id of a result: `t2.Q1`. Without it the last ones are listed.
    id: Option<String>,
}

impl Tool for Previous {
    const NAME: &'static str = PREVIOUS;
    const DESCRIPTION: &'static str = "Shows the result of a query of an earlier turn, or lists them.";
    const EFFECT: Effect = Effect::Reads;
    type Args = Wanted;
    type Output = Value;

    async fn call(&self, wanted: Wanted) -> Result<Value, ToolError> {
        let Some(id) = wanted.id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()) else {
            let line = |(id, result): &(String, Value)| json!({"id": id, "question": result["question"], "rows": result["rows"].as_array().map_or(0, Vec::len)});
            return Ok(self.0.iter().rev().take(MAX_LISTED).map(line).collect());
        };
        let found = self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(&id));
        let missing = || ToolError::not_found("result", &id, self.0.iter().map(|(id, _)| id.as_str()));
        found.map(|(_, result)| result.clone()).ok_or_else(missing)
    }
}

/// The tools of a catalog, and these.
pub(crate) struct AskTools<'a, T> {
    pub(crate) tools: &'a T,
    own: Toolset,
}

impl<'a, T: Tools> AskTools<'a, T> {
    pub(crate) fn new(tools: &'a T, session: &Session) -> Self {
        let own = Toolset::new().with(Think).with(Previous(Arc::new(session.results())));
        AskTools { tools, own }
    }
}

impl<T: Tools> Tools for AskTools<'_, T> {
    fn specs(&self) -> Vec<ToolSpec> {
        let mut specs: Vec<ToolSpec> =
            self.tools.specs().into_iter().filter(|spec| !self.own.has(&spec.name)).chain(self.own.specs()).collect();
        specs.sort_by(|a, b| a.name.cmp(&b.name));
        specs
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        if self.own.has(name) { self.own.call(name, arguments).await } else { self.tools.call(name, arguments).await }
    }
}
