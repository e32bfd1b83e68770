//! Accumulates a streamed response of any provider.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use serde_json::{Map, Value};

use super::failure::{Failure, Peer};
use crate::{
    ChatResponse,
    message::{ToolCall, Usage},
};

/// Size limit of a response, in bytes; a model that repeats itself on a server without a limit never stops.
pub(super) const MAX_ANSWER_BYTES: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct Accumulator {
    pub(super) text: String,
    /// The model's thinking text.
    pub(super) thought: String,
    /// A signature that belongs to no call.
    pub(super) signature: Option<String>,
    /// Signatures with the ids of their calls.
    pub(super) signatures: Vec<(String, String)>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) usage: Usage,
    /// Stop reason, as the provider names it; empty if it gives none.
    pub(super) stop: Option<String>,
    /// Whether it stopped at the limit of output tokens.
    pub(super) cut: bool,
    /// Whether any value of the protocol was received.
    pub(super) has_started: bool,
    /// Size of calls, signatures and thinking that is not stored as text, in bytes.
    pub(super) size: usize,
}

impl Accumulator {
    /// Adds a call. A missing or duplicate id is replaced: some local servers return the same id for every call, or none, but results are
    /// matched by id.
    pub(super) fn call(&mut self, id: Option<&str>, name: &str, given: Value, signature: Option<&str>) {
        let taken = |id: &str| id.is_empty() || self.calls.iter().any(|call| call.id == id);
        let id = id.filter(|id| !taken(id)).map_or_else(made_id, str::to_owned);
        self.size += name.len() + given.to_string().len() + signature.map_or(0, str::len);
        if let Some(signature) = signature {
            self.signatures.push((id.clone(), signature.to_owned()));
        }
        self.calls.push(ToolCall { id, name: name.to_owned(), arguments: arguments(given, self.cut) });
    }

    /// Checks the size of the response, including `pending` bytes that were received and not added.
    pub(super) fn check_length(&self, peer: &Peer, pending: usize) -> Result<(), Failure> {
        match self.text.len() + self.thought.len() + self.size + pending > MAX_ANSWER_BYTES {
            true => Err(peer.nonsense("the response exceeds the size limit")),
            false => Ok(()),
        }
    }

    /// Returns the complete response.
    pub(super) fn response(self, peer: &Peer) -> Result<ChatResponse, Failure> {
        if !self.has_started {
            return Err(peer.nonsense("the response contains no event of the protocol"));
        }
        let Some(stop) = &self.stop else { return Err(peer.nonsense("the response ended early")) };
        if self.text.trim().is_empty() && self.calls.is_empty() {
            return Err(peer.nonsense(&match stop.as_str() {
                _ if self.cut => "the response reached the limit of output tokens before any text".to_owned(),
                "" => "the response is empty".to_owned(),
                stop => format!("the response is empty (stop reason `{stop}`)"),
            }));
        }
        Ok(ChatResponse { text: self.text, calls: self.calls, usage: self.usage, cut: self.cut })
    }
}

const MADE: &str = "made-";

/// Returns an id that is unique in this process and, since it starts with the time, in a stored conversation of an earlier one.
fn made_id() -> String {
    static START: OnceLock<u64> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let start = START.get_or_init(|| {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_micros()).unwrap_or_default()
    });
    format!("{MADE}{start:x}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Returns the id if its provider issued it; `None` for one generated here.
pub(super) fn known_id(id: &str) -> Option<&str> {
    (!id.is_empty() && !id.starts_with(MADE)).then_some(id)
}

/// Normalises arguments: invalid JSON stays a string, missing arguments are an empty object unless the response was truncated, and doubly
/// encoded objects are decoded.
fn arguments(arguments: Value, cut: bool) -> Value {
    match arguments {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) if text.trim().is_empty() && !cut => Value::Object(Map::new()),
        Value::String(text) => {
            serde_json::from_str::<Map<String, Value>>(&text).map_or(Value::String(text), Value::Object)
        }
        other => other,
    }
}

/// Returns a token count, or 0 if it is missing.
pub(super) fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(given: Value, cut: bool, expected: Value) {
        assert_eq!(arguments(given, cut), expected);
    }

    #[test]
    fn arguments_are_taken_as_they_can_be() {
        check(json!({"a": 1}), false, json!({"a": 1}));
        check(json!(""), false, json!({}));
        check(json!(""), true, json!(""));
        check(json!(null), false, json!({}));
        check(json!("{\"a\": 1}"), false, json!({"a": 1}));
        check(json!("{\"a\": "), true, json!("{\"a\": "));
        check(json!([1]), false, json!([1]));
    }

    #[test]
    fn every_call_has_an_id_of_its_own() {
        let mut accumulator = Accumulator::default();
        for id in [None, Some(""), Some("a"), Some("a"), None] {
            accumulator.call(id, "f", json!({}), None);
        }
        let ids: HashSet<&str> = accumulator.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids.len(), 5, "{ids:?}");
        let known: Vec<Option<&str>> = accumulator.calls.iter().map(|call| known_id(&call.id)).collect();
        assert_eq!(known, [None, None, Some("a"), None, None]);
    }
}
