//! What was heard of an answer so far, whoever gives it, and what it comes to at its end.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use serde_json::Value;

use super::{
    answer::{MAX_ANSWER_BYTES, arguments, empty},
    failure::{Failure, Peer},
};
use crate::{
    ChatResponse,
    message::{ToolCall, Usage},
};

#[derive(Debug, Default)]
pub(super) struct Accumulator {
    pub(super) text: String,
    /// What the model thought aloud.
    pub(super) thought: String,
    /// The signature that came with no call.
    pub(super) signature: Option<String>,
    /// Ids of calls and their signatures.
    pub(super) signatures: Vec<(String, String)>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) usage: Usage,
    /// Why it stopped, in the provider's words.
    pub(super) stop: Option<String>,
    /// Whether it stopped at the most output tokens.
    pub(super) cut: bool,
    /// Whether any value of the protocol came in.
    pub(super) begun: bool,
    /// Bytes of calls and signatures.
    pub(super) size: usize,
}

impl Accumulator {
    /// Takes in a call; an id that is missing or taken is replaced.
    pub(super) fn call(&mut self, id: Option<&str>, name: &str, given: Value, signature: Option<&str>) {
        let taken = |id: &str| id.is_empty() || self.calls.iter().any(|call| call.id == id);
        let id = id.filter(|id| !taken(id)).map_or_else(made_id, str::to_owned);
        self.size += name.len() + given.to_string().len() + signature.map_or(0, str::len);
        if let Some(signature) = signature {
            self.signatures.push((id.clone(), signature.to_owned()));
        }
        self.calls.push(ToolCall { id, name: name.to_owned(), arguments: arguments(given, self.cut) });
    }

    pub(super) fn check_length(&self, peer: &Peer) -> Result<(), Failure> {
        match self.text.len() + self.thought.len() + self.size > MAX_ANSWER_BYTES {
            true => Err(peer.nonsense("it does not end")),
            false => Ok(()),
        }
    }

    /// The whole answer.
    pub(super) fn response(self, peer: &Peer) -> Result<ChatResponse, Failure> {
        if !self.begun {
            return Err(peer.nonsense("it holds no event of the protocol"));
        }
        let Some(stop) = &self.stop else { return Err(peer.nonsense("it ended early")) };
        if self.text.trim().is_empty() && self.calls.is_empty() {
            return Err(empty(peer, self.cut, Some(stop)));
        }
        Ok(ChatResponse { text: self.text, calls: self.calls, usage: self.usage, cut: self.cut })
    }
}

const MADE: &str = "made-";

/// An id that no other call has: neither in this process nor, since it begins with the time, in a conversation that an
/// earlier one kept.
fn made_id() -> String {
    static START: OnceLock<u64> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let start = START.get_or_init(|| {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_micros()).unwrap_or_default()
    });
    format!("{MADE}{start:x}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The id as its provider knows it; `None` for one that was made here.
pub(super) fn known_id(id: &str) -> Option<&str> {
    (!id.is_empty() && !id.starts_with(MADE)).then_some(id)
}

/// A count of tokens; 0 where there is none.
pub(super) fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;

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
