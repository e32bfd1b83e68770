//! What a run is to produce. The loop knows nothing of plans, answers or phases: a goal does.

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

/// The text that a model gave without calling anything.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    /// The text.
    pub text: &'a str,
    /// Whether it was cut at the most tokens of an answer.
    pub cut: bool,
    /// The names that were revealed in this run.
    pub seen: &'a HashSet<Resource>,
}

/// What is done with the text of a [`Reply`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It is what was asked for.
    Accepted,
    /// The model is told this, and asked again.
    Again(String),
    /// It is not, and asking again did not help.
    GivenUp(Ended),
}

/// What a run is to produce, and how it is told. Two methods are required; the others see what happens between.
///
/// The list of tools stays the same during a run, so that a provider's cache holds: what may not be called now is refused,
/// by [`Goal::refuse`] before the calls of a round, or by the tools themselves, in the order of the calls.
#[async_trait]
pub trait Goal: Send {
    /// What the model is to do when no more calls will be made, as an order: `Output the plan now.`
    fn finish_order(&self) -> &str;

    /// Takes the text that a model gave.
    async fn judge(&mut self, reply: Reply<'_>, observe: &Observe<'_>) -> Judgement;

    /// What a run to it is called where runs are traced: one word, such as `plan`.
    fn name(&self) -> &str {
        "run"
    }

    /// What the next request asks for: see [`Purpose`]. `messages` is the conversation as it is sent; `finish` says that the
    /// model was told to make no more calls.
    fn purpose(&mut self, messages: &[Message], finish: bool) -> Purpose {
        let _ = (messages, finish);
        Purpose::Unspecified
    }

    /// Whether there is a result already that is worth returning when the rounds are used up.
    fn has_result(&self) -> bool {
        false
    }

    /// What was found out so far, for a model that cannot be sent the whole conversation; empty where the names that were
    /// revealed say it.
    fn list_findings(&self) -> String {
        String::new()
    }

    /// Why this call must not be made now; the model is shown it as the error `refused`.
    fn refuse(&self, call: &ToolCall) -> Option<String> {
        let _ = call;
        None
    }

    /// A call is about to be made, in the order of the calls.
    fn before_call(&mut self, call: &ToolCall, observe: &Observe<'_>) {
        let _ = (call, observe);
    }

    /// A call was answered, in the order of the calls, refused ones included; what the model is shown may be changed.
    /// Returns what its queries gave.
    fn after_call(&mut self, call: &ToolCall, given: &mut Result<Answer, Value>) -> Vec<QueryRan> {
        let _ = (call, given);
        Vec::new()
    }

    /// Whether the run ends after a round of calls. `failed` is what the loop says of it: that every call failed, and that
    /// this is a reason to end. A goal that has a policy of its own answers otherwise.
    fn end_after_round(&mut self, failed: Option<Ended>) -> Option<Ended> {
        failed
    }

    /// A round of calls is over: what the model is told beside the results.
    fn announce_after_round(&mut self) -> Option<String> {
        None
    }
}
