//! A workflow as it is written, and as it is run.

use std::collections::BTreeMap;

use prospector_core::Problem;
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::check;

/// The name of the end as a phase to advance to.
pub(crate) const END: &str = "end";

/// The product that every phase has: how often the user spoke in it.
pub(crate) const USER: &str = "user";

/// A workflow whose names are all right.
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// Its name.
    pub name: String,
    /// What the model is told of its role: the same in every phase.
    pub role: String,
    /// What tools leave when they worked.
    pub products: Vec<Gives>,
    /// The phases, in the order of the file.
    pub phases: Vec<Phase>,
    /// The phase to begin with, by its place.
    pub begin: usize,
}

/// A product, and the tool that makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Gives {
    /// The product.
    pub name: String,
    /// The tool whose answer it is.
    pub tool: String,
    /// A JSON pointer into the answer: one product for each value that was there. Without it the last answer replaces the
    /// one before.
    pub each: Option<String>,
    /// A JSON pointer into the answer: it counts only where that is there and neither null, false, 0 nor empty.
    pub holds: Option<String>,
    /// Products that are out of date when this one is made.
    pub forgets: Vec<String>,
}

/// A phase.
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
    pub context: Vec<Injection>,
    /// Where it may go on to.
    pub advance: Vec<Way>,
    /// What becomes of failures.
    pub on_error: Policy,
}

/// A product that a phase is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injection {
    /// The product.
    pub product: String,
    /// At most so many tokens of it, as [`prospector_core::tokens::estimate`] counts them.
    pub max_tokens: usize,
}

/// A way on.
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
    /// So many failures in a row are answered, and the next one is the last.
    pub retry: u32,
    /// What happens then.
    pub then: Then,
}

/// What happens when a phase has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The workflow ends.
    Stop,
    /// That phase is entered again.
    Back(usize),
    /// That phase is entered, or the end is, as if this one were done; where what it needs is there, else the workflow ends.
    Skip(Option<usize>),
}

impl Workflow {
    /// Reads a workflow. `file` is its name in messages; `known` are the tools that there are.
    ///
    /// ```yaml
    /// workflow: refunds
    /// begin: find
    /// role: You find refunds.
    /// products:
    /// - {name: found, tool: execute_sql}              # each: /alias, holds: /rows, forgets: [others]
    /// phases:
    /// - name: find
    ///   needs: {}                                     # what must be there before it is entered: {found: 1}
    ///   tools: [search, "execute_*"]                  # names, or patterns with *
    ///   user: true                                    # may speak to the user; false if left out
    ///   instructions: Find the refund that the user asks for.
    ///   context: [{product: found, max_tokens: 300}]  # what is shown when it begins
    ///   advance:
    ///   - {to: end, when: {found: 1, user: 1}}        # note: reason, automatic: true
    ///   on_error: {retry: 2, then: stop}              # then: back or skip, with to: PHASE
    /// ```
    ///
    /// # Errors
    /// Everything that is wrong, each with its place as `FILE:LINE:COLUMN`: an unknown field, a name that is not there or is
    /// there twice, a tool that does not exist, a phase that nothing leads to or that never comes to the end, a product that
    /// is needed and that nothing before makes.
    pub fn read(file: &str, text: &str, known: &[&str]) -> Result<Workflow, Vec<Problem>> {
        let written: Written = serde_saphyr::from_str(text).map_err(|error| {
            let place = error.location().map_or((1, 1), |at| (at.line(), at.column()));
            let reason = error.without_snippet().to_string();
            let reason = reason.split(" at line ").next().unwrap_or(&reason).trim_start_matches("error: ").to_owned();
            vec![Problem::error(format!("{file}:{}:{}", place.0, place.1), reason)]
        })?;
        check::resolve(file, written, known)
    }

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

type Placed = Spanned<String>;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    pub(super) workflow: String,
    pub(super) begin: Placed,
    pub(super) role: String,
    #[serde(default)]
    pub(super) products: Vec<WrittenProduct>,
    pub(super) phases: Vec<WrittenPhase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenProduct {
    pub(super) name: Placed,
    pub(super) tool: Placed,
    #[serde(default)]
    pub(super) each: Option<Placed>,
    #[serde(default)]
    pub(super) holds: Option<Placed>,
    #[serde(default)]
    pub(super) forgets: Vec<Placed>,
}

pub(super) type Amounts = BTreeMap<String, Spanned<usize>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenPhase {
    pub(super) name: Placed,
    #[serde(default)]
    pub(super) needs: Amounts,
    #[serde(default)]
    pub(super) tools: Vec<Placed>,
    #[serde(default)]
    pub(super) user: bool,
    pub(super) instructions: String,
    #[serde(default)]
    pub(super) context: Vec<WrittenInjection>,
    pub(super) advance: Vec<WrittenWay>,
    #[serde(default)]
    pub(super) on_error: WrittenPolicy,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenInjection {
    pub(super) product: Placed,
    pub(super) max_tokens: Spanned<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenWay {
    pub(super) to: Placed,
    #[serde(default)]
    pub(super) when: Amounts,
    #[serde(default)]
    pub(super) note: Option<Placed>,
    #[serde(default)]
    pub(super) automatic: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenPolicy {
    #[serde(default)]
    pub(super) retry: Option<u32>,
    #[serde(default)]
    pub(super) then: WrittenThen,
    #[serde(default)]
    pub(super) to: Option<Placed>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WrittenThen {
    #[default]
    Stop,
    Back,
    Skip,
}
