//! Reconciliation: matching the records of two sources.
//!
//! The workflow `reconcile` is defined in `reconcile.yaml`; its tools are in this crate. Two subsets are loaded into an engine session, and
//! similar pairs are proposed. The columns that agree in the pairs the user confirms become rules, and the rules a [`Recipe`], which is
//! JSON. A recipe runs as SQL, one query per rule, never as a cross join: each query joins on the narrowest block of the rule's tests.
//! Pairs are then selected one to one; ambiguous candidates are not matched and are reported.

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

use prospector_core::tool::Toolset;
use prospector_engine::Engine;

pub use recipe::{Recipe, Rule, Side, Test, TestKind};

use prospector_workflow::UserWords;

/// The definition of the built-in workflow.
pub const RECONCILE: &str = include_str!("reconcile.yaml");

/// Returns the tools over an engine session. Results are written in full to subfolders of `folder`, which is created when needed. `words`
/// are the user's messages, from which the tools read which pairs are correct and whether the full run is approved.
pub fn reconcile_tools(engine: &Arc<Engine>, folder: PathBuf, words: UserWords) -> Toolset {
    tools::tools(engine.clone(), folder, words)
}
