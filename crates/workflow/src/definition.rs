//! A workflow as it is run: its phases, the ways between them, and what its tools leave.

use std::collections::BTreeMap;

/// The name of the end as a phase to advance to.
pub(crate) const END: &str = "end";

/// The name of the tool that goes on to the next phase.
pub const ADVANCE: &str = "advance";

/// The product that every phase has: how often the user spoke in it.
pub(crate) const USER: &str = "user";

/// A workflow as it was read and checked: every tool, phase and product that it names exists.
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// Its name.
    pub name: String,
    /// What the model is told of its role: the same in every phase.
    pub role: String,
    /// What tools leave when they worked.
    pub products: Vec<Product>,
    /// The phases, in the order of the file.
    pub phases: Vec<Phase>,
    /// The phase to begin with, by its place.
    pub begin: usize,
}

/// A product, and the tool that makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// The product.
    pub name: String,
    /// The tool whose answer it is.
    pub tool: String,
    /// What tells several of it apart. Without it the last answer replaces the one before.
    pub each: Option<Each>,
    /// A JSON pointer into the answer: it counts only where that is there and neither null, false, 0 nor empty.
    pub holds: Option<String>,
    /// Products that are out of date when this one is made.
    pub forgets: Vec<String>,
}

/// What tells several products of one name apart: a JSON pointer into the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Each {
    /// `/alias`: each answer is a product, and replaces the one with the same value there.
    Value(String),
    /// `/pairs/*`: each item of that list is a product; those of a later answer replace all.
    Item(String),
}

/// A phase: what it needs, which tools it has, what the model is told, and how it goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// The products without which it is not entered, and how many of each.
    pub needs: BTreeMap<String, usize>,
    /// The tools that may be called in it, beside `advance`.
    pub tools: Vec<String>,
    /// Whether the model may speak to the user in it. Where not, a text without a call counts as a failure.
    pub user: bool,
    /// What the model is told when it begins.
    pub instructions: String,
    /// The products that are shown when it begins.
    pub context: Vec<ContextItem>,
    /// Where it may go on to.
    pub advance: Vec<Way>,
    /// What becomes of failures.
    pub on_error: Policy,
}

/// A product that a phase is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextItem {
    /// The product.
    pub product: String,
    /// At most so many tokens of it, as [`prospector_core::tokens::estimate`] counts them.
    pub max_tokens: usize,
}

/// A way from one phase to another, and when it may be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The next phase, by its place; none for the end.
    pub to: Option<usize>,
    /// The products without which it is not taken, and how many of each.
    pub when: BTreeMap<String, usize>,
    /// The product that the note of `advance` becomes; without one the call is refused.
    pub note: Option<String>,
    /// Taken as soon as the condition holds, without `advance`.
    pub automatic: bool,
}

/// What becomes of failures in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// So many failures of one tool in a row are answered, and the next one is the last.
    pub retry: u32,
    /// What happens then.
    pub then: Then,
}

/// What happens when a phase has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The workflow ends.
    Stop,
    /// The tool is refused until the user has spoken again, who is told what does not work.
    Tell,
    /// That phase is entered again.
    Back(usize),
    /// That phase is entered, or the end is, as if this one were done; where what it needs is there, else the workflow ends.
    Skip(Option<usize>),
}

impl Workflow {
    /// The name of a phase, or of the end.
    pub(crate) fn name_of(&self, place: Option<usize>) -> &str {
        place.and_then(|at| self.phases.get(at)).map_or(END, |phase| &phase.name)
    }

    /// Whether calls of a tool may change the phase, so that those after them wait.
    pub(crate) fn may_change_phase(&self, tool: &str) -> bool {
        let makes = |product: &str| self.products.iter().any(|gives| gives.name == product && gives.tool == tool);
        let mut automatic = self.phases.iter().flat_map(|phase| &phase.advance).filter(|way| way.automatic);
        automatic.any(|way| way.when.keys().any(|product| makes(product)))
    }
}
