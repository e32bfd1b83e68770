//! Ollama's own API: what it refuses or silently drops, and scripted streamed responses.

use prospector_core::tokens;
use serde_json::{Value, json};

use super::{
    Recorded, Script,
    check::{declarations, header, ids, items, mismatch, text},
    sse::{call_id, pieces},
};

const FIELDS: [&str; 9] =
    ["model", "messages", "tools", "stream", "think", "options", "keep_alive", "truncate", "shift"];

/// Returns the violations of a request.
pub(super) fn violations(request: &Recorded) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |right: bool, what: &str| {
        if !right {
            wrong.push(what.to_owned());
        }
    };
    let body = &request.body;
    let keys = ["authorization", "x-api-key", "x-goog-api-key"];
    check(keys.iter().all(|name| header(request, name).is_none()), "a key is sent");
    check(body.is_object(), "the body is not a JSON object");
    check(body["stream"] == true, "`stream` is not true");
    check(text(&body["model"]).is_some_and(|name| !name.is_empty()), "`model` is missing");
    let known = |field: &String| FIELDS.contains(&field.as_str());
    check(body.as_object().is_none_or(|body| body.keys().all(known)), "a field is unknown");
    check(body["options"]["num_predict"].as_u64().is_some_and(|limit| limit > 0), "no limit of output tokens is set");
    let prompt = tokens::count(&body["messages"].to_string()) + tokens::count(&body["tools"].to_string());
    let context = body["options"]["num_ctx"].as_u64().and_then(|size| usize::try_from(size).ok());
    check(context.is_some_and(|context| context > prompt), "the prompt would be cut to the context");
    let declared: Vec<(&Value, &Value)> =
        items(&body["tools"]).iter().map(|tool| (&tool["function"], &tool["function"]["parameters"])).collect();
    wrong.extend(declarations(&declared));
    for (_, parameters) in &declared {
        if !parameters["properties"].is_object() {
            wrong.push("cannot unmarshal `properties`".into());
        }
        wrong.extend(property(parameters));
    }
    wrong.extend(messages(body));
    wrong
}

/// Checks a schema, which is parsed into structs of these fields.
fn property(schema: &Value) -> Vec<String> {
    let Some(object) = schema.as_object() else { return vec![format!("cannot unmarshal `{schema}`")] };
    let mut wrong = Vec::new();
    for (field, value) in object {
        let right = match field.as_str() {
            "type" => value.is_string() || value.as_array().is_some_and(|types| types.iter().all(Value::is_string)),
            "description" => value.is_string(),
            "enum" | "anyOf" => value.is_array(),
            "required" => value.as_array().is_some_and(|names| names.iter().all(Value::is_string)),
            "properties" => value.is_object(),
            "items" | "minItems" | "maxItems" | "minimum" | "maximum" => true,
            _ => false,
        };
        if !right {
            wrong.push(format!("cannot unmarshal `{field}`, or it is lost"));
        }
    }
    let properties = schema["properties"].as_object();
    let inner = properties.into_iter().flat_map(|properties| properties.values());
    wrong.extend(inner.chain(items(&schema["anyOf"])).flat_map(property));
    wrong
}

/// Checks that every call is answered by exactly one message of the role `tool` with its id and its tool, in order.
fn messages(body: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let messages = items(&body["messages"]);
    let (mut calls, mut results): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let name = |id: &Value, tool: &Value| format!("{} {}", text(tool).unwrap_or("?"), text(id).unwrap_or("?"));
    let compare = |at: usize, calls: &[String], results: &[String]| {
        let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
        let results: Vec<&str> = results.iter().map(String::as_str).collect();
        mismatch(at, &calls, &results)
    };
    for (at, message) in messages.iter().enumerate() {
        if text(&message["content"]).is_none() {
            wrong.push(format!("message {at}: the content is not a text"));
        }
        match text(&message["role"]).unwrap_or_default() {
            "tool" => {
                results.push(name(&message["tool_call_id"], &message["tool_name"]));
                continue;
            }
            "system" if at > 0 => wrong.push(format!("message {at}: the system prompt does not come first")),
            "system" | "user" | "assistant" => {}
            other => wrong.push(format!("message {at}: the role `{other}` is unknown")),
        }
        wrong.extend(compare(at, &calls, &results));
        results.clear();
        calls.clear();
        for call in items(&message["tool_calls"]) {
            if !call["function"]["arguments"].is_object() {
                wrong.push(format!("message {at}: the arguments of a call are not an object"));
            }
            calls.push(name(&call["id"], &call["function"]["name"]));
        }
        let given: Vec<&str> = calls.iter().map(String::as_str).collect();
        wrong.extend(ids(at, &given));
        if calls.is_empty() && text(&message["content"]).is_some_and(str::is_empty) {
            wrong.push(format!("message {at} is empty"));
        }
    }
    wrong.extend(compare(messages.len(), &calls, &results));
    if messages.last().is_none_or(|message| message["role"] == "assistant" || message["role"] == "system") {
        wrong.push("the last message is neither the user's nor a result".into());
    }
    wrong
}

/// Returns the lines of the response to request `number`.
pub(super) fn body(script: &Script, number: usize, model: &Value) -> String {
    let gives_ids = !text(model).is_some_and(|name| name.contains("llama"));
    let mut lines = String::new();
    let mut send = |message: Value, more: Value| {
        let mut line =
            json!({"model": "fake", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false});
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object()) {
            line.extend(more.clone());
        }
        lines.push_str(&format!("{line}\n"));
    };
    if let Some((thinking, _)) = &script.thinking {
        for piece in pieces(thinking) {
            send(json!({"role": "assistant", "content": "", "thinking": piece}), Value::Null);
        }
    }
    for piece in pieces(&script.text) {
        send(json!({"role": "assistant", "content": piece}), Value::Null);
    }
    let call = |(at, (name, arguments)): (usize, &(String, Value))| {
        let mut call = json!({"function": {"index": at, "name": name, "arguments": arguments}});
        if gives_ids {
            call["id"] = call_id(number, at).into();
        }
        call
    };
    let calls: Vec<Value> = script.calls.iter().enumerate().map(call).collect();
    let (together, alone) = calls.split_at(calls.len().min(2));
    for calls in [together].into_iter().chain(alone.chunks(1)).filter(|calls| !calls.is_empty()) {
        send(json!({"role": "assistant", "content": "", "tool_calls": calls}), Value::Null);
    }
    let usage = script.usage;
    let mut end = json!({
        "done": true, "done_reason": if script.cut { "length" } else { "stop" },
        "total_duration": 1, "load_duration": 1, "prompt_eval_duration": 1, "eval_duration": 1,
        "prompt_eval_count": usage.input_tokens, "eval_count": usage.output_tokens,
    });
    if usage.cached_tokens > 0 {
        end["prompt_eval_cached_count"] = usage.cached_tokens.into();
    }
    send(json!({"role": "assistant", "content": ""}), end);
    lines
}

#[cfg(test)]
mod tests {
    use super::{super::Api, *};

    /// `expected` is part of the only violation, or empty.
    #[track_caller]
    fn check(change: Value, expected: &str) {
        let mut body = json!({"model": "m", "stream": true, "options": {"num_predict": 1, "num_ctx": 8192}});
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let wrong = violations(&Recorded { api: Api::Ollama, path: "/api/chat".into(), headers: vec![], body });
        if expected.is_empty() {
            assert!(wrong.is_empty(), "{wrong:?}");
        } else {
            assert!(wrong.len() == 1 && wrong[0].contains(expected), "{wrong:?}");
        }
    }

    fn user(text: &str) -> Value {
        json!({"role": "user", "content": text})
    }

    #[test]
    fn every_call_needs_its_result() {
        let call = |id: &str, name: &str| json!({"id": id, "function": {"name": name, "arguments": {}}});
        let turn = json!({"role": "assistant", "content": "", "tool_calls": [call("1", "a"), call("2", "b")]});
        let result =
            |id: &str, name: &str| json!({"role": "tool", "content": "r", "tool_name": name, "tool_call_id": id});
        let ask = |messages: Value, expected: &str| check(json!({"messages": messages}), expected);
        ask(json!([user("q"), turn, result("1", "a"), result("2", "b")]), "");
        ask(json!([user("q"), turn, result("2", "b"), result("1", "a")]), "are answered by");
        ask(json!([user("q"), turn, result("1", "a")]), "are answered by");
        ask(json!([user("q"), turn, result("1", "a"), result("2", "x")]), "are answered by");
        ask(json!([user("q"), {"role": "system", "content": "s"}, user("q")]), "does not come first");
    }

    #[test]
    fn a_prompt_that_would_be_cut_is_found() {
        check(json!({"messages": [user(&"word ".repeat(8_000))]}), "");
        check(json!({"messages": [user(&"word ".repeat(9_000))]}), "would be cut");
        check(json!({"messages": [user("q")], "options": {"num_predict": 1}}), "would be cut");
    }

    #[test]
    fn schemas_are_read_into_structs() {
        let ask = |property: Value, expected: &str| {
            let parameters = json!({"type": "object", "properties": {"p": property}});
            let function = json!({"name": "t", "description": "d", "parameters": parameters});
            check(json!({"messages": [user("q")], "tools": [{"type": "function", "function": function}]}), expected);
        };
        ask(json!({"type": ["string", "null"], "enum": ["a"]}), "");
        ask(json!(true), "cannot unmarshal `true`");
        ask(json!({"$ref": "#/$defs/X"}), "or it is lost");
        ask(json!({"required": true}), "cannot unmarshal `required`");
    }
}
