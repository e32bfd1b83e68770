//! Handlers of the workflow routes.

use std::collections::HashMap;

use axum::{
    Json,
    extract::{Path, Query},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use serde::Deserialize;

use super::{
    events,
    reply::Reply,
    routes::{number, only},
};
use crate::{
    error::Refusal,
    requester::{JsonBody, Requester},
    workflows::MAX_ROWS,
};

/// Starts or continues a workflow.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkflowRequest {
    /// The workflow to start.
    workflow: Option<String>,
    /// The user's message.
    message: Option<String>,
}

/// `GET /v1/workflows`
pub(super) async fn list(by: Requester) -> Reply {
    Ok(Json(by.server.workflows(&by.owner).await?))
}

/// `POST /v1/workflows`: starts a workflow.
pub(super) async fn begin(
    by: Requester,
    headers: HeaderMap,
    request: Option<JsonBody<WorkflowRequest>>,
) -> Result<Response, Refusal> {
    let WorkflowRequest { workflow, message } = request.map(|JsonBody(request, _)| request).unwrap_or_default();
    let missing = || Refusal::invalid("workflow is missing").advise("/v1/about lists the workflows");
    let run = by.server.begin_workflow(&by.owner, &workflow.ok_or_else(missing)?, message).await?;
    Ok(events::respond(&by.server, &run, &headers).await)
}

/// `POST /v1/workflows/{handle}`: continues with the user's next message.
pub(super) async fn proceed(
    by: Requester,
    Path(handle): Path<String>,
    headers: HeaderMap,
    request: Option<JsonBody<WorkflowRequest>>,
) -> Result<Response, Refusal> {
    let WorkflowRequest { workflow, message } = request.map(|JsonBody(request, _)| request).unwrap_or_default();
    if workflow.is_some() {
        return Err(Refusal::invalid("the workflow has already started").advise("omit workflow"));
    }
    let run = by.server.continue_workflow(&by.owner, &handle, message).await?;
    Ok(events::respond(&by.server, &run, &headers).await)
}

/// `GET /v1/workflows/{handle}`
pub(super) async fn one(by: Requester, Path(handle): Path<String>) -> Reply {
    Ok(Json(by.server.workflow(&by.owner, &handle).await?))
}

/// `DELETE /v1/workflows/{handle}`
pub(super) async fn remove(by: Requester, Path(handle): Path<String>) -> Result<StatusCode, Refusal> {
    by.server.remove_workflow(&by.owner, &handle).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /v1/workflows/{handle}/files/{name}?offset=&limit=`
pub(super) async fn file(
    by: Requester,
    Path((handle, name)): Path<(String, String)>,
    Query(query): Query<HashMap<String, String>>,
) -> Reply {
    only(&query, &["offset", "limit"])?;
    let part = (number(&query, "offset", 0)?, number(&query, "limit", MAX_ROWS)?);
    Ok(Json(by.server.workflow_rows(&by.owner, &handle, &name, part).await?))
}
