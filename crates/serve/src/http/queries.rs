//! Sessions of queries over HTTP: begun and ended here, and named by a header where a tool is called.

use axum::{
    Extension, Json,
    extract::{Path, State},
    http::StatusCode,
};
use prospector_core::Owner;
use serde_json::{Value, json};

use crate::{error::Refusal, shared::Shared, view::CatalogView};

/// The header that names the session in which a tool runs its queries.
pub(super) const SESSION: &str = "prospector-session";

/// Refuses a tool that is of no use without a session.
pub(super) fn check_sessionless(view: &CatalogView, name: &str) -> Result<(), Refusal> {
    match view.queries.is_open && view.runs_queries(name) && view.queries.needs_session(name) {
        false => Ok(()),
        true => Err(Refusal::invalid(format!("`{name}` is called in a session of queries"))
            .advise("POST /v1/query-sessions begins one; send its name in the header Prospector-Session")),
    }
}

/// `POST /v1/query-sessions`: begins one.
pub(super) async fn begin(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let session = shared.server.begin_queries(&owner)?;
    let idle = shared.server.options.limits.session_idle.as_secs();
    Ok((StatusCode::CREATED, Json(json!({"session": session, "idle_seconds": idle}))))
}

/// `DELETE /v1/query-sessions/{handle}`: ends it, with everything that was loaded in it.
pub(super) async fn end(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
) -> Result<StatusCode, Refusal> {
    shared.server.query_sessions.end(&handle, &owner)?;
    Ok(StatusCode::NO_CONTENT)
}
