//! Additional tools for answering: `think`, and the results of earlier turns.

use std::sync::Arc;

use prospector_core::tool::finding::{QueryFinding, QueryRows};
use prospector_core::tool::{Answer, Effect, Part, Tool, ToolError, ToolOutput, ToolSpec, Toolset};
use prospector_discovery::DiscoveryTools;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{answer::DataQuestion, session::Session, tools::Tools};

/// The name of the tool for reasoning notes.
pub(crate) const THINK: &str = "think";
/// The name of the tool for earlier results, which replaces the tool of the engine.
pub(crate) const PREVIOUS: &str = DiscoveryTools::RESULTS_TOOL;

/// Maximum number of listed results.
const MAX_LISTED: usize = 40;

struct Think;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Thought {
    /// The reasoning to write down.
    #[serde(alias = "content")]
    thought: String,
}

/// Returns the thought of a `think` call.
pub(crate) fn read_thought(arguments: &Value) -> String {
    let thought = Thought::deserialize(arguments).map(|thought| thought.thought).unwrap_or_default();
    thought.trim().to_owned()
}

impl Tool for Think {
    const NAME: &'static str = THINK;
    const DESCRIPTION: &'static str = "Records a reasoning note. Retrieves no data and is not part of the answer.";
    const EFFECT: Effect = Effect::Reads;
    type Args = Thought;
    type Output = Value;

    async fn call(&self, _: Thought) -> Result<Value, ToolError> {
        Ok(json!({"noted": true}))
    }
}

/// A result in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct EarlierLine {
    id: String,
    question: String,
    /// The number of rows.
    rows: usize,
}

impl ToolOutput for EarlierLine {}

impl ToolOutput for DataQuestion {
    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        let rows = QueryRows {
            databases: &self.databases,
            columns: &self.columns,
            rows: &self.rows,
            units: &self.units,
            has_more: self.has_more,
            warnings: &self.warnings,
        };
        vec![QueryFinding {
            id: &mut self.id,
            question: &self.question,
            title: Some(self.title.as_str()).filter(|title| !title.is_empty()),
            sql: Some(&self.sql),
            database: self.database.as_deref(),
            verified: None,
            rows: Ok(rows),
        }]
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        vec![
            ("question", Part::Text(&mut self.question)),
            ("sql", Part::Text(&mut self.sql)),
            ("columns", Part::entries(&mut self.columns)),
            ("rows", Part::entries(&mut self.rows)),
        ]
    }
}

/// One result in full, or a list of the latest results.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Earlier {
    One(Box<DataQuestion>),
    All(Vec<EarlierLine>),
}

impl ToolOutput for Earlier {
    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        match self {
            Earlier::One(result) => result.queries(),
            Earlier::All(_) => Vec::new(),
        }
    }

    fn parts(&mut self) -> Vec<(&str, Part<'_>)> {
        match self {
            Earlier::One(result) => result.parts(),
            Earlier::All(_) => Vec::new(),
        }
    }
}

/// Results of the session's earlier turns.
struct Previous(Arc<Vec<DataQuestion>>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The id of a result: `t2.Q1`. Without it, the latest results are listed.
    id: Option<String>,
}

impl Tool for Previous {
    const NAME: &'static str = PREVIOUS;
    const DESCRIPTION: &'static str = "Returns the result of a query of an earlier turn, or lists these results.";
    const EFFECT: Effect = Effect::Reads;
    type Args = Wanted;
    type Output = Earlier;

    async fn call(&self, wanted: Wanted) -> Result<Earlier, ToolError> {
        let Some(id) = wanted.id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()) else {
            let line = |result: &DataQuestion| EarlierLine {
                id: result.id.clone(),
                question: result.question.clone(),
                rows: result.rows.len(),
            };
            return Ok(Earlier::All(self.0.iter().rev().take(MAX_LISTED).map(line).collect()));
        };
        let found = self.0.iter().find(|known| known.id.eq_ignore_ascii_case(&id));
        let missing = || ToolError::not_found("result", &id, self.0.iter().map(|known| known.id.as_str()));
        found.cloned().map(Box::new).map(Earlier::One).ok_or_else(missing)
    }
}

/// The tools of a catalog, with the additional tools.
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
