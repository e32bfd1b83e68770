//! The goal of a run. The loop is independent of plans, answers and phases; goals implement them.

use std::collections::HashSet;

use async_trait::async_trait;
use prospector_core::record::Resource;
use prospector_core::tool::Answer;
use prospector_llm::{Message, message::ToolCall, purpose::Purpose};
use serde_json::Value;

use crate::{
    event::{Observe, QueryRan},
    metrics::Ended,
};

/// A text of the model without tool calls.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    /// The text.
    pub text: &'a str,
    /// Whether it was truncated at the limit of output tokens.
    pub cut: bool,
    /// The names revealed in this run.
    pub seen: &'a HashSet<Resource>,
}

/// The decision on a [`Reply`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// The goal is reached.
    Accepted,
    /// The text is returned to the model for correction, with this message.
    Again(String),
    /// The text is unusable after correction, and the run ends.
    GivenUp(Ended),
}

/// The goal of a run. Two methods are required; the others are hooks.
/// The list of tools is constant during a run, so that the provider's cache stays valid. Calls that are not allowed now are refused, by
/// [`Goal::refuse`] before the calls of a round, or by the tools themselves, in the order of the calls.
#[async_trait]
pub trait Goal: Send {
    /// Returns the order for the model when no calls are left: `Output the plan now.`
    fn finish_order(&self) -> &str;

    /// Judges a text of the model.
    async fn judge(&mut self, reply: Reply<'_>, observe: &Observe<'_>) -> Judgement;

    /// Returns the name of the run in traces: one word, such as `plan`.
    fn name(&self) -> &str {
        "run"
    }

    /// Returns the [`Purpose`] of the next request. `messages` is the conversation as sent; `finish` is whether the model was asked to make
    /// no more calls.
    fn purpose(&mut self, messages: &[Message], finish: bool) -> Purpose {
        let _ = (messages, finish);
        Purpose::Unspecified
    }

    /// Returns whether a result exists that can be returned at the round limit.
    fn has_result(&self) -> bool {
        false
    }

    /// Returns the findings so far, for a request without the conversation; empty if the revealed names suffice.
    fn list_findings(&self) -> String {
        String::new()
    }

    /// Returns why a call is not allowed now; the model gets it as the error `refused`.
    fn refuse(&self, call: &ToolCall) -> Option<String> {
        let _ = call;
        None
    }

    /// Called before each call that runs, in the order of the calls.
    fn before_call(&mut self, call: &ToolCall, observe: &Observe<'_>) {
        let _ = (call, observe);
    }

    /// Called after each call, including refused ones, in the order of the calls. It may change the result that the model gets. Returns the
    /// outcomes of its queries.
    fn after_call(&mut self, call: &ToolCall, given: &mut Result<Answer, Value>) -> Vec<QueryRan> {
        let _ = (call, given);
        Vec::new()
    }

    /// Returns whether the run ends after a round of calls. `failed` is the decision of the loop, which ends a run if every call of
    /// several rounds failed; a goal may have another policy.
    fn end_after_round(&mut self, failed: Option<Ended>) -> Option<Ended> {
        failed
    }

    /// Called after a round of calls. Returns a message for the model in addition to the results.
    fn announce_after_round(&mut self) -> Option<String> {
        None
    }
}
