//! Query sessions over HTTP: started and ended here, and named by a header in tool calls.

use axum::{
    Extension, Json,
    extract::{Path, State},
    http::StatusCode,
};
use prospector_core::Owner;
use serde_json::{Value, json};

use super::reply::Reply;
use crate::{error::Refusal, rows::list_truncated, shared::Shared, view::CatalogView};

/// The header that names the session in which a tool runs its queries.
pub(super) const SESSION: &str = "prospector-session";

/// Refuses a tool that needs a session.
pub(super) fn check_sessionless(view: &CatalogView, name: &str) -> Result<(), Refusal> {
    match view.queries.is_open && view.runs_queries(name) && view.queries.needs_session(name) {
        false => Ok(()),
        true => Err(Refusal::invalid(format!("`{name}` needs a query session"))
            .advise("start one with POST /v1/query-sessions and send its name in the header Prospector-Session")),
    }
}

/// `POST /v1/query-sessions`: starts a session.
pub(super) async fn begin(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let session = shared.server.begin_queries(&owner)?;
    let idle = shared.server.options.limits.session_idle.as_secs();
    Ok((StatusCode::CREATED, Json(json!({"session": session, "idle_seconds": idle}))))
}

/// `DELETE /v1/query-sessions/{handle}`: ends a session and drops what was loaded in it.
pub(super) async fn end(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
) -> Result<StatusCode, Refusal> {
    shared.server.query_sessions.end(&handle, &owner)?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /v1/query-sessions/{handle}/rows/{id}`: all rows of a query of the session.
pub(super) async fn rows(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path((handle, id)): Path<(String, String)>,
) -> Reply {
    let session = shared.server.query_sessions.get(&handle, &owner)?;
    Ok(Json(shared.server.session_rows(&session, &id).await?))
}

/// `GET /v1/runs/{handle}/rows/{id}`: all rows of a query of an answer.
pub(super) async fn rows_of_run(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path((handle, id)): Path<(String, String)>,
) -> Reply {
    Ok(Json(shared.server.run_rows(&owner, &handle, &id).await?))
}

/// Returns links to all rows of the queries whose answers have only a part of them.
pub(super) fn link_rows(answer: &Value, session: &str) -> Vec<Value> {
    let link = |id: &str| json!({"id": id, "rows": format!("/v1/query-sessions/{session}/rows/{id}")});
    list_truncated(answer).map(link).collect()
}
