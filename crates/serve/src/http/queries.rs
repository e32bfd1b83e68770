//! Query sessions over HTTP: started and ended here, and named by a header in tool calls.

use axum::{Json, extract::Path, http::StatusCode};
use serde_json::{Value, json};

use super::reply::Reply;
use crate::{error::Refusal, requester::Requester, rows::list_truncated, view::CatalogView};

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
pub(super) async fn begin(by: Requester) -> Result<(StatusCode, Json<Value>), Refusal> {
    let session = by.server.begin_queries(&by.owner)?;
    let idle = by.server.options.limits.session_idle.as_secs();
    Ok((StatusCode::CREATED, Json(json!({"session": session, "idle_seconds": idle}))))
}

/// `DELETE /v1/query-sessions/{handle}`: ends a session and drops what was loaded in it.
pub(super) async fn end(by: Requester, Path(handle): Path<String>) -> Result<StatusCode, Refusal> {
    by.server.query_sessions.end(&handle, &by.owner)?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /v1/query-sessions/{handle}/rows/{id}`: all rows of a query of the session.
pub(super) async fn rows(by: Requester, Path((handle, id)): Path<(String, String)>) -> Reply {
    let session = by.server.query_sessions.get(&handle, &by.owner)?;
    Ok(Json(by.server.session_rows(&session, &id).await?))
}

/// `GET /v1/runs/{handle}/rows/{id}`: all rows of a query of an answer.
pub(super) async fn rows_of_run(by: Requester, Path((handle, id)): Path<(String, String)>) -> Reply {
    Ok(Json(by.server.run_rows(&by.owner, &handle, &id).await?))
}

/// Returns links to all rows of the queries whose answers have only a part of them.
pub(super) fn link_rows(answer: &Value, session: &str) -> Vec<Value> {
    let link = |id: &str| json!({"id": id, "rows": format!("/v1/query-sessions/{session}/rows/{id}")});
    list_truncated(answer).map(link).collect()
}
