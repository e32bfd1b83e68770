//! The cost of a run in tokens (`o200k` vocabulary): text, calls and results as they are, without the overhead of the
//! message format of a provider.
//!
//! Three counts:
//!
//! - *context*: each distinct token once: system prompt, map, tool definitions, the question, calls and results;
//! - *billed*: the input of all rounds added up, as billed without a cache;
//! - *cached*: the same, with prefixes shared with an earlier request at the price of cached input, in tokens of plain
//!   input. The static prefix (system prompt and tool definitions) counts as cached from the first round on, since an
//!   earlier question has cached it; likewise a prompt with everything. The price of cache writes is ignored.

use std::collections::HashMap;

use prospector_core::tokens;
use prospector_llm::{Message, models::ModelInfo};
use serde::Serialize;
use serde_json::{Value, json};

use crate::conversation::Conversation;

/// The price of cached input relative to plain input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CachePrice(f64);

impl CachePrice {
    /// Returns the price for a model; without a price, there is no cache.
    pub(crate) fn of(model: &ModelInfo) -> CachePrice {
        CachePrice(
            model.price.map_or(1.0, |price| price.cached_input / price.input.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0),
        )
    }

    /// Returns the cost of a single-round prompt whose first `prefix` tokens are cached.
    pub(crate) fn one_round(self, prefix: usize, rest: usize) -> f64 {
        self.0 * prefix as f64 + rest as f64
    }
}

/// Context tokens by part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ContextParts {
    /// Instructions, map, pinned tables, metadata.
    pub(crate) system: usize,
    /// Tool definitions.
    pub(crate) tools: usize,
    /// The question, and other messages of the program.
    pub(crate) asked: usize,
    /// Text and calls of the model.
    pub(crate) calls: usize,
    /// Tool results.
    pub(crate) results: usize,
}

impl ContextParts {
    pub(crate) fn total(&self) -> usize {
        self.system + self.tools + self.asked + self.calls + self.results
    }
}

/// The cost of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct RunTokens {
    pub(crate) parts: ContextParts,
    pub(crate) billed: usize,
    pub(crate) cached: f64,
    pub(crate) output: usize,
}

/// Counts the tokens of a run.
pub(crate) fn count_run(run: &Conversation, price: CachePrice) -> RunTokens {
    let system: usize = run.system.iter().map(|text| tokens::count(text)).sum();
    let tools = if run.tools.is_empty() { 0 } else { tokens::count(&json!(run.tools).to_string()) };
    let mut spent =
        RunTokens { parts: ContextParts { system, tools, ..ContextParts::default() }, ..RunTokens::default() };
    // A text at one position counts once; a text that was truncated later counts as another one.
    let mut known: HashMap<(usize, usize, String), usize> = HashMap::new();
    for (round, request) in run.rounds.iter().zip(run.requests()) {
        let (mut fresh, mut again) = (0, system + tools);
        for (at, message) in request.into_iter().enumerate() {
            for (part, (text, of)) in texts(message).into_iter().enumerate() {
                let key = (at, part, text);
                let size = *known.entry(key).or_insert_with_key(|(_, _, text)| {
                    let size = tokens::count(text);
                    let sum = match of {
                        Part::Asked => &mut spent.parts.asked,
                        Part::Calls => &mut spent.parts.calls,
                        Part::Results => &mut spent.parts.results,
                    };
                    *sum += size;
                    size
                });
                if at < round.kept { again += size } else { fresh += size }
            }
        }
        spent.billed += fresh + again;
        spent.cached += price.one_round(again, fresh);
        let said = tokens::count(&round.response.text);
        spent.output += said
            + round
                .response
                .calls
                .iter()
                .map(|call| tokens::count(&call_text(&call.name, &call.arguments)))
                .sum::<usize>();
    }
    spent
}

/// The part of the context to which a text belongs.
enum Part {
    Asked,
    Calls,
    Results,
}

fn texts(message: &Message) -> Vec<(String, Part)> {
    match message {
        Message::User { text } => vec![(text.clone(), Part::Asked)],
        Message::Assistant { text, calls } => {
            let said = Some(text.clone()).filter(|text| !text.is_empty());
            said.into_iter()
                .chain(calls.iter().map(|call| call_text(&call.name, &call.arguments)))
                .map(|text| (text, Part::Calls))
                .collect()
        }
        Message::ToolResults { results } => {
            results.iter().map(|result| (result.content.clone(), Part::Results)).collect()
        }
    }
}

/// Returns the text of a tool call.
pub(crate) fn call_text(name: &str, arguments: &Value) -> String {
    json!({"name": name, "arguments": arguments}).to_string()
}

#[cfg(test)]
mod tests {
    use prospector_llm::{message::ToolResult, models::capability};

    use super::*;
    use crate::conversation::tests::run_of;

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    fn result(content: &str) -> Message {
        let content = content.to_owned();
        let one = ToolResult { call_id: "1".into(), name: "t".into(), content, data: None, is_error: false };
        Message::ToolResults { results: vec![one] }
    }

    /// Uses words of one token each, so that tokens can be counted.
    fn check(requests: &[&[Message]], model: &str, context: usize, billed: usize, cached: f64) {
        let spent = count_run(&run_of(requests), CachePrice::of(capability(model)));
        assert_eq!((spent.parts.total(), spent.billed), (context, billed), "{spent:?}");
        assert!((spent.cached - cached).abs() < 1e-9, "{spent:?}");
    }

    #[test]
    fn counts_context_once_and_billing_per_round() {
        let (first, second) = (user("one two three"), result("four five"));
        let requests: [&[Message]; 2] = [std::slice::from_ref(&first), &[first.clone(), second]];
        check(&requests, "offline", 5, 3 + 5, 8.0);
        // The three tokens repeated by the second request cost a tenth.
        check(&requests, "claude-sonnet-4-5", 5, 8, 3.0 + 0.3 + 2.0);
    }

    #[test]
    fn counts_a_truncated_text_separately() {
        let (first, long, short) = (user("one"), result("four five six seven"), result("four"));
        let requests: [&[Message]; 3] =
            [std::slice::from_ref(&first), &[first.clone(), long], &[first.clone(), short, user("end")]];
        check(&requests, "offline", 1 + 4 + 1 + 1, 1 + 5 + 3, 9.0);
        check(&requests, "claude-sonnet-4-5", 7, 9, 1.0 + 0.1 + 4.0 + 0.1 + 2.0);
    }

    #[test]
    fn counts_repeated_results_twice() {
        let requests: [&[Message]; 1] = [&[user("one"), result("two"), result("two")]];
        check(&requests, "offline", 3, 3, 3.0);
    }
}
