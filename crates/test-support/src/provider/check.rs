//! Detects what a strict provider would refuse, and what would invalidate its cache.

use std::collections::HashSet;

use serde_json::Value;

use super::{Api, Recorded, gemini, ollama};

/// The state before a request.
#[derive(Clone, Copy)]
pub(super) struct Past<'a> {
    pub(super) earlier: &'a [Recorded],
    pub(super) key: Option<&'a str>,
    /// Tools and signatures of the signed calls.
    pub(super) signed: &'a [(String, String)],
}

/// Returns the violations of a request, given the earlier ones.
pub(super) fn violations(request: &Recorded, past: Past<'_>) -> Vec<String> {
    let body = &request.body;
    let mut wrong = match request.api {
        Api::Gemini => gemini::violations(request, past),
        Api::Ollama => ollama::violations(request),
        Api::Anthropic | Api::OpenAi => envelope(request, past.key),
    };
    wrong.extend(match request.api {
        Api::Anthropic => anthropic_messages(body),
        Api::OpenAi => openai_messages(body),
        _ => Vec::new(),
    });
    wrong.extend(unstable_prefix(request, past.earlier));
    wrong
}

/// Checks the request around the messages, for Anthropic and OpenAI.
fn envelope(request: &Recorded, key: Option<&str>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |right: bool, what: &str| {
        if !right {
            wrong.push(what.to_owned());
        }
    };
    let body = &request.body;
    check(body.is_object(), "the body is not a JSON object");
    check(body["stream"] == true, "`stream` is not true");
    check(text(&body["model"]).is_some_and(|name| !name.is_empty()), "`model` is missing");
    check(has_limit(body), "no limit of output tokens is set");
    if request.api == Api::Anthropic {
        check(header(request, "x-api-key") == key, "`x-api-key` is not the key");
        check(header(request, "anthropic-version").is_some(), "`anthropic-version` is missing");
    } else {
        let expected = key.map(|key| format!("Bearer {key}"));
        check(header(request, "authorization") == expected.as_deref(), "`authorization` is not the key");
        check(body["stream_options"]["include_usage"] == true, "usage is not asked for");
    }
    wrong.extend(tools(request));
    wrong.extend(system(request));
    wrong
}

pub(super) fn text(value: &Value) -> Option<&str> {
    value.as_str()
}

pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn header<'a>(request: &'a Recorded, name: &str) -> Option<&'a str> {
    request.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

fn has_limit(body: &Value) -> bool {
    ["max_tokens", "max_completion_tokens"].iter().any(|field| body[*field].as_u64().is_some_and(|limit| limit > 0))
}

fn tools(request: &Recorded) -> Vec<String> {
    let declared: Vec<(&Value, &Value)> = items(&request.body["tools"])
        .iter()
        .map(|tool| match request.api {
            Api::Anthropic => (tool, &tool["input_schema"]),
            _ => (&tool["function"], &tool["function"]["parameters"]),
        })
        .collect();
    declarations(&declared)
}

/// Checks that tools have names in strict order, descriptions, and object schemas.
pub(super) fn declarations(declared: &[(&Value, &Value)]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut last = "";
    for (tool, schema) in declared {
        let name = text(&tool["name"]).unwrap_or_default();
        if name <= last {
            wrong.push(format!("the tool `{name}` is not sorted by name"));
        }
        if schema["type"] != "object" {
            wrong.push(format!("the schema of the tool `{name}` is not an object"));
        }
        if text(&tool["description"]).is_none_or(str::is_empty) {
            wrong.push(format!("the tool `{name}` has no description"));
        }
        last = name;
    }
    wrong
}

/// Checks the position of the system prompt, and Anthropic's cache marks.
fn system(request: &Recorded) -> Vec<String> {
    let mut wrong = Vec::new();
    match request.api {
        Api::Anthropic => {
            let system = &request.body["system"];
            let marks = request.body.to_string().matches("\"cache_control\"").count();
            if !system.is_null() && !items(system).iter().any(|block| block["cache_control"]["type"] == "ephemeral") {
                wrong.push("no block of the system prompt carries `cache_control`".into());
            }
            if items(system).iter().any(|block| text(&block["text"]).is_none_or(str::is_empty)) {
                wrong.push("a block of the system prompt is empty".into());
            }
            if marks > 4 {
                wrong.push(format!("{marks} blocks carry `cache_control`"));
            }
        }
        _ => {
            let messages = items(&request.body["messages"]);
            let others = messages.iter().skip(1).filter(|message| message["role"] == "system").count();
            if others > 0 {
                wrong.push("a system message is not the first message".into());
            }
        }
    }
    wrong
}

/// Checks that every call is answered by exactly one result, in the next message, in order.
fn anthropic_messages(body: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let messages = items(&body["messages"]);
    if messages.first().is_none_or(|message| message["role"] != "user") {
        wrong.push("the first message is not the user's".into());
    }
    if messages.last().is_some_and(|message| message["role"] != "user") {
        wrong.push("the last message is not the user's".into());
    }
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let mut results = Vec::new();
        let mut calls = Vec::new();
        let mut before_results = false;
        for block in items(&message["content"]) {
            match text(&block["type"]).unwrap_or_default() {
                "tool_result" => {
                    if before_results {
                        wrong.push(format!("message {at}: a result comes after other content"));
                    }
                    results.push(text(&block["tool_use_id"]).unwrap_or_default());
                }
                "tool_use" => {
                    if !block["input"].is_object() {
                        wrong.push(format!("message {at}: the input of a call is not an object"));
                    }
                    calls.push(text(&block["id"]).unwrap_or_default());
                }
                "text" if text(&block["text"]).is_none_or(|text| text.trim().is_empty()) => {
                    wrong.push(format!("message {at}: a text is empty"));
                }
                "thinking" if message["role"] != "assistant" || !calls.is_empty() => {
                    wrong.push(format!("message {at}: thinking does not come first"));
                }
                _ => before_results = true,
            }
        }
        if text(&message["content"]).is_some_and(|text| text.trim().is_empty()) || is_empty_list(&message["content"]) {
            wrong.push(format!("message {at} is empty"));
        }
        wrong.extend(mismatch(at, &open, &results));
        wrong.extend(ids(at, &calls));
        open = calls;
    }
    if !open.is_empty() {
        wrong.push("the calls of the last message have no results".into());
    }
    wrong
}

fn openai_messages(body: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut results: Vec<&str> = Vec::new();
    let messages = items(&body["messages"]);
    for (at, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            if text(&message["content"]).is_none() {
                wrong.push(format!("message {at}: a result is not a text"));
            }
            results.push(text(&message["tool_call_id"]).unwrap_or_default());
            continue;
        }
        wrong.extend(mismatch(at, &open, &results));
        results.clear();
        open.clear();
        for call in items(&message["tool_calls"]) {
            let arguments = text(&call["function"]["arguments"]).unwrap_or_default();
            if !serde_json::from_str::<Value>(arguments).is_ok_and(|arguments| arguments.is_object()) {
                wrong.push(format!("message {at}: the arguments of a call are not an object"));
            }
            open.push(text(&call["id"]).unwrap_or_default());
        }
        wrong.extend(ids(at, &open));
        let silent = text(&message["content"]).is_none_or(str::is_empty) && !message["content"].is_array();
        if silent && open.is_empty() {
            wrong.push(format!("message {at} is empty"));
        }
    }
    wrong.extend(mismatch(messages.len(), &open, &results));
    if messages.last().is_none_or(|message| message["role"] == "assistant" || message["role"] == "system") {
        wrong.push("the last message is neither the user's nor a result".into());
    }
    wrong
}

fn is_empty_list(content: &Value) -> bool {
    content.as_array().is_some_and(Vec::is_empty)
}

pub(super) fn mismatch(at: usize, calls: &[&str], results: &[&str]) -> Option<String> {
    (calls != results).then(|| format!("message {at}: the calls {calls:?} are answered by the results {results:?}"))
}

pub(super) fn ids(at: usize, ids: &[&str]) -> Option<String> {
    let distinct: HashSet<&&str> = ids.iter().collect();
    (distinct.len() != ids.len() || ids.contains(&""))
        .then(|| format!("message {at}: the ids {ids:?} are not distinct"))
}

/// Checks that a request that continues a conversation repeats its system prompt and messages byte by byte.
fn unstable_prefix(request: &Recorded, earlier: &[Recorded]) -> Option<String> {
    let turns = |request: &Recorded| -> Vec<String> {
        let turns = if request.api == Api::Gemini { "contents" } else { "messages" };
        let messages = items(&request.body[turns]).iter();
        messages.filter(|message| message["role"] != "system").map(without_marks).collect()
    };
    let now = turns(request);
    let before = earlier
        .iter()
        .rev()
        .filter(|other| other.api == request.api)
        .find(|other| turns(other).first() == now.first() && turns(other).len() < now.len())?;
    if prompt(before) != prompt(request) {
        return Some("the system prompt differs from the one of the round before".into());
    }
    (!now.starts_with(&turns(before))).then(|| "the messages of the round before were changed".into())
}

fn prompt(request: &Recorded) -> String {
    match request.api {
        Api::Anthropic => request.body["system"].to_string(),
        Api::Gemini => request.body["systemInstruction"].to_string(),
        Api::OpenAi | Api::Ollama => {
            let first = items(&request.body["messages"]).first();
            first.filter(|message| message["role"] == "system").map(Value::to_string).unwrap_or_default()
        }
    }
}

/// Removes cache marks, which may move.
fn without_marks(message: &Value) -> String {
    let mut message = message.clone();
    if let Some(blocks) = message["content"].as_array_mut() {
        for block in blocks {
            if let Some(block) = block.as_object_mut() {
                block.remove("cache_control");
            }
        }
    }
    message.to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn recorded(api: Api, body: Value) -> Recorded {
        let headers = [("x-api-key", "k"), ("anthropic-version", "v"), ("authorization", "Bearer k")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut full = json!({
            "model": "m", "stream": true, "max_tokens": 1, "stream_options": {"include_usage": true},
        });
        full.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        Recorded { api, path: String::new(), headers: headers.to_vec(), body: full }
    }

    /// `expected` is part of the only violation, or empty.
    #[track_caller]
    fn check(api: Api, body: Value, expected: &str) {
        let wrong = violations(&recorded(api, body), Past { earlier: &[], key: Some("k"), signed: &[] });
        if expected.is_empty() {
            assert!(wrong.is_empty(), "{wrong:?}");
        } else {
            assert!(wrong.len() == 1 && wrong[0].contains(expected), "{wrong:?}");
        }
    }

    fn calls(ids: &[&str]) -> Value {
        let blocks: Vec<Value> = ids.iter().map(|id| json!({"type": "tool_use", "id": id, "input": {}})).collect();
        json!({"role": "assistant", "content": blocks})
    }

    fn results(ids: &[&str]) -> Value {
        let blocks: Vec<Value> = ids.iter().map(|id| json!({"type": "tool_result", "tool_use_id": id})).collect();
        json!({"role": "user", "content": blocks})
    }

    #[test]
    fn every_call_needs_its_result_in_the_next_message() {
        let user = json!({"role": "user", "content": "q"});
        let ask = |messages: Value, expected: &str| check(Api::Anthropic, json!({"messages": messages}), expected);
        ask(json!([user, calls(&["a", "b"]), results(&["a", "b"])]), "");
        ask(json!([user, calls(&["a", "b"]), results(&["b", "a"])]), "are answered by");
        ask(json!([user, calls(&["a", "b"]), results(&["a"])]), "are answered by");
        ask(json!([user, calls(&["a"]), results(&["a", "a"])]), "are answered by");
        ask(json!([user, results(&["a"])]), "are answered by");
        ask(json!([user, calls(&["a", "a"]), results(&["a", "a"])]), "not distinct");
    }

    #[test]
    fn openai_results_follow_their_calls() {
        let call = |id: &str| json!({"id": id, "function": {"name": "f", "arguments": "{}"}});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "r"});
        let turn = json!({"role": "assistant", "content": "", "tool_calls": [call("a"), call("b")]});
        let ask = |messages: Value, expected: &str| check(Api::OpenAi, json!({"messages": messages}), expected);
        ask(json!([turn, result("a"), result("b")]), "");
        ask(json!([turn, result("b"), result("a")]), "are answered by");
        ask(json!([turn, result("a"), {"role": "user", "content": "q"}]), "are answered by");
        let user = json!({"role": "user", "content": "q"});
        ask(json!([user, {"role": "system", "content": "s"}, user]), "not the first");
    }

    #[test]
    fn tools_are_sorted_and_described() {
        let tool = |name: &str| json!({"name": name, "description": "d", "input_schema": {"type": "object"}});
        let user = json!([{"role": "user", "content": "q"}]);
        check(Api::Anthropic, json!({"tools": [tool("a"), tool("b")], "messages": user}), "");
        check(Api::Anthropic, json!({"tools": [tool("b"), tool("a")], "messages": user}), "not sorted");
    }

    #[test]
    fn a_system_prompt_is_cached_and_stays_the_same() {
        let user = json!({"role": "user", "content": "q"});
        let block = |text: &str| json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
        check(Api::Anthropic, json!({"system": "s", "messages": [user]}), "no block");
        check(Api::Anthropic, json!({"system": block("s"), "messages": [user]}), "");

        let before = recorded(Api::Anthropic, json!({"system": block("s"), "messages": [user]}));
        let next = |system: &str, first: Value| {
            let messages = json!([first, {"role": "assistant", "content": "a"}, user]);
            let request = recorded(Api::Anthropic, json!({"system": block(system), "messages": messages}));
            let earlier = std::slice::from_ref(&before);
            violations(&request, Past { earlier, key: Some("k"), signed: &[] }).len()
        };
        assert_eq!(next("s", user.clone()), 0);
        assert_eq!(next("changed", user.clone()), 1);
        assert_eq!(next("changed", json!({"role": "user", "content": "another conversation"})), 0);
    }
}
