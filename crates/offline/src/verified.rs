//! Questions that a verified query answers: found by a tool that compares every word, run by another, told with who checked
//! the query. Where none is meant, the question goes on to the part that writes SQL.

use prospector_discovery::DiscoveryTools;
use prospector_llm::{
    ChatRequest, ChatResponse, Message,
    message::{ToolCall, ToolResult},
};
use serde_json::{Value, json};

use crate::calls::items;

const FIND: &str = DiscoveryTools::FIND_VERIFIED_TOOL;
const RUN: &str = DiscoveryTools::RUN_VERIFIED_TOOL;

const WHO: &str =
    "(Answered by the offline planner, a program and not a language model, with a query that a person has checked.)";

/// What a verified query makes of a question.
pub(crate) enum Step {
    /// A call, or the answer.
    Reply(ChatResponse),
    /// Nothing; the conversation goes on after so many messages.
    Nothing(usize),
}

/// The next step of a turn whose messages these are.
pub(crate) fn answer(request: &ChatRequest, question: &str, messages: &[Message], finish: bool) -> Step {
    let has = |name: &str| request.tools.iter().any(|tool| tool.name == name);
    if !has(FIND) || !has(RUN) {
        return Step::Nothing(0);
    }
    let call = |name: &str, arguments: Value| {
        let call = ToolCall { id: name.to_owned(), name: name.to_owned(), arguments };
        Step::Reply(ChatResponse { calls: vec![call], ..ChatResponse::default() })
    };
    let (Some((found, after)), ran) = (result(messages, FIND), result(messages, RUN)) else {
        return if finish { Step::Nothing(0) } else { call(FIND, json!({"question": question, "limit": 1})) };
    };
    let found = found.data.as_ref().filter(|_| !found.is_error);
    let Some(meant) = found.and_then(|found| items(found).find(|item| item["answers"] == true)) else {
        return Step::Nothing(after);
    };
    match ran {
        None if finish => Step::Nothing(after),
        None => call(RUN, json!({"name": meant["name"], "parameters": meant["parameters"]})),
        Some((ran, after)) => match ran.data.as_ref().filter(|_| !ran.is_error) {
            Some(answer) => {
                let text = tell(answer, &meant["parameters"]);
                Step::Reply(ChatResponse { text, ..ChatResponse::default() })
            }
            None => Step::Nothing(after),
        },
    }
}

/// The result of the first call of a tool, and how many messages there are up to it.
pub(crate) fn result<'a>(messages: &'a [Message], tool: &str) -> Option<(&'a ToolResult, usize)> {
    let mut place = None;
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::User { .. } => {}
            Message::Assistant { calls, .. } => place = calls.iter().position(|call| call.name == tool),
            Message::ToolResults { results } => {
                if let Some(result) = place.and_then(|place| results.get(place)) {
                    return Some((result, at + 1));
                }
            }
        }
    }
    None
}

/// The answer in words.
fn tell(answer: &Value, given: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let rows: Vec<&Vec<Value>> = answer["rows"].as_array().into_iter().flatten().filter_map(Value::as_array).collect();
    let columns: Vec<String> = answer["columns"].as_array().into_iter().flatten().map(text).collect();
    let question = text(&answer["question"]);
    let mut told = match rows.as_slice() {
        [] => format!("No rows: {} [Q1].", question.trim_end_matches(['?', '.'])),
        [row] if row.len() == 1 => {
            let value = if row[0].is_null() { "not known: no row fits".to_owned() } else { text(&row[0]) };
            format!("{} is {value} [Q1].", columns.first().map_or("It", String::as_str).replace('_', " "))
        }
        _ => format!("{question} [Q1]\n\n{{{{Q1}}}}"),
    };
    let verified = &answer["verified"];
    // Items of a list have the reference of the line before it.
    told.push_str(&format!(
        "\n\nVerified [Q1]:\n\n- The query `{}` was checked by {} on {}.",
        text(&answer["name"]),
        text(&verified["by"]),
        text(&verified["on"])
    ));
    let parameters: Vec<String> = (answer["parameters"].as_object().into_iter().flatten())
        .map(|(name, value)| {
            let default = if given.get(name).is_none() { " (as the question names none)" } else { "" };
            format!("{name} = {}{default}", text(value))
        })
        .collect();
    if !parameters.is_empty() {
        told.push_str(&format!("\n- It ran with {}.", parameters.join(", ")));
    }
    if let Some(description) = answer["description"].as_str() {
        told.push_str(&format!("\n- {description}"));
    }
    format!("{told}\n\n{WHO}")
}
