//! Plans. A plan takes four rounds: look for everything the question may need; look at what was found; look at what that led to;
//! write the plan. Where the plan makes no sense, it looks once more at what would help, and writes another. What is kept is
//! decided by the checks that a plan has to pass: see [`choose`].

mod choice;
mod choose;
mod describe;
mod draft;
mod evidence;
mod fields;
mod lookups;
mod meanings;
mod reading;
mod table;
mod write;

use std::collections::HashSet;

use prospector_agent::plan::sense::question::{Concept, Question};
use prospector_discovery::DiscoveryTools;
use prospector_llm::{ChatRequest, ChatResponse, Message, message::ToolCall, purpose::Objection};
use prospector_search::Query;
use serde_json::{Value, json};

use crate::{
    calls::{Call, translate},
    question::{find_phrases, is_too_long},
};
use evidence::{Evidence, NamedHit, TableHit};

/// So many tables are looked for, and so many of them looked at; so many phrases are looked up as terms.
const MAX_HITS: usize = 10;
const MAX_READ: usize = 5;
const MAX_PHRASES: usize = 2;

/// A table that is so much less likely than the best is not looked at.
const MIN_SHARE_OF_BEST: f64 = 0.12;

/// The next calls that a plan needs, or the plan.
pub(crate) fn plan(
    request: &ChatRequest,
    question: &str,
    rejected: &[String],
    objections: &[Objection],
    finish: bool,
) -> ChatResponse {
    let mut evidence = Evidence::read(question, rejected, &request.messages);
    evidence.objections = objections.to_vec();
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
        _ => read_missing(&evidence),
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
        let mut plan = write::write(&evidence);
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
    let read = (DiscoveryTools::READ_TOOL, json!({"question": question}));
    let verified = (DiscoveryTools::FIND_VERIFIED_TOOL, json!({"question": question, "limit": 1}));
    let mut calls = vec![verified, read, resolve(question), search_tables(question, MAX_HITS)];
    calls.extend(find_phrases(question).iter().take(MAX_PHRASES).map(|phrase| resolve(phrase)));
    calls.extend(drop_names(question).map(|query| search_tables(&query, MAX_HITS / 2)));
    calls.extend([
        ("search_operations", json!({"query": question, "limit": 4})),
        ("search_documents", json!({"query": question, "limit": 3})),
        ("search_skills", json!({"query": question, "limit": 2})),
    ]);
    calls
}

/// What a question is about, without the names of countries and the like in it, which many tables hold.
fn drop_names(question: &str) -> Option<String> {
    let parsed = Question::parse(question);
    let is_name = |concept: &&Concept| concept.code.is_some() || concept.is_name;
    let (names, rest): (Vec<&Concept>, Vec<&Concept>) = parsed.concepts.iter().partition(is_name);
    let words: Vec<&str> = rest.iter().map(|concept| concept.text.as_str()).collect();
    (!names.is_empty() && !words.is_empty()).then(|| words.join(" "))
}

/// What was found, in detail; and the tables that a definition speaks of.
fn second_look(evidence: &Evidence) -> Vec<Call> {
    let mut calls = Vec::new();
    let definitions: Vec<&str> = evidence.facts.iter().map(|fact| fact.definition.as_str()).take(2).collect();
    if !definitions.is_empty() {
        calls.push(search_tables(&definitions.join(" "), MAX_HITS / 2));
    }
    let ranked = rank_tables(evidence);
    let best = ranked.first().map_or(0.0, |table| choose::weigh(evidence, table));
    let is_near = |table: &&TableHit| choose::weigh(evidence, table) >= best * MIN_SHARE_OF_BEST;
    let near: Vec<&TableHit> = ranked.into_iter().take_while(is_near).take(MAX_READ).collect();
    // Those of the reading are needed, whether the search finds them or not.
    let read = evidence.verified.iter().chain(&evidence.reading).flat_map(|step| &step.tables);
    let read = read.filter(|id| !near.iter().any(|table| table.id() == **id)).filter_map(|id| id.split_once('.'));
    calls.extend(read.map(|(database, table)| show_columns(json!({"database": database, "table": table}))));
    calls.extend(near.into_iter().map(|table| schema(table, &evidence.question)));
    for operation in evidence.operations.iter().take(2) {
        calls.push(read_operation(operation));
    }
    calls
}

/// The tables that only the definition led to, and the operations that the plan would use without having looked at them.
fn third_look(evidence: &Evidence) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    if !evidence.facts.is_empty() {
        let known = |id: &str| evidence.schemas.iter().any(|schema| schema.id == id);
        let unread = rank_tables(evidence).into_iter().filter(|table| !known(&table.id()));
        calls.extend(unread.take(2).map(|table| schema(table, &evidence.question)));
    }
    let chosen = choose::choose(evidence).operations;
    let is_read = |id: String| evidence.read_operations.iter().any(|read| read.id == id);
    let unread = chosen.into_iter().filter(|hit| !is_read(format!("{}.{}", hit.parent, hit.name)));
    calls.extend(unread.map(read_operation));
    calls
}

/// The tables that would help, by what was said of the plan.
fn read_missing(evidence: &Evidence) -> Vec<Call> {
    let known = |id: &String| evidence.schemas.iter().any(|schema| schema.id == *id);
    let mut calls: Vec<Call> = Vec::new();
    for id in evidence.objections.iter().flat_map(|objection| objection.missing.iter().take(2)).filter(|id| !known(id))
    {
        let Some((database, table)) = id.split_once('.').filter(|(_, table)| !table.contains('.')) else { continue };
        let call = show_columns(json!({"database": database, "table": table}));
        if !calls.contains(&call) && calls.len() < MAX_READ {
            calls.push(call);
        }
    }
    calls
}

/// The hits by how likely they are to be used: by relevance, and by whether the question or a definition says their name.
fn rank_tables(evidence: &Evidence) -> Vec<&TableHit> {
    let mut hits: Vec<&TableHit> = evidence.tables.iter().filter(|hit| !hit.via || hit.relevance > 0.0).collect();
    hits.sort_by(|a, b| choose::weigh(evidence, b).total_cmp(&choose::weigh(evidence, a)));
    hits
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
    show_columns(arguments)
}

fn show_columns(arguments: Value) -> Call {
    ("get_table_schema", arguments)
}

fn read_operation(hit: &NamedHit) -> Call {
    ("get_operation_details", json!({"api": hit.parent, "operation": hit.name}))
}

fn resolve(question: &str) -> Call {
    ("resolve_fact", json!({"question": question}))
}

fn search_tables(query: &str, limit: usize) -> Call {
    ("search_tables", json!({"query": query, "limit": limit}))
}
