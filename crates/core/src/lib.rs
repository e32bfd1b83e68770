//! The words that every Prospector crate shares.
//!
//! A discovery crate turns what it finds into [`Record`]s, an index answers with [`Hit`]s, a broken input becomes a
//! [`Problem`] instead of an error, and what a language model may call is a [`Tool`].
//!
//! ```
//! use prospector_core::{Effect, Tool, ToolError, ToolOutput, Toolset};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Args {
//!     /// Who is greeted.
//!     name: String,
//! }
//! #[derive(Clone, Serialize, JsonSchema)]
//! struct Greeting {
//!     text: String,
//! }
//! impl ToolOutput for Greeting {}
//! struct Greet;
//!
//! impl Tool for Greet {
//!     const NAME: &'static str = "greet";
//!     const DESCRIPTION: &'static str = "Greets somebody.";
//!     const EFFECT: Effect = Effect::Reads;
//!     type Args = Args;
//!     type Output = Greeting;
//!     async fn call(&self, args: Args) -> Result<Greeting, ToolError> {
//!         Ok(Greeting { text: format!("Hello, {}!", args.name) })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let tools = Toolset::new().with(Greet);
//! let answer = tools.call("greet", serde_json::json!({"name": "Ada"})).await.unwrap();
//! assert_eq!(answer.json()["text"], "Hello, Ada!");
//! # }
//! ```
//!
//! What it is not: it performs no I/O, and knows neither an index nor a data source nor a model.

mod answer;
mod causes;
pub mod compact;
mod compute;
mod conceal;
pub mod finding;
mod fit;
mod guarded;
pub mod mark;
mod nearest;
mod output;
mod owner;
mod page;
mod panics;
mod problem;
mod record;
mod resource;
pub mod tokens;
mod tool;
mod tool_error;
mod toolset;

pub use answer::Answer;
pub use causes::causes;
pub use compute::compute;
pub use conceal::conceal;
pub use nearest::{nearest, normalized};
pub use output::{Budget, Cut, Part, Text, ToolOutput};
pub use owner::Owner;
pub use page::Page;
pub use panics::catch_panic;
pub use problem::{Problem, Severity};
pub use record::{Hit, Kind, Record, Relevance};
pub use resource::{Resource, ResourceKind};
pub use tool::{Effect, Tool, ToolSpec, output_schema};
pub use tool_error::{ToolError, ToolErrorCode};
pub use toolset::{BoxFuture, Callable, Toolset};
