//! What the tools of a workflow leave.

use serde_json::Value;

/// Something that was made.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) name: String,
    /// What tells it from others of the name.
    pub(crate) key: String,
    pub(crate) value: Value,
    /// The phase that made it, by its place.
    pub(crate) by: usize,
}
