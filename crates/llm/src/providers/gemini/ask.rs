//! Converts requests to the Gemini API.

use serde_json::{Map, Value, json};

use super::super::{
    accumulator::known_id,
    convert::{arguments, sort_tools},
    schema::narrow,
    thinking::{Fingerprint, Thinking},
};
use crate::{
    ChatRequest, Message,
    message::{ToolCall, ToolResult},
};

/// Placeholder for the signature of a call that this process did not receive or no longer has: a call of another model, or of a restored
/// conversation (<https://ai.google.dev/gemini-api/docs/thought-signatures#faqs>).
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Returns the body, and the fingerprint of the request.
pub(in super::super) fn body(request: &ChatRequest, name: &str, thinking: &Thinking) -> (Value, u64) {
    let mut seen = Fingerprint::default();
    seen.add(&request.system);
    seen.add(&request.tools);
    let mut contents = Vec::new();
    for message in &request.messages {
        contents.extend(match message {
            Message::User { text } => content("user", vec![json!({"text": text})]),
            Message::Assistant { text, calls } => {
                let said = text_part(text, thinking, seen.value());
                content("model", said.into_iter().chain(self::calls(calls, name, thinking)).collect())
            }
            Message::ToolResults { results } => content("user", results.iter().map(result).collect()),
        });
        seen.add(message);
    }
    let mut body = json!({
        "contents": contents,
        "generationConfig": {"maxOutputTokens": request.max_output_tokens},
    });
    let system = request.system.iter().filter(|block| !block.text.is_empty());
    let system: Vec<Value> = system.map(|block| json!({"text": block.text})).collect();
    if !system.is_empty() {
        body["systemInstruction"] = json!({"parts": system});
    }
    let tools: Vec<Value> = sort_tools(&request.tools).into_iter().map(declaration).collect();
    if !tools.is_empty() {
        body["tools"] = json!([{"functionDeclarations": tools}]);
    }
    (body, seen.value())
}

/// Returns `None` for an empty turn, which would be refused.
fn content(role: &str, parts: Vec<Value>) -> Option<Value> {
    (!parts.is_empty()).then(|| json!({"role": role, "parts": parts}))
}

fn text_part(text: &str, thinking: &Thinking, fingerprint: u64) -> Option<Value> {
    if text.trim().is_empty() {
        return None;
    }
    let mut part = json!({"text": text});
    if let Some(signature) = thinking.recall(fingerprint).iter().find_map(|part| part.as_thought_signature()) {
        part["thoughtSignature"] = signature.into();
    }
    Some(part)
}

fn calls<'a>(calls: &'a [ToolCall], name: &str, thinking: &'a Thinking) -> impl Iterator<Item = Value> + 'a {
    let must_be_signed = signs_calls(name);
    calls.iter().enumerate().map(move |(at, call)| {
        let mut part = json!({"functionCall": with_id(&call.id, json!({
            "name": call.name, "args": arguments(&call.arguments),
        }))});
        // Only the first of parallel calls is signed.
        let stand_in = (at == 0 && must_be_signed).then(|| NO_SIGNATURE.to_owned());
        if let Some(signature) = thinking.signature(&call.id).or(stand_in) {
            part["thoughtSignature"] = signature.into();
        }
        part
    })
}

/// Whether the model refuses calls without a signature: from the third generation on. Names without a number refer to the latest.
fn signs_calls(name: &str) -> bool {
    const EARLIER: [&str; 4] = ["gemini-1", "gemini-2", "gemma", "learnlm"];
    let name = name.rsplit('/').next().unwrap_or(name);
    !EARLIER.iter().any(|begin| name.starts_with(begin))
}

/// Returns the response under the keys of the API: `output` and `error`.
fn result(result: &ToolResult) -> Value {
    let key = if result.is_error { "error" } else { "output" };
    let response = Map::from_iter([(key.to_owned(), Value::from(result.content.as_str()))]);
    json!({"functionResponse": with_id(&result.call_id, json!({"name": result.name, "response": response}))})
}

/// Adds the call id. Earlier models have no call ids: results are matched by order.
fn with_id(id: &str, mut value: Value) -> Value {
    if let Some(id) = known_id(id) {
        value["id"] = id.into();
    }
    value
}

fn declaration(tool: &prospector_core::tool::ToolSpec) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": narrow(&tool.input_schema),
    })
}

#[cfg(test)]
mod tests {
    use genai::chat::ContentPart;
    use prospector_core::tool::ToolSpec;

    use super::*;
    use crate::message::SystemBlock;

    fn call(id: &str, arguments: Value) -> ToolCall {
        ToolCall { id: id.into(), name: "t".into(), arguments }
    }

    fn answered(id: &str, content: &str, is_error: bool) -> ToolResult {
        ToolResult { call_id: id.into(), name: "t".into(), content: content.into(), data: None, is_error }
    }

    fn sample() -> ChatRequest {
        ChatRequest {
            purpose: Default::default(),
            system: vec![
                SystemBlock { text: "s".into(), cache: true },
                SystemBlock { text: String::new(), cache: false },
            ],
            messages: vec![
                Message::User { text: "q".into() },
                Message::Assistant {
                    text: "Look:".into(),
                    calls: vec![call("made-1", json!({"a": 1})), call("g1", json!("{oops"))],
                },
                Message::ToolResults { results: vec![answered("made-1", "r", false), answered("g1", "no", true)] },
                Message::Assistant { text: " ".into(), calls: vec![] },
            ],
            tools: vec![ToolSpec {
                name: "t".into(),
                description: "d".into(),
                input_schema: json!({"type": "object", "properties": {"a": true}, "$schema": "x"}),
            }],
            max_output_tokens: 9,
        }
    }

    #[test]
    fn a_request_is_told_in_contents_and_parts() {
        let expected = json!({
            "contents": [
                {"role": "user", "parts": [{"text": "q"}]},
                {"role": "model", "parts": [
                    {"text": "Look:"},
                    {"functionCall": {"name": "t", "args": {"a": 1}}},
                    {"functionCall": {"id": "g1", "name": "t", "args": {"invalid_arguments": "{oops"}}},
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "t", "response": {"output": "r"}}},
                    {"functionResponse": {"id": "g1", "name": "t", "response": {"error": "no"}}},
                ]},
            ],
            "systemInstruction": {"parts": [{"text": "s"}]},
            "generationConfig": {"maxOutputTokens": 9},
            "tools": [{"functionDeclarations": [{
                "name": "t", "description": "d",
                "parametersJsonSchema": {"type": "object", "properties": {"a": {}}},
            }]}],
        });
        assert_eq!(body(&sample(), "gemini-2.5-pro", &Thinking::default()).0, expected);
    }

    /// Returns the signatures of the parts of the model's turn.
    fn check(name: &str, thinking: &Thinking, expected: Value) {
        let body = body(&sample(), name, thinking).0;
        let parts = body["contents"][1]["parts"].as_array().unwrap();
        let signatures: Vec<&Value> = parts.iter().map(|part| &part["thoughtSignature"]).collect();
        assert_eq!(json!(signatures), expected, "{name}");
    }

    #[test]
    fn signatures_go_back_where_they_came_from() {
        let thinking = Thinking::default();
        for name in ["gemini-3-pro-preview", "gemini-flash-latest", "tunedModels/mine"] {
            check(name, &thinking, json!([null, NO_SIGNATURE, null]));
        }
        check("gemini-2.5-flash", &thinking, json!([null, null, null]));

        let mut asked = sample();
        asked.messages.truncate(1);
        let (_, fingerprint) = body(&asked, "m", &thinking);
        thinking.keep(fingerprint, vec![ContentPart::ThoughtSignature("of the text".into())]);
        thinking.sign("g1", "of the second".into());
        check("gemini-2.5-flash", &thinking, json!(["of the text", null, "of the second"]));
        thinking.sign("made-1", "of the first".into());
        check("gemini-3-pro-preview", &thinking, json!(["of the text", "of the first", "of the second"]));
    }
}
