//! Traces whole answers over known results. `tracing/answers.jsonl` contains the answers, `tracing/results.json` the results.

use std::collections::BTreeMap;

use crate::support::{self, Scripted, Turn, World};
use prospector_agent::{
    Request,
    agent_loop::{AgentLoop, Tools},
    ask::{Answered, DataQuestion},
    session::Session,
};
use prospector_core::tool::finding::{QueryFinding, QueryRows};
use prospector_core::tool::{Answer, Page, ToolError, ToolOutput, ToolSpec};
use prospector_discovery::prompt::Prompt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The results that answers are based on.
#[derive(Deserialize)]
struct Results {
    question: String,
    queries: Vec<DataQuestion>,
    /// The queries of the previous turn.
    #[serde(default)]
    earlier: Vec<DataQuestion>,
    /// The entries that the prompt describes.
    #[serde(default)]
    described: Vec<(String, String)>,
    /// The result of a search.
    #[serde(default)]
    entries: Value,
}

/// An answer, and whether it is traced.
#[derive(Deserialize)]
struct Case {
    results: String,
    answer: String,
    traced: bool,
    /// The answer with its references filled in.
    filled: Option<String>,
}

/// Tools that return the results by SQL.
struct Replay<'a>(&'a Results);

/// The rows of a query.
#[derive(Clone, Serialize)]
struct Rows {
    id: String,
    databases: Vec<String>,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
    has_more: bool,
}

impl ToolOutput for Rows {
    fn queries(&mut self) -> Vec<QueryFinding<'_>> {
        let rows = QueryRows {
            databases: &self.databases,
            columns: &self.columns,
            rows: &self.rows,
            has_more: self.has_more,
            units: &[],
            warnings: &[],
        };
        vec![QueryFinding {
            id: &mut self.id,
            question: "",
            title: None,
            sql: None,
            database: None,
            verified: None,
            rows: Ok(rows),
        }]
    }
}

impl Tools for Replay<'_> {
    fn specs(&self) -> Vec<ToolSpec> {
        let query =
            json!({"type": "object", "properties": {"question": {"type": "string"}, "sql": {"type": "string"}}});
        let schema = json!({"type": "object", "required": ["queries"],
            "properties": {"queries": {"type": "array", "items": query}}});
        let spec = |name: &str, input_schema: Value| ToolSpec {
            name: name.into(),
            description: format!("The tool {name}."),
            input_schema,
        };
        vec![spec("execute_sql", schema), spec("search", json!({"type": "object"}))]
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        if name == "search" {
            let entries = if self.0.entries.is_null() { json!([]) } else { self.0.entries.clone() };
            return Ok(Answer::new(entries, Vec::new()));
        }
        let asked = arguments["queries"].as_array().cloned().unwrap_or_default();
        let rows = asked.iter().map(|query| {
            let result = self.0.queries.iter().find(|known| query["sql"] == known.sql.as_str()).unwrap();
            let (columns, rows, has_more) = (result.columns.clone(), result.rows.clone(), result.has_more);
            Rows { id: "result_1".into(), databases: vec!["shop".into()], columns, rows, has_more }
        });
        Ok(Answer::of(Page::whole(rows.collect()), ""))
    }
}

/// Runs a model that queries the results and answers with a text.
async fn answer(results: &Results, text: &str) -> Answered {
    let mut session = Session::unkept();
    if !results.earlier.is_empty() {
        let (question, questions) = ("How many customers are there?".to_owned(), results.earlier.clone());
        session.keep(&Answered { question, questions, ..Answered::default() }, Vec::new()).await.unwrap();
    }
    let queries: Vec<Value> = results.queries.iter().map(|query| json!({"question": "", "sql": query.sql})).collect();
    let model = Scripted::new(|round| match round {
        1 => Turn::call([("search", json!({})), ("execute_sql", json!({"queries": queries}))]),
        _ => Turn::say(text),
    });
    let (tools, names) = (Replay(results), World::default());
    let agent = AgentLoop { model: &model, tools: &tools, names: &names };
    let request = Request { follow_ups: false, ..Request::new(&results.question) };
    let prompt = Prompt { described: results.described.clone(), ..support::prompt() };
    agent.answer(prompt, &request, &mut session, None).await.answered
}

#[tokio::test]
async fn traces_true_sentences_and_reports_false_ones() {
    let results: BTreeMap<String, Results> = serde_json::from_str(include_str!("tracing/results.json")).unwrap();
    let mut wrong = Vec::new();
    let mut counts = BTreeMap::from([(false, 0), (true, 0)]);
    for line in include_str!("tracing/answers.jsonl").lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        *counts.entry(case.traced).or_default() += 1;
        let answered = answer(&results[&case.results], &case.answer).await;
        let problems: Vec<&String> = answered.tracing.claims.iter().flat_map(|claim| &claim.problems).collect();
        if answered.tracing.ok != case.traced {
            let what = if case.traced { "is reported" } else { "passes" };
            wrong.push(format!("{} {what}: {} {problems:?}", case.results, case.answer));
        } else if case.filled.as_ref().is_some_and(|filled| *filled != answered.answer) {
            wrong.push(format!("{} becomes: {}", case.answer, answered.answer));
        }
    }
    assert!(counts[&false] >= 80 && counts[&true] >= 120, "{counts:?}");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
