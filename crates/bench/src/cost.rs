//! The cost of a run in tokens (`o200k` vocabulary): text, calls and results as they are, without the overhead of the
//! message format of a provider.

use std::collections::HashMap;

use prospector_core::tokens;
use prospector_llm::{ChatRequest, Message};
use serde_json::{Value, json};

/// The cost of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RunTokens {
    /// Each distinct token once: system prompt, map, tool definitions, the question, calls and results.
    pub(crate) context: usize,
    /// The input of all rounds added up, as billed without a cache.
    pub(crate) billed: usize,
}

/// Counts the tokens of a run, given its requests in order.
pub(crate) fn count_run(requests: &[ChatRequest]) -> RunTokens {
    let Some(first) = requests.first() else { return RunTokens::default() };
    let system: usize = first.system.iter().map(|block| tokens::count(&block.text)).sum();
    let tools = if first.tools.is_empty() { 0 } else { tokens::count(&json!(first.tools).to_string()) };
    let mut spent = RunTokens { context: system + tools, billed: 0 };
    // A text at one position counts once; a text that was truncated later counts as another one.
    let mut known: HashMap<(usize, usize, String), usize> = HashMap::new();
    for request in requests {
        spent.billed += system + tools;
        for (at, message) in request.messages.iter().enumerate() {
            for (part, text) in texts(message).into_iter().enumerate() {
                let size = *known.entry((at, part, text)).or_insert_with_key(|(_, _, text)| {
                    let size = tokens::count(text);
                    spent.context += size;
                    size
                });
                spent.billed += size;
            }
        }
    }
    spent
}

fn texts(message: &Message) -> Vec<String> {
    match message {
        Message::User { text } => vec![text.clone()],
        Message::Assistant { text, calls } => {
            let said = Some(text.clone()).filter(|text| !text.is_empty());
            said.into_iter().chain(calls.iter().map(|call| call_text(&call.name, &call.arguments))).collect()
        }
        Message::ToolResults { results } => results.iter().map(|result| result.content.clone()).collect(),
    }
}

/// Returns the text of a tool call.
pub(crate) fn call_text(name: &str, arguments: &Value) -> String {
    json!({"name": name, "arguments": arguments}).to_string()
}

#[cfg(test)]
mod tests {
    use prospector_llm::message::ToolResult;

    use super::*;

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    fn result(content: &str) -> Message {
        let content = content.to_owned();
        let one = ToolResult { call_id: "1".into(), name: "t".into(), content, data: None, is_error: false };
        Message::ToolResults { results: vec![one] }
    }

    /// Uses words of one token each, so that tokens can be counted.
    fn check(requests: &[&[Message]], context: usize, billed: usize) {
        let request = |messages: &&[Message]| ChatRequest {
            purpose: Default::default(),
            system: vec![],
            messages: messages.to_vec(),
            tools: vec![],
            max_output_tokens: 1,
        };
        let requests: Vec<ChatRequest> = requests.iter().map(request).collect();
        assert_eq!(count_run(&requests), RunTokens { context, billed });
    }

    #[test]
    fn counts_context_once_and_billing_per_round() {
        let (first, second) = (user("one two three"), result("four five"));
        check(&[std::slice::from_ref(&first), &[first.clone(), second]], 5, 3 + 5);
    }

    #[test]
    fn counts_a_truncated_text_separately() {
        let (first, long, short) = (user("one"), result("four five six seven"), result("four"));
        let requests: [&[Message]; 3] =
            [std::slice::from_ref(&first), &[first.clone(), long], &[first.clone(), short, user("end")]];
        check(&requests, 1 + 4 + 1 + 1, 1 + 5 + 3);
    }

    #[test]
    fn counts_repeated_results_twice() {
        check(&[&[user("one"), result("two"), result("two")]], 3, 3);
    }
}
