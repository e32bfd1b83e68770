//! A workflow as the goal of a run: one turn ends when the model speaks to the user.

use serde_json::json;

use super::tools::Standing;
use crate::{
    goal::{Goal, Judgement, Observe, Said},
    plan::Ended,
};

/// What a model is told when no more calls will be made.
const FINISH: &str = "Tell the user now where this stands, and what comes next.";

pub(super) struct PhaseGoal(pub(super) Standing);

impl Goal for PhaseGoal {
    fn name(&self) -> &str {
        "workflow"
    }

    fn finish(&self) -> &str {
        FINISH
    }

    fn judge(&mut self, said: Said<'_>, observe: &Observe<'_>) -> Judgement {
        let mut machine = self.0.machine();
        if !said.text.trim().is_empty() && (machine.speaks() || machine.is_over()) {
            return Judgement::Accepted;
        }
        let (epoch, phase) = (machine.epoch(), machine.name().to_owned());
        machine.failed(epoch, "there was a text where a call was due");
        let (stopped, next) = (machine.stopped.is_some(), machine.announcement());
        drop(machine);
        self.0.tell(observe);
        if stopped {
            return Judgement::GivenUp(Ended::Stopped);
        }
        let complaint = json!({
            "error": "no_call",
            "message": format!("the user is not spoken to in the phase `{phase}`"),
            "suggestion": "call a tool of the phase, or advance",
        });
        Judgement::Again(next.unwrap_or_else(|| complaint.to_string()))
    }

    fn has_result(&self) -> bool {
        self.0.machine().is_done()
    }

    /// Failures are for the policy of the phase.
    fn ends(&mut self, _: Option<Ended>) -> Option<Ended> {
        self.0.machine().stopped.is_some().then_some(Ended::Stopped)
    }

    fn after_round(&mut self) -> Option<String> {
        self.0.machine().announcement()
    }
}
