//! Tools that a language model may call, their results, and tool sets.

mod answer;
pub mod client;
pub mod compact;
mod definition;
mod error;
pub mod finding;
mod guarded;
mod output;
mod page;
pub mod repair;
mod toolset;

pub use answer::Answer;
pub use definition::{Effect, Tool, ToolSpec};
pub use error::{ToolError, ToolErrorCode};
pub use guarded::BoxFuture;
pub use output::{Budget, Cut, Part, Text, ToolOutput};
pub use page::{ListArgs, Page};
pub use toolset::{Callable, Toolset};
