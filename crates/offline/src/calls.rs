//! Calls of discovery tools by the names of the full profile, and their translation to the tools of a request.

use prospector_core::tool::ToolSpec;
use prospector_discovery::routes::Route;
use prospector_llm::{
    ChatRequest, Message,
    message::{ToolCall, ToolResult},
};
use serde_json::Value;

pub(crate) const RESOLVE_FACT: &str = "resolve_fact";
pub(crate) const SEARCH_TABLES: &str = "search_tables";
pub(crate) const SEARCH_OPERATIONS: &str = "search_operations";
pub(crate) const SEARCH_DOCUMENTS: &str = "search_documents";
pub(crate) const TABLE_SCHEMA: &str = "get_table_schema";

/// A tool and its arguments.
pub(crate) type Call = (&'static str, Value);

/// Translates calls to the tools of a request: those of the compact profile, or those of the full one.
pub(crate) fn translate(calls: Vec<Call>, request: &ChatRequest) -> Vec<Call> {
    let has_describe = request.tools.iter().any(|tool| tool.name == "describe");
    match request.tools.iter().find(|tool| tool.name == "search").filter(|_| has_describe) {
        Some(search) => to_compact(calls, search),
        None => calls,
    }
}

/// Translates calls to the compact profile. Entries with the same size limit are described in one call, and kinds that the catalog lacks
/// are not searched.
fn to_compact(calls: Vec<Call>, search: &ToolSpec) -> Vec<Call> {
    let kinds = &search.input_schema["properties"]["kinds"]["items"]["enum"];
    let is_there = |kind: &Value| kinds.as_array().is_none_or(|kinds| kinds.contains(kind));
    let mut compact: Vec<Call> = Vec::new();
    for (name, arguments) in calls {
        let Some(route) = Route::of(name) else {
            compact.push((name, arguments));
            continue;
        };
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

/// Returns the calls of a conversation with their results, in order.
pub(crate) fn pair_results(messages: &[Message]) -> Vec<(&ToolCall, &ToolResult)> {
    let (mut pairs, mut made): (Vec<_>, &[ToolCall]) = (Vec::new(), &[]);
    for message in messages {
        match message {
            Message::User { .. } => {}
            Message::Assistant { calls, .. } => made = calls,
            Message::ToolResults { results } => {
                pairs.extend(made.iter().filter_map(|call| {
                    results.iter().find(|result| result.call_id == call.id).map(|result| (call, result))
                }));
            }
        }
    }
    pairs
}

/// Returns the items of a list, complete or truncated; none if all are below the relevance threshold.
pub(crate) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    nearest_items(value).filter(|_| value["weak"] != true)
}

/// Returns the items of a list, including those below the relevance threshold.
pub(crate) fn nearest_items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().or_else(|| value["items"].as_array()).into_iter().flatten()
}

/// Returns the hits of a search for one kind.
pub(crate) fn hits<'a>(results: &[(&ToolCall, &'a ToolResult)], kind: &str) -> impl Iterator<Item = &'a Value> {
    find_search(results, kind).into_iter().flat_map(items)
}

/// Returns the result of a search for one kind.
pub(crate) fn find_search<'a>(results: &[(&ToolCall, &'a ToolResult)], kind: &str) -> Option<&'a Value> {
    let is_of = |call: &ToolCall| call.name == format!("search_{kind}s") || call.arguments["kinds"][0] == kind;
    let found = results.iter().find(|(call, result)| is_of(call) && !result.is_error);
    found.and_then(|(_, result)| result.data.as_ref())
}

pub(crate) fn relevance(hit: &Value) -> f64 {
    hit["relevance"].as_f64().unwrap_or_default()
}
