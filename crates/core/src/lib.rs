//! The types that every Prospector crate shares.
//!
//! Discovery crates convert entries to [`record::Record`]s, an index returns [`record::Hit`]s, invalid input is reported as a
//! [`Problem`] instead of an error, and functions that a language model may call are [`tool::Tool`]s.
//!
//! ```
//! use prospector_core::tool::{Effect, Tool, ToolError, ToolOutput, Toolset};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Args {
//!     /// The name of the person.
//!     name: String,
//! }
//! #[derive(Clone, Serialize)]
//! struct Greeting {
//!     text: String,
//! }
//! impl ToolOutput for Greeting {}
//! struct Greet;
//!
//! impl Tool for Greet {
//!     const NAME: &'static str = "greet";
//!     const DESCRIPTION: &'static str = "Greets a person.";
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
//! The crate performs no I/O, and does not depend on an index, a data source or a model.

pub mod mark;
pub mod name;
mod named;
mod owner;
pub mod problem;
pub mod record;
pub mod tokens;
pub mod tool;
pub mod work;

pub use owner::Owner;
pub use problem::Problem;
pub use record::Kind;
