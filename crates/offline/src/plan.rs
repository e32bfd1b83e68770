//! Plans. A plan takes four rounds at most: look for everything the question may need; look at what was found; look at what
//! that led to; write the plan. What is kept is decided by the relevance that the search gives: see [`choose`].

mod choose;
mod draft;
mod evidence;

use std::collections::HashSet;

use prospector_llm::{ChatRequest, ChatResponse, Message, message::ToolCall};
use prospector_search::Query;
use serde_json::json;

use crate::{
    calls::{Call, translate},
    question::is_too_long,
};
use evidence::{Evidence, TableHit};

/// The next calls that a plan needs, or the plan.
pub(crate) fn plan(request: &ChatRequest, question: &str, rejected: &[String], finish: bool) -> ChatResponse {
    let mut evidence = Evidence::read(question, rejected, &request.messages);
    let characters = evidence.question.chars().count();
    let is_cut = is_too_long(&evidence.question);
    if is_cut {
        evidence.question = Query::fitting(&evidence.question).to_owned();
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
                "The question has {characters} characters, and the plan is for the first {max} of them. Ask in \
                 fewer words, or ask a language model.",
                max = Query::MAX_CHARS,
            ));
        }
        return ChatResponse { text: serde_json::to_string(&plan).unwrap_or_default(), ..ChatResponse::default() };
    }
    ChatResponse { calls, ..ChatResponse::default() }
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
fn schema(table: &TableHit, question: &str) -> Call {
    let mut arguments = json!({"database": table.database, "table": table.table});
    if table.has_more_columns {
        let mut said: Vec<String> = choose::words(question).into_iter().filter(|word| word.len() > 3).collect();
        let mut known = HashSet::new();
        said.retain(|word| known.insert(word.clone()));
        arguments["query"] = said.join(" ").into();
    }
    ("get_table_schema", arguments)
}
