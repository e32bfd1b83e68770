//! The model without a model: a deterministic planner that speaks [`ChatModel`], calls the same tools in the same loop,
//! and says in its plan what it is.
//!
//! A question that wants an answer, and not a plan, is turned into a query: see [`data`].
//!
//! A plan takes four rounds at most: look for everything the question may need; look at what was found; look at what that led to;
//! write the plan. What it keeps is
//! decided by the relevance that the search gives, not by understanding: see [`choose`].

mod choose;
mod data;
mod draft;
mod read;

use std::collections::HashSet;

use async_trait::async_trait;
use futures::{StreamExt, stream, stream::BoxStream};
use prospector_core::{ToolSpec, compute, tokens};
use prospector_discovery::Route;
use prospector_llm::{
    ChatEvent, ChatModel, ChatRequest, ChatResponse, LlmError, Message, ToolCall, Usage, purpose::Purpose,
};
use prospector_search::{MAX_QUERY_CHARS, query_text};
use serde_json::{Value, json};

use crate::reconcile;
use read::Evidence;

/// The deterministic planner.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Offline {
    /// Its name as a model.
    pub const NAME: &'static str = "offline";
}

#[async_trait]
impl ChatModel for Offline {
    fn name(&self) -> &str {
        Offline::NAME
    }

    fn reads_data(&self) -> bool {
        true
    }

    async fn stream(&self, request: &ChatRequest) -> Result<BoxStream<'static, Result<ChatEvent, LlmError>>, LlmError> {
        let request = request.clone();
        let response = compute(move || {
            let mut response = answer(&request);
            response.usage = usage(&request, &response);
            response
        })
        .await;
        Ok(stream::iter([Ok(ChatEvent::Done(response))]).boxed())
    }
}

/// Whether a question is longer than what can be searched for. An answer is not given to a part of it, which could turn
/// its meaning round; a plan is, and says so.
fn is_too_long(question: &str) -> bool {
    query_text(question).len() < question.len()
}

fn too_long(question: &str) -> String {
    format!(
        "The question has {} characters, and the offline planner reads at most {MAX_QUERY_CHARS}. Ask in fewer words, or \
         ask a language model.",
        question.chars().count()
    )
}

/// What is not in [`Purpose`] as something that it can do.
const UNABLE: &str = "The offline planner plans questions, answers them and matches records; it does nothing else.";

/// The next turn, by what the request is for.
fn answer(request: &ChatRequest) -> ChatResponse {
    let say = |text: String| ChatResponse { text, ..ChatResponse::default() };
    match &request.purpose {
        Purpose::Plan { question, rejected, finish } => plan(request, question, rejected, *finish),
        Purpose::Ask { question, mode, previous, begins_at, finish } => {
            let turn = data::Turn { question, mode: *mode, previous: previous.as_ref(), finish: *finish };
            data::answer(request, &request.messages[(*begins_at).min(request.messages.len())..], &turn, &|calls| {
                translate(calls, request)
            })
        }
        // A draft was written from the rows: it stays as it is.
        Purpose::Summarize { draft } => say(draft.clone()),
        Purpose::FollowUps { question, answer, statements } => say(data::follow_ups(question, answer, statements)),
        Purpose::Phase { workflow: _, phase, begins_at, said } => {
            reconcile::offline::answer(request, phase.as_deref(), *begins_at, said)
        }
        Purpose::Unspecified | Purpose::ExtractFacts => say(UNABLE.to_owned()),
    }
}

/// The calls for the tools that there are: those of the compact profile, or those of the full one.
fn translate(calls: Vec<Call>, request: &ChatRequest) -> Vec<Call> {
    let has_describe = request.tools.iter().any(|tool| tool.name == "describe");
    match request.tools.iter().find(|tool| tool.name == "search").filter(|_| has_describe) {
        Some(search) => compact(calls, search),
        None => calls,
    }
}

/// The next calls that a plan needs, or the plan.
fn plan(request: &ChatRequest, question: &str, rejected: &[String], finish: bool) -> ChatResponse {
    let mut evidence = Evidence::read(question, rejected, &request.messages);
    let characters = evidence.question.chars().count();
    let is_cut = is_too_long(&evidence.question);
    if is_cut {
        evidence.question = query_text(&evidence.question).to_owned();
    }
    let round = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
    let calls = match round {
        _ if finish => Vec::new(),
        0 => first_look(&evidence.question),
        1 => second_look(&evidence),
        2 => third_look(&evidence),
        _ => Vec::new(),
    };
    let has = |name: &str| request.tools.iter().any(|tool| tool.name == name);
    let calls: Vec<ToolCall> = translate(calls, request)
        .into_iter()
        .filter(|(name, _)| has(name))
        .enumerate()
        .map(|(at, (name, arguments))| ToolCall {
            id: format!("call_{}_{at}", round + 1),
            name: name.into(),
            arguments,
        })
        .collect();
    if calls.is_empty() {
        let mut plan = draft::write(&evidence);
        if is_cut {
            plan.clarifications.push(format!(
                "The question has {characters} characters, and the plan is for the first {MAX_QUERY_CHARS} of them. Ask in \
                 fewer words, or ask a language model."
            ));
        }
        return ChatResponse { text: serde_json::to_string(&plan).unwrap_or_default(), ..ChatResponse::default() };
    }
    ChatResponse { calls, ..ChatResponse::default() }
}

type Call = (&'static str, Value);

/// The same calls in the compact profile; things that get the same room are described at once, and what the catalog does
/// not have is not searched for.
fn compact(calls: Vec<Call>, search: &ToolSpec) -> Vec<Call> {
    let kinds = &search.input_schema["properties"]["kinds"]["items"]["enum"];
    let is_there = |kind: &Value| kinds.as_array().is_none_or(|kinds| kinds.contains(kind));
    let mut compact: Vec<Call> = Vec::new();
    for (name, arguments) in calls {
        let Some(route) = Route::of(name) else { continue };
        let arguments = route.translate(&arguments);
        if arguments["kinds"].as_array().is_some_and(|kinds| !kinds.iter().any(is_there)) {
            continue;
        }
        let room = arguments.get("max_tokens").cloned();
        let together = compact.iter_mut().find(|(name, known)| {
            route.compact == "describe" && *name == "describe" && known.get("max_tokens") == room.as_ref()
        });
        match (together, &arguments["ids"]) {
            (Some((_, known)), Value::Array(ids)) => {
                if let Some(known) = known["ids"].as_array_mut() {
                    known.extend(ids.iter().cloned());
                }
            }
            _ => compact.push((route.compact, arguments)),
        }
    }
    compact
}

/// Everything that the question may need.
fn first_look(question: &str) -> Vec<Call> {
    vec![
        ("resolve_fact", json!({"question": question})),
        ("search_tables", json!({"query": question})),
        ("search_operations", json!({"query": question, "limit": 3})),
        ("search_documents", json!({"query": question, "limit": 3})),
        ("search_skills", json!({"query": question, "limit": 2})),
    ]
}

/// What was found, in detail; and the tables that a definition speaks of.
fn second_look(evidence: &Evidence) -> Vec<Call> {
    let choice = choose::choose(evidence);
    let mut calls = Vec::new();
    if let Some(fact) = &evidence.fact {
        calls.push(("search_tables", json!({"query": fact.definition})));
    }
    calls.extend(choice.tables.iter().map(|table| schema(table, &evidence.question)));
    for operation in &choice.operations {
        calls.push(("get_operation_details", json!({"api": operation.parent, "operation": operation.name})));
    }
    for skill in &choice.skills {
        calls.push(("get_skill", json!({"name": skill.name, "max_tokens": 600})));
    }
    for document in &choice.documents {
        calls.push((
            "get_document_section",
            json!({"name": document.parent, "section": document.name, "max_tokens": 400}),
        ));
    }
    calls
}

/// The tables that only the definition led to.
fn third_look(evidence: &Evidence) -> Vec<Call> {
    let known = |id: &str| evidence.schemas.iter().any(|schema| schema.table == id);
    let unread = choose::choose(evidence).tables.into_iter().filter(|table| !known(&table.id()));
    unread.map(|table| schema(table, &evidence.question)).collect()
}

/// The columns of a table; of one that may be wide, those that the question speaks of.
fn schema(table: &read::TableHit, question: &str) -> Call {
    let mut arguments = json!({"database": table.database, "table": table.table});
    if table.has_more_columns {
        let mut said: Vec<String> = choose::words(question).into_iter().filter(|word| word.len() > 3).collect();
        let mut known = HashSet::new();
        said.retain(|word| known.insert(word.clone()));
        arguments["query"] = said.join(" ").into();
    }
    ("get_table_schema", arguments)
}

/// What a provider would have counted.
fn usage(request: &ChatRequest, response: &ChatResponse) -> Usage {
    let system: u64 = request.system.iter().map(|block| tokens::count(&block.text) as u64).sum();
    let messages: u64 = request.messages.iter().map(|message| message.size(tokens::count) as u64).sum();
    let input_tokens = system + count(&request.tools) + messages;
    let output_tokens = tokens::count(&response.text) as u64 + count(&response.calls);
    Usage { input_tokens, output_tokens, cached_tokens: 0 }
}

fn count(value: &impl serde::Serialize) -> u64 {
    tokens::count(&serde_json::to_string(value).unwrap_or_default()) as u64
}
