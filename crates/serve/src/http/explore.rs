//! Routes for exploring the catalog: example questions, tables and keys, problems, and charts of rows.

use axum::{
    Json,
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use prospector_connect::rows::Rows;
use prospector_core::work::compute;
use serde::Deserialize;
use serde_json::{Value, json};

use super::reply::Reply;
use crate::{
    diagram::Diagram,
    drawing::Drawn,
    error::Refusal,
    examples,
    objection::Reason,
    requester::{JsonBody, Requester},
    rows::count_cells,
};

/// `GET /v1/examples`: questions that the catalog can answer, including earlier questions of this owner.
pub(super) async fn examples(by: Requester) -> Reply {
    let view = by.view();
    let asked = by.server.kept_sessions(&by.owner).await.unwrap_or_default();
    Ok(Json(json!({"items": examples::find(&view.catalog, &asked)})))
}

/// `GET /v1/diagram/{database}`: the tables of a database, and the keys between them.
pub(super) async fn diagram(by: Requester, Path(name): Path<String>) -> Reply {
    let view = by.view();
    Ok(Json(json!(Diagram::find(&view.catalog, &name)?)))
}

/// `GET /v1/problems`: the problems of the catalog. If the server requires tokens, clients are not the owner of its files and get only the
/// number of problems.
pub(super) async fn problems(by: Requester) -> Reply {
    let problems = by.view().problems.clone();
    let shown = if by.server.options.tokens.is_none() { &problems[..] } else { &[] };
    Ok(Json(json!({"total": problems.len(), "items": shown})))
}

/// Rows to write to a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptRows {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

/// Memory for writing a column and a cell, in bytes, in addition to the body.
const COLUMN: usize = 96 * 1024;
const CELL: usize = 64;

/// `POST /v1/parquet`: rows as a Parquet file.
pub(super) async fn parquet(
    by: Requester,
    JsonBody(KeptRows { columns, rows }, bytes): JsonBody<KeptRows>,
) -> Result<Response, Refusal> {
    let cells = count_cells(&columns, &rows)?;
    let _reserved = by.server.reserve(&by.owner, columns.len() * COLUMN + cells * CELL + 2 * bytes)?;
    let rows = Rows { columns, rows, has_more: false };
    let file = compute(move || rows.to_parquet()).await.map_err(|error| Refusal::invalid(error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/vnd.apache.parquet")], file).into_response())
}

/// `POST /v1/runs/{handle}/proposal`: proposes the query of an answer as a verified query.
pub(super) async fn propose(by: Requester, Path(handle): Path<String>) -> Result<(StatusCode, Json<Value>), Refusal> {
    Ok((StatusCode::CREATED, Json(json!(by.server.propose(&by.owner, &handle).await?))))
}

/// `POST /v1/runs/{handle}/execution`: executes the plan of a run and returns the result of each step.
pub(super) async fn execute(by: Requester, Path(handle): Path<String>) -> Reply {
    Ok(Json(by.server.execute(&by.owner, &handle).await?))
}

/// `POST /v1/runs/{handle}/objection`: reports that an answer is wrong, and why.
pub(super) async fn object(
    by: Requester,
    Path(handle): Path<String>,
    reason: Result<JsonBody<Reason>, Refusal>,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let JsonBody(reason, _) = reason.map_err(|refusal| refusal.advise("the body is {\"why\": \"...\"}"))?;
    Ok((StatusCode::CREATED, Json(json!(by.server.object(&by.owner, &handle, reason).await?))))
}

/// `GET /v1/objections`: the answers that this owner reported as wrong.
pub(super) async fn objections(by: Requester) -> Reply {
    Ok(Json(json!({"items": by.server.own_objections(&by.owner).await?})))
}

/// `DELETE /v1/objections/{name}`: withdraws a report.
pub(super) async fn withdraw(by: Requester, Path(name): Path<String>) -> Result<StatusCode, Refusal> {
    by.server.withdraw(&by.owner, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /v1/sessions/{name}/link`: creates a link to the current state of a conversation.
pub(super) async fn make_link(by: Requester, Path(name): Path<String>) -> Result<(StatusCode, Json<Value>), Refusal> {
    Ok((StatusCode::CREATED, Json(json!({"link": by.server.make_link(&by.owner, &name).await?}))))
}

/// `GET /v1/links/{handle}`
pub(super) async fn follow_link(by: Requester, Path(handle): Path<String>) -> Reply {
    Ok(Json(by.server.follow_link(&by.owner, &handle).await?))
}

/// `DELETE /v1/links/{handle}`: removes a link.
pub(super) async fn remove_link(by: Requester, Path(handle): Path<String>) -> Result<StatusCode, Refusal> {
    by.server.remove_link(&by.owner, &handle).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /v1/chart`: the chart of a result as Vega-Lite, SVG and text, or why nothing is drawn.
pub(super) async fn chart(by: Requester, JsonBody(drawn, _): JsonBody<Drawn>) -> Reply {
    Ok(Json(json!(by.server.draw(&by.owner, drawn).await?)))
}
