//! Reconciliation: matching the records of two sources.
//!
//! The workflow `reconcile` is a file, `reconcile.yaml`; its tools are here. Two subsets are loaded into the
//! session of an engine; pairs that look alike are proposed; what agrees in those that the user confirms, by an explicit
//! choice, becomes rules; the
//! rules become a [`Recipe`], which is JSON. A recipe is run as SQL, one query a rule, and never as a cross join: each query
//! joins on a block, the narrowest one that the tests of the rule give. Which of the candidates are pairs is decided here,
//! one to one, and what cannot be told apart is left and said.

mod assign;
mod block;
mod infer;
mod judgement;
mod propose;
mod recipe;
mod report_files;
mod run;
mod sql;
mod subset;
mod tools;
mod value;

use std::path::PathBuf;
use std::sync::Arc;

use prospector_core::Problem;
use prospector_core::tool::Toolset;
use prospector_engine::Engine;

pub use recipe::{Recipe, Rule, Side, Test, TestKind};

use prospector_workflow::{UserWords, Workflow};

/// The built-in workflow, as it is written.
pub const RECONCILE: &str = include_str!("reconcile.yaml");

/// The tools over one session of an engine. What they find is written in full into folders inside `folder`, which is made
/// when it is needed. `words` are those of the conversation: which pairs are right, and whether everything may be run, is an
/// explicit choice in what the user said.
pub fn reconcile_tools(engine: &Arc<Engine>, folder: PathBuf, words: UserWords) -> Toolset {
    tools::tools(engine.clone(), folder, words)
}

/// The built-in workflow over these tools.
///
/// # Errors
/// The tools that it misses.
pub fn reconcile_workflow(known: &[&str]) -> Result<Workflow, Vec<Problem>> {
    Workflow::read("reconcile.yaml", RECONCILE, known)
}
