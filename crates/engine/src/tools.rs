//! What a model may call.

mod execute_sql;
mod load_scoped;
mod previous;
mod query;
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
        .with(load_scoped::LoadScoped(engine.clone()))
        .with(validate_query::ValidateQuery(engine.clone()))
        .with(previous::GetPreviousResults(engine.clone()))
        .with(query::BuildQuery(engine.clone()))
        .with(query::QueryDatasource(engine.clone()))
        .with(query::GetDatasourceMetadata(engine.clone()))
        .with(sources::ListSources(engine.clone()))
        .with(sources::GetSourcePreview(engine.clone()))
}

/// The tables that an answer names in `tables`, and their databases.
fn tables(answer: &Value) -> Vec<Resource> {
    let names = answer.get("tables").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let databases = answer.get("databases").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let databases = databases.map(|name| Resource::new(ResourceKind::Database, name));
    databases.chain(names.map(|name| Resource::new(ResourceKind::Table, name))).collect()
}

/// The one table that an answer names in `database` and `table`, and its database.
fn table(answer: &Value) -> Vec<Resource> {
    let text = |key: &str| answer.get(key).and_then(Value::as_str);
    match (text("database"), text("table")) {
        (Some(database), Some(table)) => vec![
            Resource::new(ResourceKind::Database, database),
            Resource::new(ResourceKind::Table, format!("{database}.{table}")),
        ],
        _ => Vec::new(),
    }
}
