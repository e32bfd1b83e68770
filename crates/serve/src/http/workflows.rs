//! Handlers of the workflow routes.

use std::collections::HashMap;

use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use prospector_core::Owner;
use serde::Deserialize;

use super::{
    events,
    reply::Reply,
    routes::{json, number, only},
};
use crate::{error::Refusal, run::Run, shared::Shared, workflows::MAX_ROWS};

/// Starts or continues a workflow.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkflowRequest {
    /// The workflow to start.
    workflow: Option<String>,
    /// The user's message.
    message: Option<String>,
}

async fn read_request(headers: &HeaderMap, body: Bytes) -> Result<WorkflowRequest, Refusal> {
    if body.is_empty() {
        return Ok(WorkflowRequest { workflow: None, message: None });
    }
    json(headers, body).await
}

/// `GET /v1/workflows`
pub(super) async fn list(State(shared): State<Shared>, Extension(owner): Extension<Owner>) -> Reply {
    Ok(Json(shared.server.workflows(&owner).await?))
}

/// `POST /v1/workflows`: starts a workflow.
pub(super) async fn begin(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let WorkflowRequest { workflow, message } = read_request(&headers, body).await?;
    let missing = || Refusal::invalid("workflow is missing").advise("/v1/about lists the workflows");
    let run = shared.server.begin_workflow(&owner, &workflow.ok_or_else(missing)?, message).await?;
    Ok(reply(&shared, &headers, &run).await)
}

/// `POST /v1/workflows/{handle}`: continues with the user's next message.
pub(super) async fn proceed(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    let WorkflowRequest { workflow, message } = read_request(&headers, body).await?;
    if workflow.is_some() {
        return Err(Refusal::invalid("the workflow has already started").advise("omit workflow"));
    }
    let run = shared.server.continue_workflow(&owner, &handle, message).await?;
    Ok(reply(&shared, &headers, &run).await)
}

/// Runs a turn, and returns it as events or as one response. It continues when its client disconnects.
async fn reply(shared: &Shared, headers: &HeaderMap, run: &std::sync::Arc<Run>) -> Response {
    if events::are_wanted(headers) {
        return events::of(&shared.server, run, 0);
    }
    let end = run.wait().await;
    match &end.failure {
        None => Json(&*end.result).into_response(),
        Some(failure) => failure.with("result", &end.result),
    }
}

/// `GET /v1/workflows/{handle}`
pub(super) async fn one(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
) -> Reply {
    Ok(Json(shared.server.workflow(&owner, &handle).await?))
}

/// `DELETE /v1/workflows/{handle}`
pub(super) async fn remove(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path(handle): Path<String>,
) -> Result<StatusCode, Refusal> {
    shared.server.remove_workflow(&owner, &handle).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /v1/workflows/{handle}/files/{name}?offset=&limit=`
pub(super) async fn file(
    State(shared): State<Shared>,
    Extension(owner): Extension<Owner>,
    Path((handle, name)): Path<(String, String)>,
    Query(query): Query<HashMap<String, String>>,
) -> Reply {
    only(&query, &["offset", "limit"])?;
    let part = (number(&query, "offset", 0)?, number(&query, "limit", MAX_ROWS)?);
    Ok(Json(shared.server.workflow_rows(&owner, &handle, &name, part).await?))
}
