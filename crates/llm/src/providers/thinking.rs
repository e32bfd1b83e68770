//! What a model thought before it answered, kept so that it can be given back.
//!
//! Claude models that think expect their signed thinking back with the answer it led to, unchanged, and only while
//! everything before it is unchanged too. The conversation as this crate knows it has no place for it, so a provider keeps
//! the thinking of its last answers under a fingerprint of the request that was answered.

use std::{collections::VecDeque, sync::Mutex};

use genai::chat::ContentPart;

/// More than the rounds of all conversations that go on at the same time.
const KEPT: usize = 256;

#[derive(Default)]
pub(super) struct Thinking(Mutex<VecDeque<(u64, Vec<ContentPart>)>>);

impl Thinking {
    pub(super) fn keep(&self, fingerprint: u64, parts: Vec<ContentPart>) {
        if parts.is_empty() {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((fingerprint, parts));
    }

    /// The thinking that the answer to that request began with.
    pub(super) fn recall(&self, fingerprint: u64) -> Vec<ContentPart> {
        let kept = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        kept.iter().rev().find(|(key, _)| *key == fingerprint).map(|(_, parts)| parts.clone()).unwrap_or_default()
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
    fn only_the_last_answers_are_kept() {
        let thinking = Thinking::default();
        for key in 0..=KEPT as u64 {
            thinking.keep(key, vec![ContentPart::ThoughtSignature("s".into())]);
        }
        check(&thinking, 0, &[]);
        check(&thinking, 1, &["s"]);
    }
}
