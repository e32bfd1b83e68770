//! Google's Gemini API: its refusals, and scripted streamed responses.

use serde_json::{Value, json};

use super::{
    Recorded, Script,
    check::{Past, declarations, header, ids, items, text},
    sse::{call_id, pieces},
};

/// The documented schema keywords; others may be refused.
const KEYWORDS: [&str; 20] = [
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
];
/// The placeholder that the API accepts for the signature of a call it did not sign.
const STAND_IN: &str = "skip_thought_signature_validator";

/// Returns the violations of a request.
pub(super) fn violations(request: &Recorded, past: Past<'_>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |right: bool, what: &str| {
        if !right {
            wrong.push(what.to_owned());
        }
    };
    let body = &request.body;
    let (call, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    check(call.ends_with(":streamGenerateContent"), "the call is unknown");
    check(query == "alt=sse", "the query is not `alt=sse`");
    check(header(request, "x-goog-api-key") == past.key, "`x-goog-api-key` is not the key");
    check(header(request, "authorization").is_none(), "`authorization` is set");
    check(past.key.is_none_or(|key| !request.path.contains(key)), "the address holds the key");
    check(body["generationConfig"]["maxOutputTokens"].as_u64().is_some_and(|limit| limit > 0), "there is no limit");
    wrong.extend(unknown(
        body,
        &["contents", "systemInstruction", "tools", "toolConfig", "generationConfig"],
        "the body",
    ));
    wrong.extend(unknown(&body["generationConfig"], &["maxOutputTokens", "thinkingConfig"], "`generationConfig`"));
    if let Some(system) = body.get("systemInstruction") {
        let parts = items(&system["parts"]);
        if parts.is_empty() || parts.iter().any(|part| text(&part["text"]).is_none_or(str::is_empty)) {
            wrong.push("the system instruction is empty".into());
        }
    }
    wrong.extend(tools(body));
    wrong.extend(contents(body));
    if call.contains("gemini-3") {
        wrong.extend(signatures(body, past.signed));
    }
    wrong
}

fn unknown(object: &Value, known: &[&str], place: &str) -> Vec<String> {
    let fields = object.as_object().into_iter().flat_map(|object| object.keys());
    fields
        .filter(|field| !known.contains(&field.as_str()))
        .map(|field| format!("{place}: unknown name `{field}`"))
        .collect()
}

fn tools(body: &Value) -> Vec<String> {
    let declared: Vec<&Value> =
        items(&body["tools"]).iter().flat_map(|tool| items(&tool["functionDeclarations"])).collect();
    let with_schema: Vec<(&Value, &Value)> =
        declared.iter().map(|tool| (*tool, &tool["parametersJsonSchema"])).collect();
    let mut wrong = declarations(&with_schema);
    for tool in declared {
        wrong.extend(unknown(tool, &["name", "description", "parametersJsonSchema"], "a declaration"));
        wrong.extend(schema(&tool["parametersJsonSchema"]));
    }
    wrong
}

fn schema(schema: &Value) -> Vec<String> {
    let Some(object) = schema.as_object() else { return vec![format!("the schema `{schema}` is not an object")] };
    let mut wrong = unknown(schema, &KEYWORDS, "a schema");
    if object.contains_key("$ref") && object.len() > 1 {
        wrong.push("a schema has other keys next to its `$ref`".into());
    }
    let properties = object.get("properties").and_then(Value::as_object);
    let inner = properties.into_iter().flat_map(|properties| properties.values()).chain(object.get("items"));
    let variants = ["anyOf", "oneOf"].into_iter().flat_map(|keyword| items(&schema[keyword]));
    wrong.extend(inner.chain(variants).flat_map(self::schema));
    wrong
}

/// Checks roles and parts; every call must be answered by exactly one response, in the next content, in order.
fn contents(body: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let contents = items(&body["contents"]);
    if contents.first().is_none_or(|content| content["role"] != "user") {
        wrong.push("the first content is not the user's".into());
    }
    if contents.last().is_some_and(|content| content["role"] != "user") {
        wrong.push("the last content is not the user's".into());
    }
    let mut open: Vec<(&str, &Value)> = Vec::new();
    for (at, content) in contents.iter().enumerate() {
        let (mut calls, mut responses) = (Vec::new(), Vec::new());
        let is_model = content["role"] == "model";
        if !is_model && content["role"] != "user" {
            wrong.push(format!("content {at}: the role is neither `user` nor `model`"));
        }
        if items(&content["parts"]).is_empty() {
            wrong.push(format!("content {at} is empty"));
        }
        for part in items(&content["parts"]) {
            wrong.extend(unknown(part, &["text", "functionCall", "functionResponse", "thoughtSignature"], "a part"));
            let (call, response) = (&part["functionCall"], &part["functionResponse"]);
            if call.is_object() {
                if !is_model || !call["args"].is_object() {
                    wrong.push(format!("content {at}: a call is not the model's, or its arguments are not an object"));
                }
                calls.push((text(&call["name"]).unwrap_or_default(), &call["id"]));
            } else if response.is_object() {
                if is_model || !response["response"].is_object() {
                    wrong.push(format!("content {at}: a response is the model's, or not an object"));
                }
                responses.push((text(&response["name"]).unwrap_or_default(), &response["id"]));
            } else if text(&part["text"]).is_none_or(str::is_empty) {
                wrong.push(format!("content {at}: a part is empty"));
            }
        }
        if open != responses {
            wrong.push(format!("content {at}: the calls {open:?} are answered by the responses {responses:?}"));
        }
        let given: Vec<&str> = calls.iter().filter_map(|(_, id)| id.as_str()).collect();
        wrong.extend(ids(at, &given));
        open = calls;
    }
    wrong
}

/// Checks that the first call of each content since the user's last message carries its signature.
fn signatures(body: &Value, signed: &[(String, String)]) -> Vec<String> {
    let contents = items(&body["contents"]);
    let speaks = |content: &Value| items(&content["parts"]).iter().any(|part| part["functionResponse"].is_null());
    let turn = contents.iter().rposition(|content| content["role"] == "user" && speaks(content)).unwrap_or_default();
    let mut wrong = Vec::new();
    for content in &contents[turn..] {
        let first = items(&content["parts"]).iter().find(|part| part["functionCall"].is_object());
        let Some(part) = first else { continue };
        let name = text(&part["functionCall"]["name"]).unwrap_or_default();
        match text(&part["thoughtSignature"]) {
            None => wrong.push(format!("Function call is missing a thought_signature in functionCall parts: `{name}`")),
            Some(STAND_IN) => {}
            Some(given) if signed.iter().any(|(tool, signature)| tool == name && signature == given) => {}
            Some(_) => wrong.push(format!("the signature of the call of `{name}` is not its own")),
        }
    }
    wrong
}

/// Returns the events of the response to request `number`. Parallel calls are in the same event or in different ones.
pub(super) fn body(script: &Script, number: usize, path: &str) -> String {
    let gives_ids = path.contains("gemini-3");
    let mut text = String::new();
    let mut send = |parts: Value, stop: Option<&str>, usage: Value| {
        let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
        if let Some(stop) = stop {
            candidate["finishReason"] = stop.into();
        }
        let piece = json!({
            "candidates": [candidate], "usageMetadata": usage,
            "modelVersion": "fake", "responseId": format!("r{number}"),
        });
        text.push_str(&format!("data: {piece}\r\n\r\n"));
    };
    let usage = script.usage;
    let so_far = json!({"promptTokenCount": usage.input_tokens, "totalTokenCount": usage.input_tokens});
    if let Some((thinking, _)) = &script.thinking {
        send(json!([{"text": thinking, "thought": true}]), None, so_far.clone());
    }
    for piece in pieces(&script.text) {
        send(json!([{"text": piece}]), None, so_far.clone());
    }
    let call = |(at, (name, arguments)): (usize, &(String, Value))| {
        let mut part = json!({"functionCall": {"name": name, "args": arguments}});
        if gives_ids {
            part["functionCall"]["id"] = call_id(number, at).into();
        }
        if let (0, Some((_, signature))) = (at, &script.thinking) {
            part["thoughtSignature"] = signature.as_str().into();
        }
        part
    };
    let calls: Vec<Value> = script.calls.iter().enumerate().map(call).collect();
    let (together, alone) = calls.split_at(calls.len().min(2));
    if !together.is_empty() {
        send(together.into(), None, so_far.clone());
    }
    for call in alone {
        send(json!([call]), None, so_far.clone());
    }
    let thoughts = usage.output_tokens / 4;
    let mut whole = json!({
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": usage.output_tokens - thoughts,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": usage.input_tokens + usage.output_tokens,
    });
    if usage.cached_tokens > 0 {
        whole["cachedContentTokenCount"] = usage.cached_tokens.into();
    }
    let mut last = json!({"text": ""});
    if let (Some((_, signature)), true) = (&script.thinking, script.calls.is_empty()) {
        last["thoughtSignature"] = signature.as_str().into();
    }
    send(json!([last]), Some(if script.cut { "MAX_TOKENS" } else { "STOP" }), whole);
    text
}

#[cfg(test)]
mod tests {
    use super::{super::Api, *};

    /// `expected` is part of the only violation, or empty.
    #[track_caller]
    fn check(name: &str, change: Value, expected: &str) {
        let mut body = json!({"generationConfig": {"maxOutputTokens": 1}});
        body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let path = format!("/v1beta/models/{name}:streamGenerateContent?alt=sse");
        let headers = vec![("x-goog-api-key".to_owned(), "k".to_owned())];
        let request = Recorded { api: Api::Gemini, path, headers, body };
        let signed = [("t".to_owned(), "s".to_owned())];
        let wrong = violations(&request, Past { earlier: &[], key: Some("k"), signed: &signed });
        if expected.is_empty() {
            assert!(wrong.is_empty(), "{wrong:?}");
        } else {
            assert!(wrong.len() == 1 && wrong[0].contains(expected), "{wrong:?}");
        }
    }

    fn user() -> Value {
        json!({"role": "user", "parts": [{"text": "q"}]})
    }

    fn calls(parts: &[(&str, Option<&str>)]) -> Value {
        let part = |(name, signature): &(&str, Option<&str>)| {
            let mut part = json!({"functionCall": {"name": name, "args": {}}});
            if let Some(signature) = signature {
                part["thoughtSignature"] = (*signature).into();
            }
            part
        };
        json!({"role": "model", "parts": parts.iter().map(part).collect::<Vec<_>>()})
    }

    fn responses(names: &[&str]) -> Value {
        let part = |name: &&str| json!({"functionResponse": {"name": name, "response": {"output": "r"}}});
        json!({"role": "user", "parts": names.iter().map(part).collect::<Vec<_>>()})
    }

    #[test]
    fn every_call_needs_its_response() {
        let ask = |contents: Value, expected: &str| check("gemini-2.5-pro", json!({"contents": contents}), expected);
        let two = calls(&[("a", None), ("b", None)]);
        ask(json!([user(), two, responses(&["a", "b"])]), "");
        ask(json!([user(), two, responses(&["b", "a"])]), "are answered by");
        ask(json!([user(), two, responses(&["a"])]), "are answered by");
        ask(json!([user(), two, user()]), "are answered by");
        ask(json!([user(), responses(&["a"])]), "are answered by");
        ask(json!([user(), {"role": "assistant", "parts": [{"text": "a"}]}, user()]), "the role is neither");
    }

    #[test]
    fn the_first_call_of_a_round_is_signed() {
        let ask = |contents: Value, expected: &str| check("gemini-3-pro", json!({"contents": contents}), expected);
        let round =
            |signature: Option<&str>| json!([user(), calls(&[("t", signature), ("t", None)]), responses(&["t", "t"])]);
        ask(round(Some("s")), "");
        ask(round(Some(STAND_IN)), "");
        ask(round(None), "missing a thought_signature");
        ask(round(Some("of another")), "is not its own");
        check("gemini-2.5-pro", json!({"contents": round(None)}), "");
        let mut earlier = round(None).as_array().unwrap().clone();
        earlier.push(user());
        ask(earlier.into(), "");
    }

    #[test]
    fn schemas_hold_what_is_documented() {
        let ask = |property: Value, expected: &str| {
            let schema = json!({"type": "object", "properties": {"const": property}});
            let declaration = json!({"name": "t", "description": "d", "parametersJsonSchema": schema});
            let tools = json!([{"functionDeclarations": [declaration]}]);
            check("gemini-2.5-pro", json!({"contents": [user()], "tools": tools}), expected);
        };
        ask(json!({"type": "string", "enum": ["a"]}), "");
        ask(json!({"const": "a"}), "unknown name `const`");
        ask(json!({"items": {"pattern": "a"}}), "unknown name `pattern`");
        ask(json!({"$ref": "#", "description": "d"}), "next to its `$ref`");
        ask(json!(true), "is not an object");
    }
}
