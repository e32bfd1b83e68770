//! A validated workflow: its phases, their transitions, and the products of its tools.

use std::collections::BTreeMap;

/// The reserved phase name for the end.
pub(crate) const END: &str = "end";

/// The name of the tool that advances to the next phase.
pub const ADVANCE: &str = "advance";

/// The built-in product that counts the user's messages in the phase.
pub(crate) const USER: &str = "user";

/// A workflow that was read and validated: every tool, phase and product that it names exists.
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// Its name.
    pub name: String,
    /// Role instructions of the model, the same in every phase.
    pub role: String,
    /// The products of successful tool calls.
    pub products: Vec<Product>,
    /// The phases, in the order of the file.
    pub phases: Vec<Phase>,
    /// Index of the first phase.
    pub begin: usize,
}

/// A product, and the tool that makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// Name of the product.
    pub name: String,
    /// The tool whose result it is.
    pub tool: String,
    /// The key of several instances. Without it, a new result replaces the previous one.
    pub each: Option<Each>,
    /// A JSON pointer into the result: it counts only if that value exists and is not null, false, 0 or empty.
    pub holds: Option<String>,
    /// Products that become outdated when this one is made.
    pub forgets: Vec<String>,
}

/// The key of several instances of a product: a JSON pointer into the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Each {
    /// `/alias`: each result is an instance, and replaces the one with the same value there.
    Value(String),
    /// `/pairs/*`: each item of that list is an instance; those of a later result replace all.
    Item(String),
}

/// A phase: its prerequisites, its tools, its instructions, and its transitions.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// The prerequisite products, and the number of instances of each.
    pub needs: BTreeMap<String, usize>,
    /// The tools that may be called in it, in addition to `advance`.
    pub tools: Vec<String>,
    /// Whether the model may speak to the user in it. If not, text without a call counts as a failure.
    pub user: bool,
    /// Instructions shown when the phase starts.
    pub instructions: String,
    /// The products shown when the phase starts.
    pub context: Vec<ContextItem>,
    /// Its transitions.
    pub advance: Vec<Way>,
    /// The failure policy.
    pub on_error: Policy,
}

/// A product shown to a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextItem {
    /// The product.
    pub product: String,
    /// Limit in tokens, as counted by [`prospector_core::tokens::estimate`].
    pub max_tokens: usize,
}

/// A transition from one phase to another, and its condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Index of the next phase; `None` for the end.
    pub to: Option<usize>,
    /// The products required, and the number of instances of each.
    pub when: BTreeMap<String, usize>,
    /// The product made of the note of `advance`; without a note the call is refused.
    pub note: Option<String>,
    /// Taken as soon as the condition is met, without `advance`.
    pub automatic: bool,
}

/// The failure policy of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Number of failures of one tool in a row that are tolerated; the next one triggers `then`.
    pub retry: u32,
    /// What happens then.
    pub then: Then,
}

/// The consequence of a failed phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The workflow ends.
    Stop,
    /// The tool is refused until the user, who is informed, sends another message.
    Tell,
    /// The workflow goes back to that phase.
    Back(usize),
    /// The workflow skips to that phase or to the end, if its prerequisites are met; otherwise it stops.
    Skip(Option<usize>),
}

impl Workflow {
    /// Returns the name of a phase, or of the end.
    pub(crate) fn name_of(&self, place: Option<usize>) -> &str {
        place.and_then(|at| self.phases.get(at)).map_or(END, |phase| &phase.name)
    }

    /// Whether calls of a tool may change the phase, so that later calls must wait.
    pub(crate) fn may_change_phase(&self, tool: &str) -> bool {
        let makes = |product: &str| self.products.iter().any(|gives| gives.name == product && gives.tool == tool);
        let mut automatic = self.phases.iter().flat_map(|phase| &phase.advance).filter(|way| way.automatic);
        automatic.any(|way| way.when.keys().any(|product| makes(product)))
    }
}
