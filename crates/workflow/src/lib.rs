//! Workflows: a conversation that goes through phases, each with its own tools, instructions and way on.
//!
//! A workflow is data, in YAML: see [`Workflow::read`] for the fields and for what is checked when it is loaded. The loop
//! knows nothing of it: the phases plug in as tools (those of the workflow, and `advance`), as a goal, and as texts.
//!
//! - A phase is entered only when everything that it `needs` is there. What counts as there is what tools gave, what was
//!   noted on the way, and whether the user has spoken.
//! - A model goes on with the tool `advance`, or a way is taken by itself as soon as its condition holds. Calls are taken in
//!   their order, so that those after it in the same round are calls of the next phase; calls between two such are made at
//!   once.
//! - **The list of tools is the same in every phase**, because a changed list loses the provider's cache. A tool of another
//!   phase is refused with the error `wrong_phase`, which names those that may be called.
//! - Failures in a row are counted for each tool of a phase, and the model is told how many tries are left; then the user is
//!   asked for help, or the phase goes back, is skipped, or stops the workflow.
//! - [`UserWords`] hold what the user said in the phase, so that a tool which needs their consent reads it there.
//! - A phase that is entered again forgets what it and those after it made.

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
