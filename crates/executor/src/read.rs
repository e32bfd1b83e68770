//! Reading a plan that somebody wrote.

use prospector_agent::plan::Plan;
use serde_json::Value;

/// A text is no plan.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is no JSON.
    #[error("it is not JSON: {0}")]
    Syntax(serde_json::Error),
    /// It has no steps.
    #[error("it is not a plan: it has no `plan` with `steps`")]
    NoSteps,
    /// A field holds something else than it should.
    #[error("it is not a plan: {0}")]
    Shape(serde_json::Error),
}

/// Reads a plan: what `planner plan` prints, the answer of a model, or `plan` with its `steps` alone. A run that was kept or
/// printed is none.
///
/// # Errors
/// What is wrong, with its place in the text.
pub fn read_plan(text: &str) -> Result<Plan, ReadError> {
    let value: Value = serde_json::from_str(text).map_err(ReadError::Syntax)?;
    if value.pointer("/plan/steps").is_none() {
        return Err(ReadError::NoSteps);
    }
    // From the text, so that an error has its place.
    serde_json::from_str(text).map_err(ReadError::Shape)
}
