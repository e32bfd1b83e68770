//! Query sessions for clients whose connection ends with each request, as in the revision of 2026-07-28 over HTTP. Such a session has a
//! handle, which is an argument of the tools.

use std::sync::Arc;

use prospector_core::Owner;
use serde_json::{Value, json};

use crate::{error::Refusal, query_sessions::QuerySession, server::Server};

/// The argument and the answer field that name a session.
pub(super) const SESSION: &str = "session";

/// Adds the session argument to a tool that runs queries.
pub(super) fn add_session(input: &mut Value) {
    let description = "Query session to continue, with its loaded data and results, as returned by an earlier answer.";
    if let Some(properties) = input.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert(SESSION.into(), json!({"type": "string", "description": description}));
    }
}

/// Removes the session from a call's arguments and returns it; a new one if none is named and the tool leaves state behind.
pub(super) fn take_session(
    server: &Server,
    owner: &Owner,
    name: &str,
    arguments: &mut Value,
) -> Result<Option<(String, Arc<QuerySession>)>, Refusal> {
    let view = server.catalog.view(owner);
    if !view.runs_queries(name) {
        return Ok(None);
    }
    let handle = match arguments.as_object_mut().and_then(|fields| fields.shift_remove(SESSION)) {
        Some(Value::String(handle)) => handle,
        Some(_) => return Err(Refusal::invalid("session must be a string")),
        None if view.queries.needs_session(name) && view.queries.is_open => server.begin_queries(owner)?,
        None => return Ok(None),
    };
    let session = server.query_sessions.get(&handle, owner)?;
    Ok(Some((handle, session)))
}
