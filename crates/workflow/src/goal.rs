//! A workflow as the goal of a run: a turn ends when the model speaks to the user.

use async_trait::async_trait;
use prospector_agent::{
    agent_loop::{Goal, Judgement, Reply},
    event::Observe,
    plan::Ended,
};
use prospector_llm::{
    Message,
    purpose::{Purpose, Utterance},
};
use serde_json::json;

use crate::tools::SharedMachine;

/// The final instruction when no more calls will be made.
const FINISH: &str = "Tell the user the current state and the next step now.";

pub(crate) struct PhaseGoal {
    pub(crate) state: SharedMachine,
    /// The user's messages.
    pub(crate) said: Vec<Utterance>,
    /// Index of the message that announced the phase.
    pub(crate) begins_at: usize,
    /// Whether another phase was announced since the last request.
    pub(crate) is_new: bool,
}

impl PhaseGoal {
    /// Records where the phase was announced, if it was since the last call.
    pub(crate) fn locate(&mut self, messages: &[Message]) {
        if std::mem::take(&mut self.is_new) {
            // The announcement is the first text after the results, or after the model's text, that led to it.
            let is_text = |message: &Message| matches!(message, Message::User { .. });
            self.begins_at = messages.iter().rposition(|message| !is_text(message)).map_or(0, |place| place + 1);
        }
    }

    /// Returns the announcement of a new phase, once.
    fn take_announcement(&mut self) -> Option<String> {
        let announcement = self.state.machine().take_announcement();
        self.is_new |= announcement.is_some();
        announcement
    }
}

#[async_trait]
impl Goal for PhaseGoal {
    fn name(&self) -> &str {
        "workflow"
    }

    fn finish_order(&self) -> &str {
        FINISH
    }

    fn purpose(&mut self, messages: &[Message], _: bool) -> Purpose {
        self.locate(messages);
        let machine = self.state.machine();
        Purpose::Phase {
            workflow: machine.workflow.name.clone(),
            phase: machine.at.map(|_| machine.name().to_owned()),
            begins_at: self.begins_at,
            said: self.said.clone(),
        }
    }

    async fn judge(&mut self, reply: Reply<'_>, observe: &Observe<'_>) -> Judgement {
        let mut machine = self.state.machine();
        if !reply.text.trim().is_empty() && (machine.may_speak() || machine.is_over()) {
            return Judgement::Accepted;
        }
        let (epoch, phase) = (machine.epoch(), machine.name().to_owned());
        machine.note_failure(epoch, "", "text instead of a tool call");
        let stopped = machine.stopped.is_some();
        drop(machine);
        let next = self.take_announcement();
        self.state.report_phases(observe);
        if stopped {
            return Judgement::GivenUp(Ended::Stopped);
        }
        let complaint = json!({
            "error": "no_call",
            "message": format!("the phase `{phase}` does not address the user"),
            "suggestion": "call a tool of the phase, or advance",
        });
        Judgement::Again(next.unwrap_or_else(|| complaint.to_string()))
    }

    fn has_result(&self) -> bool {
        self.state.machine().is_done()
    }

    /// Failures are handled by the policy of the phase.
    fn end_after_round(&mut self, _: Option<Ended>) -> Option<Ended> {
        self.state.machine().stopped.is_some().then_some(Ended::Stopped)
    }

    fn announce_after_round(&mut self) -> Option<String> {
        self.take_announcement()
    }
}
