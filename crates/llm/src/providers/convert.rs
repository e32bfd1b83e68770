//! Converts requests to the types of `genai`.

use genai::chat as wire;
use prospector_core::tool::ToolSpec;
use serde_json::{Value, json};

use super::thinking::{Fingerprint, Thinking};
use crate::{
    ChatRequest, Message,
    message::{SystemBlock, ToolCall, ToolResult},
};

/// The APIs used through `genai`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Anthropic,
    OpenAi,
}

/// Anthropic's limit on cache marks per request.
const MAX_CACHE_MARKS: usize = 4;

/// Number of marks in the conversation: at its last results, for the next request, and at the previous results, up to which the previous
/// request was cached.
const MARKS_OF_CONVERSATION: usize = 2;

/// Converts a request, and returns its fingerprint: the key of the thinking that the response may start with.
pub(super) fn request(request: &ChatRequest, to: Dialect, thinking: &Thinking) -> (wire::ChatRequest, u64) {
    let marked = match to {
        Dialect::Anthropic => marked_places(request),
        Dialect::OpenAi => Vec::new(),
    };
    let mut messages = match to {
        Dialect::Anthropic => system_blocks(&request.system, MAX_CACHE_MARKS - marked.len()),
        Dialect::OpenAi => system_text(&request.system),
    };
    let mut seen = Fingerprint::default();
    seen.add(&request.system);
    seen.add(&request.tools);
    for (place, message) in request.messages.iter().enumerate() {
        let converted = match message {
            Message::User { text } => Some(wire::ChatMessage::user(text.as_str())),
            Message::Assistant { text, calls } => assistant(thinking.recall(seen.value()), text, calls),
            Message::ToolResults { results } => tool_results(results),
        };
        messages.extend(converted.map(|message| match marked.contains(&place) {
            true => message.with_options(wire::CacheControl::Ephemeral),
            false => message,
        }));
        seen.add(message);
    }
    let mut converted = wire::ChatRequest::new(messages);
    converted.tools = tools(request);
    (converted, seen.value())
}

/// Returns the indices of the messages up to which the conversation is cached: the last results. Results are always lists of blocks,
/// because a mark would change the form of a text, and cached content must not change. A request without tools is the only one of its
/// conversation: writing it to the cache would cost more than it could save.
fn marked_places(request: &ChatRequest) -> Vec<usize> {
    if request.tools.is_empty() {
        return Vec::new();
    }
    let has_results = |at: &usize| matches!(request.messages[*at], Message::ToolResults { .. });
    (0..request.messages.len()).rev().filter(has_results).take(MARKS_OF_CONVERSATION).collect()
}

/// Converts the system prompt to one message per block, with at most `marks` cache marks.
fn system_blocks(blocks: &[SystemBlock], marks: usize) -> Vec<wire::ChatMessage> {
    let marked = blocks.iter().filter(|block| is_marked(block)).count();
    let mut to_skip = marked.saturating_sub(marks);
    let mut messages = Vec::new();
    for block in blocks.iter().filter(|block| !block.text.is_empty()) {
        let message = wire::ChatMessage::system(block.text.as_str());
        messages.push(if !is_marked(block) {
            message
        } else if to_skip > 0 {
            to_skip -= 1;
            message
        } else {
            message.with_options(wire::CacheControl::Ephemeral)
        });
    }
    messages
}

fn is_marked(block: &SystemBlock) -> bool {
    block.cache && !block.text.is_empty()
}

/// Joins all blocks into one message: many servers accept only one, at the start. For models that need cache marks (OpenAI's later ones),
/// `genai` sets the mark at its end.
fn system_text(blocks: &[SystemBlock]) -> Vec<wire::ChatMessage> {
    let Some(text) = join_system(blocks) else { return Vec::new() };
    let message = wire::ChatMessage::system(text);
    let marked = blocks.iter().any(is_marked);
    vec![if marked { message.with_options(wire::CacheControl::Ephemeral) } else { message }]
}

/// Joins the system prompt into one text; `None` if it is empty.
pub(super) fn join_system(blocks: &[SystemBlock]) -> Option<String> {
    let texts: Vec<&str> = blocks.iter().map(|block| block.text.as_str()).filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Converts an assistant turn. Empty texts are omitted because Anthropic refuses them, and so is a turn without text and calls.
fn assistant(mut parts: Vec<wire::ContentPart>, text: &str, calls: &[ToolCall]) -> Option<wire::ChatMessage> {
    if text.trim().is_empty() && calls.is_empty() {
        return None;
    }
    if !text.trim().is_empty() {
        parts.push(wire::ContentPart::from_text(text));
    }
    parts.extend(calls.iter().map(|call| {
        wire::ContentPart::ToolCall(wire::ToolCall {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: arguments(&call.arguments),
            thought_signatures: None,
        })
    }));
    Some(wire::ChatMessage::assistant(wire::MessageContent::from_parts(parts)))
}

/// Returns an object, because providers accept nothing else.
pub(super) fn arguments(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        Value::Null => json!({}),
        other => json!({"invalid_arguments": other}),
    }
}

/// Converts all results to one message, as strict servers require.
fn tool_results(results: &[ToolResult]) -> Option<wire::ChatMessage> {
    let responses: Vec<wire::ToolResponse> = results
        .iter()
        .map(|result| {
            wire::ToolResponse::new(result.call_id.as_str(), content(result)).with_fn_name(result.name.as_str())
        })
        .collect();
    (!responses.is_empty()).then(|| responses.into())
}

/// Marks a failed call in the content if the API has no flag for it.
pub(super) fn content(result: &ToolResult) -> String {
    let says_so = || serde_json::from_str::<Value>(&result.content).is_ok_and(|content| content.get("error").is_some());
    if result.is_error && !says_so() { json!({"error": result.content}).to_string() } else { result.content.clone() }
}

/// Sorts the tools by name: their order is part of the cacheable prefix.
pub(super) fn sort_tools(tools: &[ToolSpec]) -> Vec<&ToolSpec> {
    let mut specs: Vec<_> = tools.iter().collect();
    specs.sort_by(|a, b| a.name.cmp(&b.name));
    specs
}

fn tools(request: &ChatRequest) -> Option<Vec<wire::Tool>> {
    let specs = sort_tools(&request.tools);
    let tool = |spec: &&ToolSpec| {
        wire::Tool::new(spec.name.as_str())
            .with_description(spec.description.as_str())
            .with_schema(spec.input_schema.clone())
    };
    (!specs.is_empty()).then(|| specs.iter().map(tool).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str, cache: bool) -> SystemBlock {
        SystemBlock { text: text.into(), cache }
    }

    fn call(id: &str, arguments: Value) -> ToolCall {
        ToolCall { id: id.into(), name: "search".into(), arguments }
    }

    fn sample() -> ChatRequest {
        let tool = |name: &str| ToolSpec { name: name.into(), description: "d".into(), input_schema: json!({}) };
        ChatRequest {
            purpose: Default::default(),
            system: vec![block("static", true), block("", true), block("map", false)],
            messages: vec![
                Message::User { text: "question".into() },
                Message::Assistant {
                    text: String::new(),
                    calls: vec![call("1", json!("{oops")), call("2", json!(null))],
                },
                Message::ToolResults {
                    results: vec![
                        ToolResult {
                            call_id: "1".into(),
                            name: "search".into(),
                            content: "bad".into(),
                            data: None,
                            is_error: true,
                        },
                        ToolResult {
                            call_id: "2".into(),
                            name: "search".into(),
                            content: "[]".into(),
                            data: None,
                            is_error: false,
                        },
                    ],
                },
                Message::Assistant { text: " ".into(), calls: vec![] },
            ],
            tools: vec![tool("search"), tool("list")],
            max_output_tokens: 100,
        }
    }

    /// Returns the converted sample as JSON.
    fn check(to: Dialect) -> Value {
        serde_json::to_value(request(&sample(), to, &Thinking::default()).0).unwrap()
    }

    #[test]
    fn anthropic_gets_its_blocks_one_by_one_with_their_marks() {
        let messages = check(Dialect::Anthropic)["messages"].clone();
        assert_eq!(messages[0]["options"], json!({"cache_control": "Ephemeral"}));
        assert_eq!(messages[1]["role"], "System");
        assert!(messages[1].get("options").is_none());
        assert_eq!(messages.as_array().unwrap().len(), 5, "no empty block, no empty turn");
    }

    #[test]
    fn more_marks_than_allowed_keep_the_last() {
        let blocks: Vec<SystemBlock> = (0..6).map(|n| block(&n.to_string(), true)).collect();
        let marked: Vec<bool> =
            system_blocks(&blocks, MAX_CACHE_MARKS).iter().map(|message| message.options.is_some()).collect();
        assert_eq!(marked, [false, false, true, true, true, true]);
    }

    #[test]
    fn the_last_results_are_marked() {
        let marked = |request_: &ChatRequest, to: Dialect| -> Vec<usize> {
            let (converted, _) = request(request_, to, &Thinking::default());
            let messages = serde_json::to_value(converted.messages).unwrap();
            let messages = messages.as_array().unwrap().iter().filter(|message| message["role"] != "System");
            let marked = messages.enumerate().filter(|(_, message)| message["options"]["cache_control"] == "Ephemeral");
            marked.map(|(at, _)| at).collect()
        };
        let mut asked = sample();
        asked.messages.truncate(3);
        assert_eq!(marked(&asked, Dialect::Anthropic), [2]);
        asked.messages.push(Message::User { text: "finish".into() });
        assert_eq!(marked(&asked, Dialect::Anthropic), [2]);
        for _ in 0..2 {
            asked.messages.extend(sample().messages[1..3].to_vec());
        }
        assert_eq!(marked(&asked, Dialect::Anthropic), [5, 7]);
        assert!(marked(&asked, Dialect::OpenAi).is_empty());
        asked.tools.clear();
        assert!(marked(&asked, Dialect::Anthropic).is_empty());
    }

    #[test]
    fn openai_gets_one_system_text() {
        let messages = check(Dialect::OpenAi)["messages"].clone();
        assert_eq!(messages[0]["content"].to_string().matches("static\\n\\nmap").count(), 1, "{messages}");
        assert_eq!(messages.as_array().unwrap().len(), 4);
    }

    #[test]
    fn broken_arguments_become_an_object_and_failures_say_so() {
        let text = check(Dialect::OpenAi).to_string();
        assert!(text.contains(r#"{"invalid_arguments":"{oops"}"#), "{text}");
        assert!(text.contains(r#"{\"error\":\"bad\"}"#), "{text}");
    }

    #[test]
    fn tools_are_sorted() {
        let tools = check(Dialect::OpenAi)["tools"].clone();
        assert_eq!([&tools[0]["name"], &tools[1]["name"]], ["list", "search"]);
    }

    #[test]
    fn thinking_goes_back_only_where_all_before_it_is_unchanged() {
        let thinking = Thinking::default();
        let mut asked = sample();
        asked.messages.truncate(1);
        let (_, fingerprint) = request(&asked, Dialect::Anthropic, &thinking);
        thinking.keep(fingerprint, vec![wire::ContentPart::ThoughtSignature("signed".into())]);

        let sent = |request_: &ChatRequest| {
            let (converted, _) = request(request_, Dialect::Anthropic, &thinking);
            serde_json::to_string(&converted).unwrap().contains("signed")
        };
        assert!(sent(&sample()));
        let mut fewer_tools = sample();
        fewer_tools.tools.pop();
        assert!(!sent(&fewer_tools));
    }
}
