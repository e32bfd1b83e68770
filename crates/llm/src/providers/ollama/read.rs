//! Reads responses of Ollama: one value per line, the last one with the counts.

use serde_json::Value;

use super::super::{
    accumulator::{Accumulator, count},
    failure::{Failure, Peer},
};

/// Adds a line, and returns its text.
pub(in super::super) fn read(accumulator: &mut Accumulator, line: &Value, peer: &Peer) -> Result<String, Failure> {
    // The HTTP status already reported success.
    if !line["error"].is_null() {
        return Err(peer.report(line));
    }
    let message = &line["message"];
    accumulator.has_started |= message.is_object() || line["done"].is_boolean();
    accumulator.thought.push_str(message["thinking"].as_str().unwrap_or_default());
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let name = function["name"].as_str().unwrap_or_default();
        accumulator.call(call["id"].as_str(), name, function["arguments"].clone(), None);
    }
    if line["done"] == true {
        let reason = line["done_reason"].as_str().unwrap_or("stop");
        accumulator.stop = Some(reason.to_owned());
        accumulator.cut = reason == "length";
        accumulator.usage.input_tokens = count(&line["prompt_eval_count"]);
        accumulator.usage.output_tokens = count(&line["eval_count"]);
        accumulator.usage.cached_tokens = count(&line["prompt_eval_cached_count"]);
    }
    let text = message["content"].as_str().unwrap_or_default().to_owned();
    accumulator.text.push_str(&text);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::{ChatResponse, message::Usage};

    fn hear(lines: &[Value]) -> Result<ChatResponse, Failure> {
        let peer = Peer { model: "m".into(), origin: "http://h".into(), key: None, timeout: Duration::from_secs(1) };
        let mut accumulator = Accumulator::default();
        for line in lines {
            read(&mut accumulator, line, &peer)?;
        }
        accumulator.response(&peer)
    }

    fn said(message: Value) -> Value {
        json!({"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false})
    }

    fn end(reason: &str) -> Value {
        json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
               "prompt_eval_count": 26, "prompt_eval_cached_count": 20, "eval_count": 9})
    }

    #[track_caller]
    fn check(lines: &[Value], expected: &str) {
        let error = hear(lines).unwrap_err().error.to_string();
        assert!(error.ends_with(expected), "{error}");
    }

    #[test]
    fn text_thoughts_and_calls_are_told_apart() {
        let call = |arguments: Value| json!({"function": {"index": 0, "name": "t", "arguments": arguments}});
        let answer = hear(&[
            said(json!({"role": "assistant", "content": "", "thinking": "Hm."})),
            said(json!({"role": "assistant", "content": "Let me."})),
            said(json!({"role": "assistant", "content": "", "tool_calls": [call(json!({"a": 1})), call(json!({}))]})),
            said(json!({"role": "assistant", "content": "", "tool_calls": [call(json!("{\"a\": 2}"))]})),
            end("stop"),
        ])
        .unwrap();
        assert_eq!(answer.text, "Let me.");
        let arguments: Vec<&Value> = answer.calls.iter().map(|call| &call.arguments).collect();
        assert_eq!(arguments, [&json!({"a": 1}), &json!({}), &json!({"a": 2})]);
        assert!(answer.calls[0].id != answer.calls[1].id);
        assert_eq!(answer.usage, Usage { input_tokens: 26, output_tokens: 9, cached_tokens: 20 });
        assert!(!answer.cut);
    }

    #[test]
    fn an_answer_at_the_limit_is_cut() {
        assert!(hear(&[said(json!({"content": "One"})), end("length")]).unwrap().cut);
        check(&[said(json!({"thinking": "Hm."})), end("length")], "the limit of output tokens before any text");
    }

    #[test]
    fn an_end_is_needed_and_errors_are_told() {
        check(&[said(json!({"content": "One"}))], "the response ended early");
        check(&[json!({"choices": []})], "the response contains no event of the protocol");
        check(&[end("load")], "the response is empty (stop reason `load`)");
        let error = json!({"error": "an error was encountered while running the model"});
        check(
            &[said(json!({"content": "One"})), error],
            "the provider reports: an error was encountered while running the model",
        );
    }
}
