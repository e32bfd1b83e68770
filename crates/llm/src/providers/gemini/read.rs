//! Reads responses of the Gemini API: pieces of one `GenerateContentResponse`.

use serde_json::Value;

use super::super::{
    accumulator::{Accumulator, count},
    failure::{Failure, Peer},
};

/// Adds a piece, and returns its text.
pub(in super::super) fn read(accumulator: &mut Accumulator, piece: &Value, peer: &Peer) -> Result<String, Failure> {
    // Some errors are wrapped in a list.
    if let Some(error) = [piece, &piece[0]].into_iter().find(|piece| !piece["error"].is_null()) {
        return Err(peer.report(error));
    }
    if let Some(reason) = piece["promptFeedback"]["blockReason"].as_str() {
        return Err(withheld(
            peer,
            "the provider blocked the prompt",
            reason,
            &piece["promptFeedback"]["blockReasonMessage"],
        ));
    }
    let candidate = &piece["candidates"][0];
    accumulator.has_started |= candidate.is_object() || piece["usageMetadata"].is_object();
    usage(accumulator, &piece["usageMetadata"]);
    let stop = candidate["finishReason"].as_str().filter(|stop| *stop != "FINISH_REASON_UNSPECIFIED");
    // Affects how arguments are parsed.
    accumulator.cut |= stop == Some("MAX_TOKENS");
    let mut text = String::new();
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        take_in(accumulator, part, &mut text);
    }
    accumulator.text.push_str(&text);
    match stop {
        Some("STOP" | "MAX_TOKENS") => accumulator.stop = stop.map(str::to_owned),
        Some(reason) => {
            let failure = withheld(peer, "the provider stopped the response", reason, &candidate["finishMessage"]);
            // The model wrote an invalid call; a retry may succeed.
            let again = matches!(reason, "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL");
            return Err(Failure { again, ..failure });
        }
        None => {}
    }
    Ok(text)
}

fn take_in(accumulator: &mut Accumulator, part: &Value, text: &mut String) {
    let signature = part["thoughtSignature"].as_str().filter(|signature| !signature.is_empty());
    let call = &part["functionCall"];
    if call.is_object() {
        let name = call["name"].as_str().unwrap_or_default();
        accumulator.call(call["id"].as_str(), name, call["args"].clone(), signature);
        return;
    }
    if let Some(signature) = signature {
        accumulator.signature = Some(signature.to_owned());
    }
    let said = part["text"].as_str().unwrap_or_default();
    if part["thought"] == true {
        accumulator.thought.push_str(said);
    } else {
        text.push_str(said);
    }
}

/// Updates the usage: counts are cumulative, and missing ones are unchanged.
fn usage(accumulator: &mut Accumulator, said: &Value) {
    if said["promptTokenCount"].is_u64() {
        accumulator.usage.input_tokens = count(&said["promptTokenCount"]) + count(&said["toolUsePromptTokenCount"]);
    }
    if said["cachedContentTokenCount"].is_u64() {
        accumulator.usage.cached_tokens = count(&said["cachedContentTokenCount"]);
    }
    // Thinking is billed as output, but not included in the candidates.
    if said["candidatesTokenCount"].is_u64() || said["thoughtsTokenCount"].is_u64() {
        accumulator.usage.output_tokens = count(&said["candidatesTokenCount"]) + count(&said["thoughtsTokenCount"]);
    }
}

fn withheld(peer: &Peer, what: &str, reason: &str, message: &Value) -> Failure {
    match message.as_str().filter(|message| !message.is_empty()) {
        Some(message) => peer.nonsense(&format!("{what} ({reason}): {message}")),
        None => peer.nonsense(&format!("{what} ({reason})")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::{ChatResponse, message::Usage};

    fn peer() -> Peer {
        Peer { model: "m".into(), origin: "http://h".into(), key: None, timeout: Duration::from_secs(1) }
    }

    fn piece(parts: Value) -> Value {
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
    }

    fn end(reason: &str) -> Value {
        json!({"candidates": [{"finishReason": reason, "index": 0}]})
    }

    fn hear(pieces: &[Value]) -> Result<(Accumulator, ChatResponse), Failure> {
        let mut accumulator = Accumulator::default();
        for piece in pieces {
            read(&mut accumulator, piece, &peer())?;
        }
        let copy = Accumulator {
            signature: accumulator.signature.take(),
            signatures: std::mem::take(&mut accumulator.signatures),
            ..Accumulator::default()
        };
        Ok((copy, accumulator.response(&peer())?))
    }

    /// Compares the end of the error, and whether to retry.
    #[track_caller]
    fn check(pieces: &[Value], expected: &str, again: bool) {
        let failure = hear(pieces).err().unwrap();
        assert!(failure.error.to_string().ends_with(expected), "{}", failure.error);
        assert_eq!(failure.again, again, "{expected}");
    }

    #[test]
    fn text_thoughts_calls_and_signatures_are_told_apart() {
        let (kept, answer) = hear(&[
            piece(json!([{"text": "Hm.", "thought": true}, {"text": "Let "}])),
            json!({"usageMetadata": {"promptTokenCount": 10}}),
            piece(json!([{"text": "me.", "thoughtSignature": "t"}])),
            piece(json!([
                {"functionCall": {"name": "a", "args": {"x": 1}}, "thoughtSignature": "s"},
                {"functionCall": {"name": "a"}},
            ])),
            piece(json!([{"functionCall": {"name": "a", "args": {}, "id": "given"}}, {"inlineData": {}}])),
            end("STOP"),
        ])
        .unwrap();
        assert_eq!(answer.text, "Let me.");
        assert_eq!(kept.signature.as_deref(), Some("t"));
        let [first, second, third] = answer.calls.as_slice() else { panic!("{:?}", answer.calls) };
        assert_eq!((&first.arguments, &second.arguments), (&json!({"x": 1}), &json!({})));
        assert_eq!(third.id, "given");
        assert!(first.id != second.id);
        assert_eq!(kept.signatures, [(first.id.clone(), "s".to_owned())]);
    }

    #[test]
    fn usage_counts_thoughts_as_output_and_the_last_count_stays() {
        let (_, answer) = hear(&[
            json!({"candidates": [{"content": {"parts": [{"text": "a"}]}}],
                   "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 80, "thoughtsTokenCount": 5}}),
            json!({"candidates": [{"finishReason": "MAX_TOKENS"}],
                   "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 7, "thoughtsTokenCount": 9}}),
            json!({"usageMetadata": {}}),
        ])
        .unwrap();
        assert_eq!(answer.usage, Usage { input_tokens: 100, output_tokens: 16, cached_tokens: 80 });
        assert!(answer.cut);
    }

    #[test]
    fn what_the_provider_withholds_is_said_with_its_reason() {
        let blocked =
            json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 4}});
        check(&[blocked], "the provider blocked the prompt (PROHIBITED_CONTENT)", false);
        let text = piece(json!([{"text": "One"}]));
        for reason in ["SAFETY", "RECITATION", "OTHER"] {
            check(&[text.clone(), end(reason)], &format!("the provider stopped the response ({reason})"), false);
        }
        let malformed = json!({"candidates": [{
            "content": {}, "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed function call: print(",
        }]});
        check(&[malformed], "(MALFORMED_FUNCTION_CALL): Malformed function call: print(", true);
    }

    #[test]
    fn an_end_is_needed() {
        check(&[], "the response contains no event of the protocol", false);
        check(&[json!({"choices": []})], "the response contains no event of the protocol", false);
        check(&[piece(json!([{"text": "One"}]))], "the response ended early", false);
        check(&[end("STOP")], "the response is empty (stop reason `STOP`)", false);
        check(&[end("MAX_TOKENS")], "the limit of output tokens before any text", false);
    }

    #[test]
    fn an_error_in_the_stream_is_reported_with_its_status() {
        let error = json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
        check(std::slice::from_ref(&error), "the provider responded with status 503: The model is overloaded.", true);
        check(&[json!([error])], "the provider responded with status 503: The model is overloaded.", true);
    }
}
