//! The tools of a workflow: calls are permitted or refused in their order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prospector_core::tool::{Answer, ToolError, ToolSpec, Toolset};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::RwLock;

use prospector_agent::{
    agent_loop::Tools,
    event::{Event, Observe},
};

use crate::{definition::ADVANCE, machine::Machine};

const DESCRIPTION: &str =
    "Advances to the next phase of the workflow. Refused while prerequisites are missing; the error lists them.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Advance {
    /// The next phase, if there are several transitions.
    #[serde(default)]
    phase: Option<String>,
    /// Information for the next phases, if the phase requires a note.
    #[serde(default)]
    note: Option<String>,
}

/// The state of a workflow, shared by its tools and its goal.
#[derive(Clone)]
pub(crate) struct SharedMachine(Arc<Mutex<Machine>>);

impl SharedMachine {
    pub(crate) fn new(machine: Machine) -> Self {
        SharedMachine(Arc::new(Mutex::new(machine)))
    }

    pub(crate) fn machine(&self) -> MutexGuard<'_, Machine> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports the phases entered since the last call.
    pub(crate) fn report_phases(&self, observe: &Observe<'_>) {
        let news = self.machine().take_entered();
        news.into_iter().for_each(|entered| observe(Event::Phase { name: entered.phase, reason: entered.reason }));
    }
}

/// All tools of a workflow: those of a registry, its own, and `advance`.
pub(crate) struct PhaseTools<'a, T> {
    pub(crate) tools: &'a T,
    pub(crate) own: &'a Toolset,
    pub(crate) state: SharedMachine,
    /// Calls that cannot change the phase share the lock; others hold it exclusively. It is fair, so calls keep their order.
    pub(crate) turn: RwLock<()>,
    pub(crate) observe: &'a Observe<'a>,
}

impl<T: Tools> Tools for PhaseTools<'_, T> {
    fn specs(&self) -> Vec<ToolSpec> {
        specs(self.tools, self.own)
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        let may_change_phase = self.state.machine().workflow.may_change_phase(name);
        let given = if name == ADVANCE {
            let _alone = self.turn.write().await;
            self.advance(arguments)
        } else if may_change_phase {
            let _alone = self.turn.write().await;
            self.call_tool(name, arguments).await
        } else {
            let _shared = self.turn.read().await;
            self.call_tool(name, arguments).await
        };
        self.state.report_phases(self.observe);
        given
    }
}

/// Returns the same list in every phase, sorted by name.
pub(crate) fn specs(tools: &impl Tools, own: &Toolset) -> Vec<ToolSpec> {
    let is_own = |name: &str| own.has(name) || name == ADVANCE;
    let mut specs: Vec<ToolSpec> = tools.specs().into_iter().filter(|spec| !is_own(&spec.name)).collect();
    specs.extend(own.specs());
    specs.push(ToolSpec::new::<Advance>(ADVANCE, DESCRIPTION));
    specs.sort_by(|a, b| a.name.cmp(&b.name));
    specs
}

impl<T: Tools> PhaseTools<'_, T> {
    fn advance(&self, arguments: Value) -> Result<Answer, ToolError> {
        let Advance { phase, note } = ToolSpec::new::<Advance>(ADVANCE, DESCRIPTION).arguments(arguments)?;
        let mut machine = self.state.machine();
        machine.advance(phase.as_deref(), note.as_deref())?;
        let tools = machine.at.map_or(Vec::new(), |at| machine.workflow.phases[at].tools.clone());
        Ok(Answer::new(json!({"phase": machine.name(), "tools": tools}), Vec::new()))
    }

    async fn call_tool(&self, name: &str, arguments: Value) -> Result<Answer, ToolError> {
        let epoch = self.state.machine().permit(name)?;
        let mut attempt = Attempt { state: &self.state, epoch, tool: Some(name) };
        let given = match self.own.has(name) {
            true => self.own.call(name, arguments).await,
            false => self.tools.call(name, arguments).await,
        };
        attempt.tool = None;
        match given {
            Ok(answer) => {
                self.state.machine().note_success(epoch, name, answer.json());
                Ok(answer)
            }
            // Details that only the operator may see are hidden from the model here too.
            Err(error @ ToolError::Fatal { .. }) => {
                self.state.machine().note_failure(epoch, name, &format!("`{name}` failed"));
                Err(error)
            }
            Err(error) => {
                let left = self.state.machine().note_failure(epoch, name, &format!("`{name}`: {error}"));
                Err(say_tries(error, left))
            }
        }
    }
}

/// Adds the number of remaining tries to an error.
fn say_tries(error: ToolError, left: Option<u32>) -> ToolError {
    match (error, left) {
        (ToolError::Respond { code, message, suggestion }, Some(left)) => {
            let tries = match left {
                0 => "no tries left: tell the user".to_owned(),
                1 => "1 try left".to_owned(),
                left => format!("{left} tries left"),
            };
            let suggestion = suggestion.map_or(tries.clone(), |advice| format!("{advice}; {tries}"));
            ToolError::Respond { code, message, suggestion: Some(suggestion) }
        }
        (error, _) => error,
    }
}

/// Counts as a failure if it is dropped before it returned a result.
struct Attempt<'a> {
    state: &'a SharedMachine,
    epoch: u64,
    tool: Option<&'a str>,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if let Some(tool) = self.tool.take() {
            self.state.machine().note_failure(self.epoch, tool, &format!("`{tool}` took too long"));
        }
    }
}
