//! Anthropic's token counting: `POST /v1/messages/count_tokens`, which is free and takes the body of a request without its limits
//! (<https://docs.anthropic.com/en/api/messages-count-tokens>).

use reqwest::{Client, Url, header::HeaderMap};
use serde_json::{Value, json};

use super::{
    failure::{Failure, Peer},
    route::Route,
    secret::Secret,
};
use crate::{ChatRequest, Message};

/// Counts tokens with the provider's endpoint.
pub(super) struct Counter {
    client: Client,
    url: Url,
    key: Option<Secret>,
    name: String,
}

impl Counter {
    pub(super) fn new(client: Client, route: &Route) -> Self {
        let mut url = route.base.clone();
        url.set_path(&format!("{}messages/count_tokens", route.base.path()));
        Counter { client, url, key: route.key.clone(), name: route.name.clone() }
    }

    /// Sends one request.
    pub(super) async fn count(&self, request: &ChatRequest, peer: &Peer) -> Result<u64, Failure> {
        let mut post = self.client.post(self.url.clone()).header("anthropic-version", "2023-06-01");
        if let Some(key) = &self.key {
            post = post.header("x-api-key", key.expose());
        }
        let sent = post.timeout(peer.timeout).json(&body(&self.name, request)).send().await;
        let answer = sent.map_err(|error| peer.stream_failure(error.into()))?;
        let (status, headers): (_, HeaderMap) = (answer.status(), answer.headers().clone());
        let text = answer.text().await.map_err(|error| peer.stream_failure(error.into()))?;
        if !status.is_success() {
            return Err(peer.refusal(status, &headers, &text));
        }
        let counted = serde_json::from_str::<Value>(&text).ok().and_then(|answer| answer["input_tokens"].as_u64());
        counted.ok_or_else(|| peer.nonsense("the count has no `input_tokens`"))
    }
}

/// Returns the request in the form of the Messages API.
fn body(model: &str, request: &ChatRequest) -> Value {
    let system: Vec<Value> = (request.system.iter().filter(|block| !block.text.is_empty()))
        .map(|block| json!({"type": "text", "text": block.text}))
        .collect();
    let tools: Vec<Value> = (request.tools.iter())
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}))
        .collect();
    let messages: Vec<Value> = request.messages.iter().filter_map(message).collect();
    let mut body = json!({"model": model, "messages": messages});
    for (field, items) in [("system", system), ("tools", tools)] {
        if !items.is_empty() {
            body[field] = items.into();
        }
    }
    body
}

/// Returns `None` for an empty turn, which would be refused.
fn message(message: &Message) -> Option<Value> {
    let (role, content): (_, Vec<Value>) = match message {
        Message::User { text } => ("user", text_content(text).into_iter().collect()),
        Message::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| {
                let input = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
            });
            ("assistant", text_content(text).into_iter().chain(calls).collect())
        }
        Message::ToolResults { results } => {
            let result = |result: &crate::message::ToolResult| {
                json!({"type": "tool_result", "tool_use_id": result.call_id, "content": result.content,
                       "is_error": result.is_error})
            };
            ("user", results.iter().map(result).collect())
        }
    };
    (!content.is_empty()).then(|| json!({"role": role, "content": content}))
}

fn text_content(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

#[cfg(test)]
mod tests {
    use prospector_core::tool::ToolSpec;

    use super::*;
    use crate::message::{SystemBlock, ToolCall, ToolResult};

    #[test]
    fn the_body_is_that_of_a_request_without_its_limits() {
        let request = ChatRequest {
            purpose: Default::default(),
            system: vec![
                SystemBlock { text: "s".into(), cache: true },
                SystemBlock { text: String::new(), cache: false },
            ],
            messages: vec![
                Message::User { text: "q".into() },
                Message::Assistant {
                    text: " ".into(),
                    calls: vec![ToolCall { id: "1".into(), name: "t".into(), arguments: json!("{oops") }],
                },
                Message::ToolResults {
                    results: vec![ToolResult {
                        call_id: "1".into(),
                        name: "t".into(),
                        content: "r".into(),
                        data: Some(json!(1)),
                        is_error: true,
                    }],
                },
                Message::Assistant { text: String::new(), calls: vec![] },
            ],
            tools: vec![ToolSpec {
                name: "t".into(),
                description: "d".into(),
                input_schema: json!({"type": "object"}),
            }],
            max_output_tokens: 9,
        };
        let expected = json!({
            "model": "m",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "q"}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "t", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "1", "content": "r", "is_error": true}]},
            ],
            "system": [{"type": "text", "text": "s"}],
            "tools": [{"name": "t", "description": "d", "input_schema": {"type": "object"}}],
        });
        assert_eq!(body("m", &request), expected);
    }
}
