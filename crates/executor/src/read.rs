//! Parses plans from text.

use prospector_agent::plan::Plan;
use serde_json::Value;

/// The text is not a plan.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It is not valid JSON.
    #[error("it is not JSON: {0}")]
    Syntax(serde_json::Error),
    /// It has no steps.
    #[error("it is not a plan: it has no `plan` with `steps`")]
    NoSteps,
    /// A field has the wrong type.
    #[error("it is not a plan: {0}")]
    Shape(serde_json::Error),
}

/// Parses a plan: the output of `planner plan`, the answer of a model, or an object with only `plan` and its `steps`. Stored or printed
/// runs are not accepted.
///
/// # Errors
/// If the text is not a plan, with the position in the text.
pub fn read_plan(text: &str) -> Result<Plan, ReadError> {
    if text.trim().is_empty() {
        return Err(ReadError::Empty);
    }
    let value: Value = serde_json::from_str(text).map_err(ReadError::Syntax)?;
    if value.pointer("/plan/steps").is_none() {
        return Err(ReadError::NoSteps);
    }
    // Parsed from the text, so that errors have a position.
    serde_json::from_str(text).map_err(ReadError::Shape)
}
