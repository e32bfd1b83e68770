//! What a model may call.

mod execute_sql;
mod previous;
mod sources;
mod validate_query;

use std::sync::Arc;

use prospector_core::{Resource, ResourceKind, Toolset};
use serde_json::Value;

use crate::Engine;

/// The tools of an engine.
pub fn tools(engine: &Arc<Engine>) -> Toolset {
    Toolset::new()
        .with(execute_sql::ExecuteSql(engine.clone()))
        .with(validate_query::ValidateQuery(engine.clone()))
        .with(previous::GetPreviousResults(engine.clone()))
        .with(sources::ListSources(engine.clone()))
        .with(sources::GetSourcePreview(engine.clone()))
}

/// The databases that an answer names.
fn databases(answer: &Value) -> Vec<Resource> {
    let names = answer.get("databases").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(|name| Resource::new(ResourceKind::Database, name)).collect()
}
