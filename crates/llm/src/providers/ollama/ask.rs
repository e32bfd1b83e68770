//! Converts requests to Ollama's API.

use prospector_core::tokens;
use serde_json::{Value, json};

use super::{
    super::{
        convert::{arguments, content, join_system, sort_tools},
        schema::narrow,
        thinking::{Fingerprint, Thinking},
    },
    Context,
};
use crate::{ChatRequest, Message, message::ToolCall};

/// Returns the body, and the fingerprint of the request.
///
/// `think` is not set: models that can think do so by default, and others refuse the field.
pub(in super::super) fn body(
    request: &ChatRequest,
    name: &str,
    context: &Context,
    thinking: &Thinking,
) -> (Value, u64) {
    let mut seen = Fingerprint::default();
    seen.add(&request.system);
    seen.add(&request.tools);
    let mut messages: Vec<Value> = Vec::new();
    messages.extend(join_system(&request.system).map(|text| json!({"role": "system", "content": text})));
    for message in &request.messages {
        match message {
            Message::User { text } => messages.push(json!({"role": "user", "content": text})),
            Message::Assistant { text, calls } => messages.extend(assistant(text, calls, thinking, seen.value())),
            Message::ToolResults { results } => messages.extend(results.iter().map(|result| {
                json!({"role": "tool", "content": content(result), "tool_name": result.name,
                       "tool_call_id": result.call_id})
            })),
        }
        seen.add(message);
    }
    let tools: Vec<Value> = sort_tools(&request.tools).into_iter().map(tool).collect();
    let prompt = tokens::count(&json!(messages).to_string()) + tokens::count(&json!(tools).to_string());
    let mut body = json!({
        "model": name,
        "messages": messages,
        "stream": true,
        "options": {
            "num_ctx": context.fit(prompt, request.max_output_tokens),
            "num_predict": request.max_output_tokens,
        },
        // Refuse prompts that do not fit, instead of truncating them.
        "truncate": false,
        "shift": false,
    });
    if !tools.is_empty() {
        body["tools"] = tools.into();
    }
    (body, seen.value())
}

/// Returns `None` for an empty turn. The thinking is sent back: models that think between calls build on it.
fn assistant(text: &str, calls: &[ToolCall], thinking: &Thinking, fingerprint: u64) -> Option<Value> {
    if text.trim().is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({"role": "assistant", "content": text});
    if let Some(thought) = thinking.recall(fingerprint).iter().find_map(|part| part.as_reasoning_content()) {
        message["thinking"] = thought.into();
    }
    if !calls.is_empty() {
        let call = |call: &ToolCall| json!({"id": call.id, "function": {"name": call.name, "arguments": arguments(&call.arguments)}});
        message["tool_calls"] = calls.iter().map(call).collect();
    }
    Some(message)
}

fn tool(tool: &prospector_core::tool::ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": narrow(&tool.input_schema),
    }})
}

#[cfg(test)]
mod tests {
    use genai::chat::ContentPart;
    use prospector_core::tool::ToolSpec;

    use super::*;
    use crate::message::{SystemBlock, ToolResult};

    fn call(id: &str, arguments: Value) -> ToolCall {
        ToolCall { id: id.into(), name: "t".into(), arguments }
    }

    fn answered(id: &str, content: &str, is_error: bool) -> ToolResult {
        ToolResult { call_id: id.into(), name: "t".into(), content: content.into(), data: None, is_error }
    }

    #[test]
    fn a_request_is_told_with_one_message_for_each_result() {
        let question = Message::User { text: "q".into() };
        let mut request = ChatRequest {
            purpose: Default::default(),
            system: vec![SystemBlock { text: "a".into(), cache: true }, SystemBlock { text: "b".into(), cache: false }],
            messages: vec![question],
            tools: vec![ToolSpec {
                name: "t".into(),
                description: "d".into(),
                input_schema: json!({"properties": {"x": true}}),
            }],
            max_output_tokens: 9,
        };
        let (context, thinking) = (Context::new(100_000), Thinking::default());
        let (_, fingerprint) = body(&request, "m", &context, &thinking);
        thinking.keep(fingerprint, vec![ContentPart::ReasoningContent("Hm.".into())]);
        request.messages.extend([
            Message::Assistant {
                text: String::new(),
                calls: vec![call("1", json!({"x": 1})), call("2", json!("{oops"))],
            },
            Message::ToolResults { results: vec![answered("1", "r", false), answered("2", "no", true)] },
            Message::Assistant { text: " ".into(), calls: vec![] },
        ]);
        let expected = json!({
            "model": "m",
            "stream": true,
            "messages": [
                {"role": "system", "content": "a\n\nb"},
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": "", "thinking": "Hm.", "tool_calls": [
                    {"id": "1", "function": {"name": "t", "arguments": {"x": 1}}},
                    {"id": "2", "function": {"name": "t", "arguments": {"invalid_arguments": "{oops"}}},
                ]},
                {"role": "tool", "content": "r", "tool_name": "t", "tool_call_id": "1"},
                {"role": "tool", "content": "{\"error\":\"no\"}", "tool_name": "t", "tool_call_id": "2"},
            ],
            "tools": [{"type": "function", "function": {
                "name": "t", "description": "d", "parameters": {"type": "object", "properties": {"x": {}}},
            }}],
            "options": {"num_ctx": 8192, "num_predict": 9},
            "truncate": false,
            "shift": false,
        });
        assert_eq!(body(&request, "m", &context, &thinking).0, expected);
    }
}
