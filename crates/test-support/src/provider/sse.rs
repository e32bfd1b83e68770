//! Scripted responses as server-sent events of Anthropic and of OpenAI.

use serde_json::{Value, json};

use super::{Api, Script};

/// Returns the events of the response to request `number`.
pub(super) fn body(api: Api, script: &Script, number: usize) -> String {
    match api {
        Api::Anthropic => anthropic(script, number),
        _ => openai(script, number),
    }
}

fn anthropic(script: &Script, number: usize) -> String {
    let mut text = String::new();
    let mut event = |data: Value| {
        text.push_str(&format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default()));
    };
    let usage = script.usage;
    event(json!({"type": "message_start", "message": {
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "content": [],
        "usage": {
            "input_tokens": usage.input_tokens - usage.cached_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": usage.cached_tokens,
            "output_tokens": 1,
        },
    }}));
    event(json!({"type": "ping"}));
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        event(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        event(json!({"type": "content_block_stop", "index": index}));
        index += 1;
    };
    if let Some((thinking, signature)) = &script.thinking {
        block(
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": thinking}),
                json!({"type": "signature_delta", "signature": signature}),
            ],
        );
    }
    if !script.text.is_empty() {
        let deltas = pieces(&script.text).map(|piece| json!({"type": "text_delta", "text": piece})).collect();
        block(json!({"type": "text", "text": ""}), deltas);
    }
    for (at, (name, arguments)) in script.calls.iter().enumerate() {
        let raw = raw(arguments);
        let deltas = pieces(&raw).map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect();
        block(json!({"type": "tool_use", "id": call_id(number, at), "name": name, "input": {}}), deltas);
    }
    let stop = match (script.cut, script.calls.is_empty()) {
        (true, _) => "max_tokens",
        (false, false) => "tool_use",
        (false, true) => "end_turn",
    };
    event(json!({
        "type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null},
        "usage": {"output_tokens": usage.output_tokens},
    }));
    event(json!({"type": "message_stop"}));
    text
}

fn openai(script: &Script, number: usize) -> String {
    let mut text = String::new();
    let mut send = |data: Value| text.push_str(&format!("data: {data}\n\n"));
    let chunk = |choices: Value, usage: Value| {
        json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 0, "model": "fake",
            "choices": choices, "usage": usage,
        })
    };
    let mut delta = |delta: Value, stop: Value| {
        send(chunk(json!([{"index": 0, "delta": delta, "finish_reason": stop}]), Value::Null));
    };
    delta(json!({"role": "assistant", "content": ""}), Value::Null);
    for piece in pieces(&script.text) {
        delta(json!({"content": piece}), Value::Null);
    }
    for (at, (name, arguments)) in script.calls.iter().enumerate() {
        let start = json!({
            "index": at, "id": call_id(number, at), "type": "function", "function": {"name": name, "arguments": ""},
        });
        delta(json!({"tool_calls": [start]}), Value::Null);
        for piece in pieces(&raw(arguments)) {
            delta(json!({"tool_calls": [{"index": at, "function": {"arguments": piece}}]}), Value::Null);
        }
    }
    let stop = match (script.cut, script.calls.is_empty()) {
        (true, _) => "length",
        (false, false) => "tool_calls",
        (false, true) => "stop",
    };
    delta(json!({}), json!(stop));
    let usage = script.usage;
    send(chunk(
        json!([]),
        json!({
            "prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        }),
    ));
    text.push_str("data: [DONE]\n\n");
    text
}

pub(super) fn call_id(number: usize, at: usize) -> String {
    format!("call_{number}_{at}")
}

/// Returns the arguments as the model wrote them.
fn raw(arguments: &Value) -> String {
    match arguments {
        Value::String(raw) => raw.clone(),
        other => other.to_string(),
    }
}

/// Splits the text into pieces of a few characters.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = text.chars().peekable();
    std::iter::from_fn(move || rest.peek().is_some().then(|| rest.by_ref().take(7).collect()))
}
