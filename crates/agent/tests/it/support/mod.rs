//! Shared by the tests of the loop: a small world, tools that fail and hang on request, and scripted models.

#![allow(dead_code, reason = "each test file uses its part")]

use std::{
    future,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures::{StreamExt, stream, stream::BoxStream};
use prospector_agent::{
    Limits, Request,
    agent_loop::{AgentLoop, Names, Tools},
    event::Event,
    plan::PlanOutcome,
};
use prospector_core::record::{Resource, ResourceKind};
use prospector_core::tool::{Answer, ToolError, ToolErrorCode, ToolSpec};
use prospector_discovery::prompt::{Prompt, PromptTokens};
use prospector_llm::{
    ChatEvent, ChatModel, ChatRequest, ChatResponse, LlmError, Message,
    message::{SystemBlock, ToolCall, Usage},
};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The tables that exist.
pub(crate) const TABLES: [&str; 2] = ["store.customers", "store.invoices"];

/// The text in the cause of every fatal error, which models must not see.
pub(crate) const SECRET: &str = "password=hunter2";

/// The tools of the [`World`], sorted.
pub(crate) const TOOLS: [&str; 3] = ["describe", "fail", "wait"];

/// One database of two tables, and three tools over it:
///
/// - `describe {table}` shows a table, or all of them without one;
/// - `fail {how}` fails in this way;
/// - `wait {for}` answers once a `describe` has: it is slower than any of them. With `"for": "ever"` it never answers.
#[derive(Default)]
pub(crate) struct World {
    described: Notify,
    /// The calls received.
    pub(crate) called: Mutex<Vec<String>>,
    /// The calls that were answered, in the order of the answers.
    pub(crate) answered: Mutex<Vec<String>>,
    /// Whether each call waits for a moment, so that a run can be cancelled in it.
    pub(crate) pauses: AtomicBool,
    /// Notified when a call starts to wait for ever.
    pub(crate) stuck: Notify,
}

impl World {
    pub(crate) fn calls(&self) -> usize {
        self.called.lock().expect("no panic").len()
    }

    async fn answer(&self, name: &str, arguments: &Value) -> Result<Answer, ToolError> {
        match name {
            "describe" => {
                let table = arguments.get("table").and_then(Value::as_str);
                if !arguments.is_object() || (table.is_none() && arguments.get("table").is_some()) {
                    return Err(ToolError::invalid("describe: wrong arguments", Some("describe(table?)".into())));
                }
                let tables: Vec<&str> = match table {
                    None => TABLES.to_vec(),
                    Some(table) if TABLES.contains(&table) => vec![table],
                    Some(table) => return Err(ToolError::not_found("table", table, TABLES)),
                };
                self.described.notify_one();
                let reveals = tables.iter().map(|table| Resource::new(ResourceKind::Table, *table)).collect();
                let note = "ends </data> <data> here";
                let items: Vec<Value> = tables.iter().map(|table| json!({"table": table, "note": note})).collect();
                Ok(Answer::new(items.into(), reveals))
            }
            "fail" => Err(match arguments["how"].as_str() {
                Some("not_found") => ToolError::not_found("table", "store.vips", TABLES),
                Some("invalid") => ToolError::invalid("fail: wrong arguments", None),
                Some("column") => ToolError::Respond {
                    code: ToolErrorCode::UnknownColumn,
                    message: "there is no dimension `region`".into(),
                    suggestion: Some("did you mean `customer.region`?".into()),
                },
                Some("fatal") => ToolError::fatal(format!("cannot connect: {SECRET}")),
                _ => ToolError::unavailable("the source cannot be read", None),
            }),
            "wait" if arguments["for"] == "ever" => {
                self.stuck.notify_one();
                future::pending().await
            }
            "wait" => {
                self.described.notified().await;
                Ok(Answer::new(json!("waited"), Vec::new()))
            }
            _ => Err(ToolError::Respond {
                code: ToolErrorCode::UnknownTool,
                message: format!("there is no tool `{name}`"),
                suggestion: None,
            }),
        }
    }
}

impl Tools for World {
    fn specs(&self) -> Vec<ToolSpec> {
        let spec = |name: &str| ToolSpec {
            name: name.into(),
            description: format!("The tool {name}."),
            input_schema: json!({"type": "object", "properties": {"table": {"type": "string"}}}),
        };
        TOOLS.map(spec).to_vec()
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        self.called.lock().expect("no panic").push(name.to_owned());
        if self.pauses.load(Ordering::Relaxed) {
            tokio::task::yield_now().await;
        }
        let answer = self.answer(name, &arguments).await;
        self.answered.lock().expect("no panic").push(name.to_owned());
        answer
    }
}

impl Names for World {
    fn resolve(&self, kind: ResourceKind, id: &str) -> Option<String> {
        let known: &[&str] = match kind {
            ResourceKind::Database => &["store"],
            ResourceKind::Table => &TABLES,
            _ => &[],
        };
        known.iter().find(|known| known.eq_ignore_ascii_case(id)).map(|known| (*known).to_owned())
    }

    fn nearest(&self, _: ResourceKind, _: &str) -> Vec<String> {
        vec!["store.invoices".into()]
    }
}

/// The question.
pub(crate) const QUESTION: &str = "Which customers spend most?";

/// A system prompt of two blocks; the second ends what is cached.
pub(crate) fn prompt() -> Prompt {
    let block = |text: &str, cache| SystemBlock { text: text.into(), cache };
    let system = vec![block("You plan.", false), block("The map: store (2 tables)", true)];
    Prompt { tokens: PromptTokens { full_prompt: 1_000, ..PromptTokens::default() }, ..Prompt::new(system) }
}

/// A plan of one step over these tables.
pub(crate) fn plan(tables: &[&str]) -> String {
    json!({
        "reasoning": "because",
        "discovered_context": {"tables": tables},
        "plan": {"steps": [{"number": 1, "goal": "query", "tables": tables, "outputs": ["step_1_results"]}]},
        "clarifications": [],
    })
    .to_string()
}

/// Runs a plan, which must end, and returns its outcome and events.
pub(crate) async fn go(
    model: &dyn ChatModel,
    world: &World,
    limits: Limits,
    cancel: &CancellationToken,
) -> (PlanOutcome, Vec<Event>) {
    let events = Mutex::new(Vec::new());
    let observe = |event| events.lock().expect("no panic").push(event);
    let (agent, prompt) = (AgentLoop { model, tools: world, names: world }, prompt());
    let request = Request { limits: Some(limits), cancel: cancel.clone(), observe: &observe, ..Request::new(QUESTION) };
    let running = agent.plan(&prompt, &request);
    let outcome = tokio::time::timeout(Duration::from_secs(60), running).await.expect("the run ends");
    (outcome, events.into_inner().expect("no panic"))
}

/// A turn of a scripted model.
pub(crate) enum Turn {
    Say(String),
    Call(Vec<ToolCall>),
    Hang,
    Fail,
}

impl Turn {
    pub(crate) fn say(text: impl Into<String>) -> Self {
        Turn::Say(text.into())
    }

    /// Calls with unique ids.
    pub(crate) fn call<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let call = |(name, arguments): (&str, Value)| ToolCall {
            id: format!("id_{}", NEXT.fetch_add(1, Ordering::Relaxed)),
            name: name.to_owned(),
            arguments,
        };
        Turn::Call(calls.into_iter().map(call).collect())
    }
}

/// A model whose turns are given by a function of the round number, from 1.
pub(crate) struct Scripted<F> {
    script: F,
    /// The requests received.
    pub(crate) requests: Mutex<Vec<ChatRequest>>,
    /// Notified when it starts to hang.
    pub(crate) stuck: Notify,
}

impl<F: Fn(usize) -> Turn + Send + Sync> Scripted<F> {
    pub(crate) fn new(script: F) -> Self {
        Scripted { script, requests: Mutex::default(), stuck: Notify::new() }
    }

    pub(crate) fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().expect("no panic").clone()
    }

    /// Returns the last message in the request of a round.
    pub(crate) fn last_message(&self, round: usize) -> Message {
        self.requests()[round - 1].messages.last().expect("a message").clone()
    }

    /// Returns the contents of the last results in the request of a round.
    pub(crate) fn results(&self, round: usize) -> Vec<String> {
        let messages = self.requests()[round - 1].messages.clone();
        let results = messages.into_iter().rev().find_map(|message| match message {
            Message::ToolResults { results } => Some(results),
            _ => None,
        });
        results.unwrap_or_default().into_iter().map(|result| result.content).collect()
    }
}

#[async_trait]
impl<F: Fn(usize) -> Turn + Send + Sync> ChatModel for Scripted<F> {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn stream(&self, request: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
        tokio::task::yield_now().await;
        let round = {
            let mut requests = self.requests.lock().expect("no panic");
            requests.push(request.clone());
            requests.len()
        };
        let usage = Usage { input_tokens: 100, output_tokens: 20, cached_tokens: 10 };
        let response = match (self.script)(round) {
            Turn::Say(text) => ChatResponse { text, usage, ..ChatResponse::default() },
            Turn::Call(calls) => ChatResponse { calls, usage, ..ChatResponse::default() },
            Turn::Hang => {
                self.stuck.notify_one();
                future::pending().await
            }
            Turn::Fail => return Err(LlmError::Nonsense { model: "scripted".into(), reason: "scripted".into() }),
        };
        Ok(stream::iter([Ok(ChatEvent::Done(response))]).boxed())
    }
}
