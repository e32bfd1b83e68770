//! The state machine of a workflow: the phase, products and failures, and every change of these.

use std::{collections::BTreeMap, sync::Arc};

use prospector_core::name::rank;
use prospector_core::tool::{ToolError, ToolErrorCode};
use serde::Serialize;
use serde_json::Value;

use crate::{
    announce::announce,
    definition::{ADVANCE, END, Each, Then, USER, Way, Workflow},
    product::{Made, read_products},
    words::UserWords,
};

/// Limit on the visits of a phase, so that a workflow ends under every policy.
const MAX_VISITS: u32 = 6;

/// Limit on the length of a note, in characters.
const MAX_NOTE_CHARS: usize = 4_000;

/// A phase that was entered, for the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entered {
    /// Name of the phase; `end` for the end.
    pub phase: String,
    /// The reason, unless the previous phase was completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The state of a workflow.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) workflow: Arc<Workflow>,
    /// The current phase; `None` after the end.
    pub(crate) at: Option<usize>,
    pub(crate) made: Vec<Made>,
    /// The user's messages in this phase.
    words: UserWords,
    /// Failures in a row of each tool of this phase; an empty name counts texts instead of calls.
    failures: BTreeMap<String, u32>,
    visits: Vec<u32>,
    /// Number of phases entered, so that calls started in another phase do not count.
    epoch: u64,
    pub(crate) log: Vec<Entered>,
    /// Number of log entries that were reported as events.
    reported: usize,
    /// Why it stopped early.
    pub(crate) stopped: Option<String>,
    /// The next announcement to the model.
    announcement: Option<String>,
}

impl Machine {
    pub(crate) fn new(workflow: Arc<Workflow>, words: UserWords) -> Self {
        let mut machine = Machine {
            at: Some(workflow.begin),
            made: Vec::new(),
            words,
            failures: BTreeMap::new(),
            visits: vec![0; workflow.phases.len()],
            epoch: 0,
            log: Vec::new(),
            reported: 0,
            stopped: None,
            announcement: None,
            workflow,
        };
        machine.enter(machine.at, None);
        machine
    }

    pub(crate) fn is_over(&self) -> bool {
        self.at.is_none() || self.stopped.is_some()
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at.is_none() && self.stopped.is_none()
    }

    /// Returns the name of the phase.
    pub(crate) fn name(&self) -> &str {
        self.workflow.name_of(self.at)
    }

    /// Whether the model may speak to the user now.
    pub(crate) fn may_speak(&self) -> bool {
        self.at.is_none_or(|at| self.workflow.phases[at].user)
    }

    /// Returns the pending announcement, once.
    pub(crate) fn take_announcement(&mut self) -> Option<String> {
        self.announcement.take()
    }

    /// Returns the entered phases that were not reported yet.
    pub(crate) fn take_entered(&mut self) -> Vec<Entered> {
        let news = self.log[self.reported..].to_vec();
        self.reported = self.log.len();
        news
    }

    /// Returns the number of instances of a product.
    fn count(&self, product: &str) -> usize {
        match product {
            USER => self.words.count(),
            _ => self.made.iter().filter(|made| made.name == product).count(),
        }
    }

    /// Returns what is missing of these products: `pairs`, `1 more subset`.
    pub(crate) fn missing(&self, amounts: &BTreeMap<String, usize>) -> Vec<String> {
        let lacks = amounts.iter().filter_map(|(name, amount)| {
            let lack = amount.saturating_sub(self.count(name));
            match (lack, name.as_str()) {
                (0, _) => None,
                (_, USER) => Some("a message of the user".to_owned()),
                (1, name) if *amount == 1 => Some(name.to_owned()),
                (lack, name) => Some(format!("{lack} more {name}")),
            }
        });
        lacks.collect()
    }

    /// Checks whether a tool may be called now, and returns the number of the visit, which is passed on with the result.
    ///
    /// # Errors
    /// If the tool may not be called now, with those that may.
    pub(crate) fn permit(&self, tool: &str) -> Result<u64, ToolError> {
        let Some(at) = self.at.filter(|_| self.stopped.is_none()) else {
            return Err(refuse(
                ToolErrorCode::Over,
                "the workflow has ended: no more tools can be called",
                "tell the user the outcome",
            ));
        };
        let phase = &self.workflow.phases[at];
        if phase.tools.iter().any(|name| name == tool) {
            let failed = self.failures.get(tool).copied().unwrap_or_default();
            return match failed > phase.on_error.retry {
                false => Ok(self.epoch),
                true => Err(refuse(
                    ToolErrorCode::Unavailable,
                    format!(
                        "`{tool}` failed {failed} times in a row, and is blocked until the next message of the user"
                    ),
                    "tell the user what failed, and ask how to continue",
                )),
            };
        }
        let message = format!("`{tool}` is not a tool of the phase `{}`", phase.name);
        let mut tools = phase.tools.clone();
        tools.push(ADVANCE.into());
        Err(refuse(ToolErrorCode::WrongPhase, message, format!("the tools of this phase: {}", tools.join(", "))))
    }

    /// Records the success of a tool that was permitted with that number.
    pub(crate) fn note_success(&mut self, epoch: u64, tool: &str, answer: &Value) {
        let Some(at) = self.at.filter(|_| epoch == self.epoch && self.stopped.is_none()) else { return };
        self.failures.remove(tool);
        let workflow = self.workflow.clone();
        for gives in workflow.products.iter().filter(|gives| gives.tool == tool) {
            let Some(products) = read_products(gives, answer) else { continue };
            let is_list = matches!(gives.each, Some(Each::Item(_)));
            let is_new = |key: &String| is_list || products.iter().any(|(made, _)| made == key);
            self.made.retain(|made| made.name != gives.name || !is_new(&made.key));
            self.made.retain(|made| !gives.forgets.contains(&made.name));
            if gives.holds.as_ref().is_none_or(|pointer| answer.pointer(pointer).is_some_and(is_there)) {
                let made = |(key, value)| Made { name: gives.name.clone(), key, value, by: at };
                self.made.extend(products.into_iter().map(made));
            }
        }
        let ready = workflow.phases[at].advance.iter().find(|way| way.automatic && self.missing(&way.when).is_empty());
        if let Some(to) = ready.map(|way| way.to).filter(|to| self.lacks(*to).is_empty()) {
            self.enter(to, None);
        }
    }

    /// Records a failure of a tool that was permitted with that number; an empty name means text instead of a call. Returns the number of
    /// remaining tries; `None` if the result no longer matters.
    pub(crate) fn note_failure(&mut self, epoch: u64, tool: &str, what: &str) -> Option<u32> {
        let at = self.at.filter(|_| epoch == self.epoch && self.stopped.is_none())?;
        let count = self.failures.entry(tool.to_owned()).or_default();
        *count += 1;
        let count = *count;
        let policy = self.workflow.phases[at].on_error;
        let left = (policy.retry + 1).saturating_sub(count);
        if left > 0 {
            return Some(left);
        }
        let name = &self.workflow.phases[at].name;
        let reason = format!("the phase `{name}` failed {count} times in a row; last failure: {what}");
        match policy.then {
            Then::Tell => return Some(0),
            Then::Stop => self.stop(reason),
            Then::Back(to) => self.enter(Some(to), Some(reason)),
            Then::Skip(to) => self.enter(to, Some(reason)),
        }
        None
    }

    /// Returns the number of this visit.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Records a message of the user, which resets failures.
    pub(crate) fn note_user(&mut self, said: &str) {
        self.words.push(said);
        self.failures.clear();
    }

    /// Advances as requested by the model.
    ///
    /// # Errors
    /// If something is missing, or the transition does not exist.
    pub(crate) fn advance(&mut self, to: Option<&str>, note: Option<&str>) -> Result<(), ToolError> {
        let Some(at) = self.at.filter(|_| self.stopped.is_none()) else {
            return Err(refuse(ToolErrorCode::Over, "the workflow has ended", "tell the user the outcome"));
        };
        let workflow = self.workflow.clone();
        let ways = &workflow.phases[at].advance;
        let named = |way: &&Way| to.is_none_or(|to| workflow.name_of(way.to) == to.trim());
        let Some(way) = ways.iter().find(named) else {
            let names: Vec<&str> = ways.iter().map(|way| workflow.name_of(way.to)).collect();
            let near = rank(to.unwrap_or_default(), names.iter().copied(), 3);
            let message = format!("the phase `{}` has no transition to `{}`", self.name(), to.unwrap_or_default());
            return Err(refuse(ToolErrorCode::NotFound, message, format!("valid transitions: {}", near.join(", "))));
        };
        let missing = self.missing(&way.when);
        let next = workflow.name_of(way.to);
        if !missing.is_empty() {
            let message = format!("`{next}` cannot start yet: {} is missing", missing.join(", "));
            return Err(refuse(
                ToolErrorCode::NotYet,
                message,
                "produce what is missing first, or ask the user".to_owned(),
            ));
        }
        let note = note.map(str::trim).filter(|note| !note.is_empty());
        if let Some(product) = &way.note {
            let Some(note) = note else {
                let message = format!("`{next}` needs a note: {product}");
                return Err(refuse(
                    ToolErrorCode::NotYet,
                    message,
                    format!("call advance with the {product} in `note`"),
                ));
            };
            let value = Value::from(note.chars().take(MAX_NOTE_CHARS).collect::<String>());
            self.made.retain(|made| made.name != *product);
            self.made.push(Made { name: product.clone(), key: String::new(), value, by: at });
        }
        let lacks = self.lacks(way.to);
        if !lacks.is_empty() {
            let message = format!("`{next}` cannot start yet: it needs {}", lacks.join(", "));
            return Err(refuse(ToolErrorCode::NotYet, message, "produce what is missing first".to_owned()));
        }
        self.enter(way.to, None);
        Ok(())
    }

    /// Returns the prerequisites of a phase that would be missing if it were entered now.
    fn lacks(&self, to: Option<usize>) -> Vec<String> {
        let Some(place) = to else { return Vec::new() };
        let kept = |name: &str| self.made.iter().filter(|made| made.name == name && made.by < place).count();
        let needs = self.workflow.phases[place].needs.iter();
        needs.filter(|(name, amount)| kept(name) < **amount).map(|(name, _)| name.clone()).collect()
    }

    /// Enters a phase, or the end. If prerequisites are missing, the workflow stops.
    fn enter(&mut self, to: Option<usize>, reason: Option<String>) {
        let lacks = self.lacks(to);
        if !lacks.is_empty() {
            let why = reason.map(|reason| format!("{reason}; ")).unwrap_or_default();
            let next = self.workflow.name_of(to);
            self.stop(format!("{why}`{next}` cannot start without {}", lacks.join(", ")));
            return;
        }
        if let Some(place) = to {
            self.visits[place] += 1;
            if self.visits[place] > MAX_VISITS {
                let name = &self.workflow.phases[place].name;
                self.stop(format!("the phase `{name}` exceeded its limit of {MAX_VISITS} visits"));
                return;
            }
            // Products of this and later phases must be made again.
            self.made.retain(|made| made.by < place);
        }
        self.at = to;
        self.words.clear();
        self.failures.clear();
        self.epoch += 1;
        self.log.push(Entered { phase: self.name().to_owned(), reason: reason.clone() });
        self.announcement = Some(announce(&self.workflow, self.at, &self.made, reason.as_deref()));
    }

    fn stop(&mut self, reason: String) {
        self.log.push(Entered { phase: END.to_owned(), reason: Some(reason.clone()) });
        self.stopped = Some(reason);
        self.announcement = None;
    }
}

fn refuse(code: ToolErrorCode, message: impl Into<String>, suggestion: impl Into<String>) -> ToolError {
    ToolError::Respond { code, message: message.into(), suggestion: Some(suggestion.into()) }
}

fn is_there(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}
