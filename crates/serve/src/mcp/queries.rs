//! Sessions of queries for clients whose connection is over with each request, as those of 2026-07-28 are over HTTP: such a
//! session has a handle, which is an argument of the tools.

use std::sync::Arc;

use prospector_core::Owner;
use serde_json::{Value, json};

use crate::{error::Refusal, query_sessions::QuerySession, server::Server};

/// The argument that names a session, and the field of the answer that does.
pub(super) const SESSION: &str = "session";

/// Adds the session to the arguments of a tool that runs queries.
pub(super) fn add_session(input: &mut Value) {
    let description = "To go on with what was loaded or answered in it: as an earlier answer named it.";
    if let Some(properties) = input.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert(SESSION.into(), json!({"type": "string", "description": description}));
    }
}

/// The session that a call names, taken out of its arguments; a new one where it names none and leaves something behind.
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
        Some(_) => return Err(Refusal::invalid("session is a text")),
        None if view.queries.needs_session(name) && view.queries.is_open => server.begin_queries(owner)?,
        None => return Ok(None),
    };
    let session = server.query_sessions.get(&handle, owner)?;
    Ok(Some((handle, session)))
}
