//! Stores the thinking of models so that it can be sent back.
//!
//! Claude models that think expect their signed thinking back with the response it led to, unchanged, and only while everything before it
//! is unchanged too. The provider-independent conversation has no place for it, so a provider stores the thinking of its last responses
//! under a fingerprint of the request.
//!
//! Gemini models sign single calls, and expect each signature back with its call, regardless of changes in earlier turns. Those are stored
//! under the id of the call.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Mutex,
};

use genai::chat::ContentPart;
use serde::Serialize;

/// More than the rounds of all concurrent conversations.
const KEPT: usize = 256;
/// The same for calls.
const SIGNATURES_KEPT: usize = 1024;

#[derive(Default)]
pub(super) struct Thinking {
    answers: Mutex<VecDeque<(u64, Vec<ContentPart>)>>,
    signatures: Mutex<VecDeque<(String, String)>>,
}

impl Thinking {
    pub(super) fn keep(&self, fingerprint: u64, parts: Vec<ContentPart>) {
        if parts.is_empty() {
            return;
        }
        let mut kept = self.answers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((fingerprint, parts));
    }

    /// Returns the thinking that the response to that request started with.
    pub(super) fn recall(&self, fingerprint: u64) -> Vec<ContentPart> {
        let kept = self.answers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        kept.iter().rev().find(|(key, _)| *key == fingerprint).map(|(_, parts)| parts.clone()).unwrap_or_default()
    }

    /// Stores the signature of a call.
    pub(super) fn sign(&self, call: &str, signature: String) {
        let mut kept = self.signatures.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if kept.len() == SIGNATURES_KEPT {
            kept.pop_front();
        }
        kept.push_back((call.to_owned(), signature));
    }

    /// Returns the signature of the call with that id.
    pub(super) fn signature(&self, call: &str) -> Option<String> {
        let kept = self.signatures.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        kept.iter().rev().find(|(id, _)| id == call).map(|(_, signature)| signature.clone())
    }
}

/// A hash of everything that was sent so far.
#[derive(Default)]
pub(super) struct Fingerprint(DefaultHasher);

impl Fingerprint {
    pub(super) fn add(&mut self, part: &impl Serialize) {
        // Strings, numbers and JSON values always serialize.
        serde_json::to_string(part).unwrap_or_default().hash(&mut self.0);
    }

    pub(super) fn value(&self) -> u64 {
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(thinking: &Thinking, fingerprint: u64, expected: &[&str]) {
        let parts = thinking.recall(fingerprint);
        let texts: Vec<&str> = parts.iter().filter_map(|part| part.as_thought_signature()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn the_latest_thinking_of_a_request_is_given_back() {
        let thinking = Thinking::default();
        thinking.keep(1, vec![ContentPart::ThoughtSignature("first".into())]);
        thinking.keep(1, vec![ContentPart::ThoughtSignature("second".into())]);
        thinking.keep(2, Vec::new());
        check(&thinking, 1, &["second"]);
        check(&thinking, 2, &[]);
    }

    #[test]
    fn signatures_belong_to_calls() {
        let thinking = Thinking::default();
        for n in 0..=SIGNATURES_KEPT {
            thinking.sign(&format!("call {n}"), format!("signature {n}"));
        }
        assert_eq!(thinking.signature("call 0"), None, "only the last ones are kept");
        assert_eq!(thinking.signature("call 1").as_deref(), Some("signature 1"));
        assert_eq!(thinking.signature("another"), None);
    }

    #[test]
    fn only_the_last_answers_are_kept() {
        let thinking = Thinking::default();
        for key in 0..=KEPT as u64 {
            thinking.keep(key, vec![ContentPart::ThoughtSignature("s".into())]);
        }
        check(&thinking, 0, &[]);
        check(&thinking, 1, &["s"]);
    }
}
