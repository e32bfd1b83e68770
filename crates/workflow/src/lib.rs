//! Workflows: conversations in phases, each with its own tools, instructions and transitions.
//!
//! A workflow is defined in YAML: see [`Workflow::read`] for its fields and its validation. The agent loop knows nothing of workflows: they
//! plug in as tools (their own, and `advance`), as a goal, and as texts.
//!
//! - A phase is entered only if everything that it `needs` exists: results of tools, notes of transitions, and messages of the user.
//! - The model moves on with the tool `advance`, or a transition is taken automatically as soon as its condition is met. Calls take effect
//!   in their order, so that later calls of the same round belong to the next phase; calls between two transitions run in parallel.
//! - **The list of tools is the same in every phase**, because changing it invalidates the provider's cache. A tool of another phase is
//!   refused with the error `wrong_phase`, which lists the allowed tools.
//! - Failures in a row are counted for each tool of a phase, and the model sees the number of remaining tries; then the user is asked for
//!   help, or the phase goes back, is skipped, or stops the workflow.
//! - [`UserWords`] contain the user's messages in the phase, so that a tool that needs consent reads it there.
//! - A phase that is entered again drops its products and those of later phases.

mod announce;
mod check;
mod conversation;
pub mod definition;
mod file;
mod goal;
mod machine;
mod product;
mod read;
pub mod record;
pub mod store;
mod tools;
mod words;

pub use conversation::{Conversation, TurnOutcome, WorkflowReport};
pub use definition::{ADVANCE, Workflow};
pub use machine::Entered;
pub use words::UserWords;
